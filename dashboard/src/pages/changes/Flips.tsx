import type { ReactElement } from "react";
import type { CaseKey, ChangeRow } from "../../api/answers";
import { CommandHint } from "../../components";
import { Link, address } from "../../router";
import { divergenceAddress } from "../../shared/place";

const SHOWN = 25;

function trajectories(row: ChangeRow, key: CaseKey, cases: readonly CaseKey[]): string {
  return divergenceAddress({
    first_run: row.baseline_run_id,
    second_run: row.run_id,
    case_id: key.case_id,
    benchmark: key.benchmark,
    first_agent: row.baseline,
    second_agent: row.agent,
    cases: [...cases],
  });
}

function CaseList({ row, keys, heading }: { row: ChangeRow; keys: readonly CaseKey[]; heading: string }): ReactElement | null {
  if (keys.length === 0) return null;
  const compare = address("/compare", { agents: `${row.baseline},${row.agent}`, suite: row.suite_id });
  return (
    <section>
      <h2>{heading}</h2>
      <ul className="changes-cases">
        {keys.slice(0, SHOWN).map((key) => (
          <li key={`${key.benchmark} ${key.case_id}`} data-row tabIndex={-1}>
            <Link to={trajectories(row, key, keys)} title="Both trajectories side by side">
              {key.benchmark} / {key.case_id}
            </Link>
          </li>
        ))}
      </ul>
      {keys.length > SHOWN && <Link to={compare}>and {keys.length - SHOWN} more</Link>}
    </section>
  );
}

/** The cases behind a verdict; each opens both trajectories side by side. */
export function Flips({ row }: { row: ChangeRow }): ReactElement {
  const pair = `${row.baseline},${row.agent}`;
  return (
    <div>
      <p>{row.summary}</p>
      <div className="columns">
        <CaseList row={row} keys={row.broken} heading={`Broken: only ${row.baseline} gets them right`} />
        <CaseList row={row} keys={row.fixed} heading={`Fixed: only ${row.agent} gets them right`} />
      </div>
      {row.errors.length > 0 && (
        <section>
          <h2>Most frequent failures of {row.agent}</h2>
          <ul>
            {row.errors.map((item) => (
              <li key={`${item.status} ${item.kind} ${item.message}`}>
                {item.count} × <strong>{item.kind || item.status}</strong> {item.message}
              </li>
            ))}
          </ul>
        </section>
      )}
      <p className="row">
        {row.baseline && <Link to={address("/compare", { agents: pair, suite: row.suite_id })}>Compare metric by metric</Link>}
        <Link to={address(`/runs/${row.run_id}/cases`, { agent: row.agent })}>All failed cases</Link>
        <Link to={address("/alerts", { agent: row.name, suite: row.suite_id })}>Alerts</Link>
      </p>
      {row.command && <CommandHint command={row.command} />}
    </div>
  );
}
