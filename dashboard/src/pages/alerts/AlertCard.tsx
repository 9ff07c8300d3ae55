import type { ReactElement } from "react";
import type { Alert, CaseKey, ChangeRow, Regression } from "../../api/answers";
import { Fold, VerdictBadge } from "../../components";
import { dateTime, number, percent, plural } from "../../format";
import { Link, address } from "../../router";
import { nameOf } from "../../shared/paths";
import { isScore, levelOf, measured } from "../../shared/units";
import { divergenceAddress } from "../../shared/place";
import { Acknowledge } from "./Acknowledge";
import { wrongCases } from "./groups";
import type { AlertGroup } from "./groups";

const SHOWN_CASES = 6;

function worsening(regression: Regression): string {
  const { amount, relative, unit } = regression;
  if (relative) return amount > 1 ? `${number(1 + amount, 2)}× worse` : `${percent(amount)} worse`;
  return `${measured(amount, unit)}${isScore(unit) ? " points" : ""} worse`;
}

interface Evidence {
  group: AlertGroup;
  /** The agent against its baseline in the same suite, where that is known. */
  change: ChangeRow | undefined;
}

const DETECTORS: Record<Regression["detector"], string> = {
  version: "",
  history: "a change of level over time",
  pattern: "a pattern of small signs",
};

/** One regression in one line: what, from where to where, how sure, and the way to its history. */
function Finding({ alert }: { alert: Alert }): ReactElement {
  const { regression, suite_id: suite } = alert;
  const { metric, benchmark, p_value: p } = regression;
  const facts = [
    p !== null && `p ${p < 0.001 ? "< 0.001" : `= ${number(p, 2)}`}`,
    DETECTORS[regression.detector],
    !regression.confirmed && "provisional: few points",
    regression.undone_at !== null && `taken back on ${dateTime(regression.undone_at)}`,
  ].filter(Boolean);
  return (
    <li title={regression.explanation}>
      <Link to={address("/history", { subject: nameOf(alert.agent), metric, suite, benchmark })}>
        {metric}
        {benchmark && ` in ${benchmark}`}
      </Link>{" "}
      {levelOf(regression.baseline, regression)} → <strong>{levelOf(regression.current, regression)}</strong>, {worsening(regression)}
      {facts.length > 0 && <span className="muted"> ({facts.join("; ")})</span>}
    </li>
  );
}

function Cases({ group, change }: Evidence): ReactElement | null {
  const seen = change && change.version === group.version ? change.steady_broken : [];
  const cases = seen.length > 0 ? seen : wrongCases(group);
  const { run_id: run = "", baseline_run_id: before = "" } = group.alerts.find((alert) => alert.run_id && alert.baseline_run_id) ?? {};
  if (cases.length === 0) return null;
  const place = (key: CaseKey): string =>
    divergenceAddress({
      first_run: before,
      second_run: run,
      ...key,
      first_agent: change?.baseline ?? "",
      second_agent: change?.agent ?? group.agent,
      cases: [...cases],
    });
  return (
    <p>
      {seen.length > 0 ? `${plural(seen.length, "case")} broke: ` : "Cases that pass less often: "}
      {cases.slice(0, SHOWN_CASES).map((key, index) => (
        <span key={`${key.benchmark}/${key.case_id}`}>
          {index > 0 && ", "}
          {run ? <Link to={place(key)}>{key.case_id}</Link> : key.case_id}
        </span>
      ))}
      {cases.length > SHOWN_CASES && (seen.length > 0 ? ` and ${cases.length - SHOWN_CASES} more` : " and more")}
    </p>
  );
}

function Ways({ group, change }: Evidence): ReactElement {
  const name = nameOf(group.agent);
  const { run_id: run = "", baseline_run_id: before = "" } = group.alerts.find((alert) => alert.run_id) ?? {};
  return (
    <p className="row">
      {run && <Link to={`/runs/${encodeURIComponent(run)}`}>Run</Link>}
      {before && <Link to={`/runs/${encodeURIComponent(before)}`}>Baseline run</Link>}
      {change?.baseline && (
        <Link to={address("/compare", { agents: `${change.baseline},${change.agent}`, suite: group.suite })}>
          Compare with its baseline<span className="visually-hidden">: {change.baseline} with {change.agent}</span>
        </Link>
      )}
      <Link to={`/agents/${encodeURIComponent(name)}`}>
        The agent<span className="visually-hidden"> {name}</span>
      </Link>
    </p>
  );
}

/** What became worse with one version of an agent in one suite, and what it rests on. */
export function AlertCard({ group, change, onChange }: Evidence & { onChange: (alert: Alert) => void }): ReactElement {
  const whole = group.alerts.filter((alert) => alert.regression.benchmark === "");
  const parts = group.alerts.filter((alert) => alert.regression.benchmark !== "");
  const since = group.alerts.map((alert) => alert.regression.since).filter((at) => at !== null);
  const label = group.version ? `${nameOf(group.agent)}@${group.version}` : group.agent;
  return (
    <li className={`panel alerts-card alerts-${group.severity}`} data-row tabIndex={-1}>
      <div className="row">
        <VerdictBadge verdict={group.severity} />
        <h2>{label}</h2>
        <span className="muted">
          on {change?.suite_name || group.suite}
          {since.length > 0 && `, since ${dateTime(Math.min(...since))}`}
          {change?.baseline && change.version === group.version && `, against ${change.baseline}`}
        </span>
      </div>
      <ul className="alerts-findings">
        {(whole.length > 0 ? whole : parts).map((alert) => (
          <Finding key={alert.alert_id} alert={alert} />
        ))}
      </ul>
      {whole.length > 0 && parts.length > 0 && (
        <Fold name={`${label} ${group.suite}`} summary={`By benchmark (${parts.length})`}>
          <ul className="alerts-findings">
            {parts.map((alert) => (
              <Finding key={alert.alert_id} alert={alert} />
            ))}
          </ul>
        </Fold>
      )}
      <Cases group={group} change={change} />
      <Ways group={group} change={change} />
      <Acknowledge group={group} onChange={onChange} />
    </li>
  );
}
