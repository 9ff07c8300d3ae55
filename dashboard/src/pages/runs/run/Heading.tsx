import type { ReactElement } from "react";
import type { RunPlace, RunResult, RunVerdict } from "../../../api/answers";
import { CommandHint, StatusBadge, VerdictBadge } from "../../../components";
import { useResource } from "../../../hooks/useResource";
import { Link, address } from "../../../router";
import { AgentLabel } from "../../../shared/AgentLabel";
import { ExportButton } from "../../../shared/ExportButton";
import { FormMark } from "../../../shared/FormMark";
import { agentAddress, api, runAddress, shortId, suiteAddress } from "../../../shared/paths";

const SHOWN_AGENTS = 3;

/** The agents of a run by name@version, each once. */
export function agentsOf(run: RunResult): string[] {
  return [...new Set(run.arms.map((arm) => arm.agent).filter((agent) => agent !== null))];
}

/** "support@2.1 on Support desk", "sorting", "local under load". */
function Name({ run }: { run: RunResult }): ReactElement {
  const agents = agentsOf(run);
  const more = agents.length - SHOWN_AGENTS;
  if (agents.length === 0) return <>{run.name || shortId(run.run_id)}</>;
  return (
    <>
      {agents.slice(0, SHOWN_AGENTS).map((agent, index) => (
        <span key={agent}>
          {index > 0 && ", "}
          <Link to={agentAddress(agent)}>
            <AgentLabel label={agent} />
          </Link>
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
      {run.suite && (
        <>
          {" on "}
          <Link to={suiteAddress(run.suite.suite_id)}>{run.suite.name}</Link>
        </>
      )}
      {run.kind === "load" && " under load"}
    </>
  );
}

function Against({ item }: { item: RunVerdict }): ReactElement {
  const sides = address("/compare", { agents: `${item.baseline},${item.agent}`, suite: item.suite_id });
  return (
    <li className="panel">
      <VerdictBadge verdict={item.verdict} /> <strong>{item.agent}</strong>
      {item.baseline && item.baseline !== item.agent && (
        <>
          {" against "}
          <Link to={sides}>{item.baseline}</Link>
        </>
      )}
      <p className="run-verdict">{item.summary}</p>
    </li>
  );
}

/** What is said of several agents in the same words, said once: "a, b have no earlier version here". */
function together(items: readonly RunVerdict[]): string[] {
  const names = new Map<string, string[]>();
  for (const { agent, summary } of items) {
    const name = [agent, agent.replace(/@[^@]*$/, "")].find((known) => summary.startsWith(`${known} `)) ?? "";
    const said = summary.slice(name.length).trim();
    names.set(said, [...(names.get(said) ?? []), name]);
  }
  return [...names].map(([said, who]) => `${who.join(", ")} ${who.length > 1 ? said.replace(/^has /, "have ") : said}`.trim());
}

/** Agents that have nothing to be held against, in one place: a card for each would push the results off the screen. */
function WithoutBaseline({ items }: { items: readonly RunVerdict[] }): ReactElement {
  return (
    <li className="panel">
      <VerdictBadge verdict="no-baseline" /> <strong>{items.map((item) => item.agent).join(", ")}</strong>
      {together(items).map((text) => (
        <p key={text} className="run-verdict">
          {text}
        </p>
      ))}
    </li>
  );
}

function Verdicts({ verdicts }: { verdicts: readonly RunVerdict[] }): ReactElement {
  const alone = verdicts.filter((item) => item.verdict === "no-baseline");
  const told = alone.length > 1 ? verdicts.filter((item) => item.verdict !== "no-baseline") : verdicts;
  return (
    <ul className="plain-list" aria-label="Against the baseline">
      {told.map((item) => (
        <Against key={item.agent} item={item} />
      ))}
      {alone.length > 1 && <WithoutBaseline items={alone} />}
    </ul>
  );
}

/** What it is, whether it is worse than its baseline, and the way to the runs before and after. */
export function Heading({ run }: { run: RunResult }): ReactElement {
  const place = useResource<RunPlace>(`${api("runs", run.run_id, "place")}?status=${run.status}`);
  const { previous_run_id: previous = null, next_run_id: next = null, verdicts = [], form = "" } = place.data ?? {};
  return (
    <>
      <div className="page-head">
        <h1>
          <Name run={run} /> <StatusBadge status={run.status} /> <FormMark form={form} />
        </h1>
        <CommandHint command={`dyno show ${shortId(run.run_id)}`} />
      </div>
      <nav className="row" aria-label={`Runs of ${run.name}`}>
        <span className="muted">{run.name}</span>
        <ExportButton name={`run-${shortId(run.run_id)}`} />
        {previous !== null && <Link to={runAddress(previous)}>← Run before</Link>}
        {next !== null && <Link to={runAddress(next)}>Run after →</Link>}
      </nav>
      {verdicts.length > 0 && <Verdicts verdicts={verdicts} />}
    </>
  );
}
