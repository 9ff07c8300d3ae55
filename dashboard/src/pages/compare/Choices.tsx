import type { ReactElement } from "react";
import type { AgentItems, SuiteItems } from "../../api/answers";
import { Filters, Select } from "../../components";
import { useResource } from "../../hooks/useResource";
import { setQuery } from "../../router";

/** The agents of the page in the order of the address: the first is the baseline. */
export function Choices({ agents, suite }: { agents: readonly string[]; suite: string }): ReactElement {
  const known = useResource<AgentItems>("/api/agents");
  const suites = useResource<SuiteItems>("/api/suites");
  const labels = (known.data?.items ?? []).flatMap((agent) =>
    agent.versions.length === 0 ? [agent.name] : agent.versions.map((version) => `${agent.name}@${version}`),
  );
  const set = (next: readonly string[]): void =>
    setQuery({ agents: next.join(","), case: "", benchmark: "" }, { replace: false });
  return (
    <>
      <div className="fields">
      <ul className="compare-chosen" aria-label="Chosen agents, the first is the baseline">
        {agents.map((agent, index) => (
          <li key={agent}>
            <span className="muted">{index === 0 ? "baseline" : "against"}</span> {agent}
            <button
              type="button"
              className="quiet"
              aria-label={`Remove ${agent}`}
              onClick={() => set(agents.filter((item) => item !== agent))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      {agents.length === 2 && (
        <button type="button" onClick={() => set(agents.toReversed())}>
          Swap
        </button>
      )}
      </div>
      <Filters label="Choose agents and suite" open={agents.length < 2}>
      <Select
        label="Add an agent"
        value=""
        options={[["", "choose…"], ...labels.filter((label) => !agents.includes(label))]}
        onChange={(agent) => agent && set([...agents, agent])}
      />
      <Select
        label="Suite"
        value={suite}
        options={[
          ["", "the one they share"],
          ...(suites.data?.items ?? []).map((item) => [item.suite_id, item.name || item.suite_id] as const),
        ]}
        onChange={(value) => setQuery({ suite: value })}
      />
      </Filters>
    </>
  );
}
