import type { ReactElement } from "react";
import type { SuccessReport } from "../../api/answers";
import { Show } from "../../components";
import { percent } from "../../format";
import { useResource } from "../../hooks/useResource";
import { address } from "../../router";

const TITLES: Record<string, string> = {
  regression_detection: "regression detection accuracy",
  optimization_opportunities: "optimisation opportunities taken",
  degradation_incidents: "fewer degradation incidents",
};

/** How benchmarking itself does: figures against their goals, each with how it is counted. The share of agents that were
 * benchmarked is above them, with the agents that were not. */
export function SuccessFigures({ days }: { days: string }): ReactElement {
  const report = useResource<SuccessReport>(address("/api/success", { days }));
  return (
    <Show of={report}>
      {(found) => (
        <ul className="cards" aria-label="How benchmarking itself does">
          {found.metrics.filter(({ name }) => name !== "agents_benchmarked").map((item) => (
            <li className="card" key={item.name} title={item.counted}>
              <span className={`card-value ${item.met === null ? "" : `verdict-${item.met ? "better" : "worse"}`}`}>
                {item.value === null ? "—" : percent(item.value, 0)}
              </span>
              <span className="card-label">
                {TITLES[item.name] ?? item.name}, goal {percent(item.goal, 0)}
              </span>
              <br />
              <span className="muted">{item.note || item.counted}</span>
            </li>
          ))}
        </ul>
      )}
    </Show>
  );
}
