import { useCallback, useMemo } from "react";
import type { ReactElement } from "react";
import type { CostReport, CostRow } from "../../api/answers";
import { Chart, Empty } from "../../components";
import type { ChartClick } from "../../components";
import { money, percent, plural } from "../../format";
import { navigate } from "../../router";
import type { Palette } from "../../palette";
import { agentAddress, nameOf } from "../../shared/paths";
import { absent, frontierShare, onFrontier, placed, reachedText, scatterOption } from "./frontier";
import type { Bought, Scale } from "./frontier";

interface ScatterProps {
  report: CostReport;
  bought: Bought;
  scale: Scale;
}

function Beside({ report, bought, scale }: ScatterProps): ReactElement | null {
  const rows = report.rows.filter((row) => absent(row, bought, scale) !== "");
  if (rows.length === 0) return null;
  return (
    <section className="panel" aria-label="Not in the chart">
      <h2>Not in the chart</h2>
      <ul className="cost-absent">
        {rows.map((row) => (
          <li key={row.agent}>
            <strong>{row.agent}</strong>: {absent(row, bought, scale)}
            <span className="muted">
              {" "}
              ({money(row.cost_per_task_usd)} per task, {bought} {reachedText(row, bought)})
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Cost per task against accuracy or latency, with the agents that no other beats in both. */
export function CostEfficiencyScatter({ report, bought, scale }: ScatterProps): ReactElement {
  const rows = useMemo(() => placed(report, bought, scale), [report, bought, scale]);
  const option = useCallback((colours: Palette) => scatterOption(rows, bought, scale, colours), [rows, bought, scale]);
  const frontier = rows.filter((row) => onFrontier(row, bought) === true).map((row) => row.agent);
  const open = (click: ChartClick): void => {
    const row = (click.data as { row?: CostRow } | null)?.row;
    if (row) navigate(agentAddress(nameOf(row.agent)));
  };
  const cells = rows.map((row) => {
    const share = frontierShare(row, bought);
    const on = onFrontier(row, bought);
    return [
      row.agent,
      money(row.cost_per_task_usd),
      reachedText(row, bought),
      on === null ? "—" : on ? "yes" : "no",
      percent(share, 0),
    ];
  });
  if (rows.length === 0) {
    return (
      <Empty title={`No agent has both a known cost and a known ${bought}, so there is nothing to draw.`}>
        <p>Give the prices of models under prices in dyno.yaml, or let agents report what they cost; then run again.</p>
        <Beside report={report} bought={bought} scale={scale} />
      </Empty>
    );
  }
  return (
    <div className={rows.length < report.rows.length ? "cost-chart cost-chart-beside" : "cost-chart"}>
      <Chart
        title={`Cost per task against ${bought}`}
        description={`${plural(rows.length, "agent")}. On the frontier, from the cheapest: ${frontier.join(", ") || "none"}.`}
        option={option}
        table={{ columns: ["Agent", "$ per task", bought, "On the frontier", "In redraws"], rows: cells }}
        height={420}
        onClick={open}
      >
        <p className="muted">
          {bought === "accuracy" ? "Up and to the left is better." : "Down and to the left is better."} Nobody is both
          cheaper and better than an agent on the line.
        </p>
      </Chart>
      <Beside report={report} bought={bought} scale={scale} />
    </div>
  );
}
