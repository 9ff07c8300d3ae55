import type { ReactElement } from "react";
import type { Alert, CaseKey, ChangeRow, Regression } from "../../api/answers";
import { VerdictBadge } from "../../components";
import { dateTime, number, percent, plural } from "../../format";
import { Link, address } from "../../router";
import { nameOf } from "../../shared/paths";
import { isScore, levelOf, measured } from "../../shared/units";
import { divergenceAddress } from "../../shared/place";
import { Acknowledge } from "./Acknowledge";

const SHOWN_CASES = 6;

function worsening(regression: Regression): string {
  const { amount, relative, unit } = regression;
  if (relative) return `${percent(amount)} worse`;
  return `${measured(amount, unit)}${isScore(unit) ? " points" : ""} worse`;
}

interface Evidence {
  alert: Alert;
  /** The agent against its baseline in the same suite, where that is known. */
  change: ChangeRow | undefined;
}

const DETECTORS: Record<Regression["detector"], string> = {
  version: "against the baseline",
  history: "a change of level over time",
  pattern: "a pattern of small signs",
};

function Cases({ alert, change }: Evidence): ReactElement | null {
  const { cases } = alert.regression.impact;
  if (cases.length === 0) return null;
  const place = (key: CaseKey): string =>
    divergenceAddress({
      first_run: alert.baseline_run_id,
      second_run: alert.run_id,
      ...key,
      first_agent: change?.baseline ?? "",
      second_agent: change?.agent ?? alert.agent,
      cases,
    });
  const linked = Boolean(alert.run_id && alert.baseline_run_id);
  return (
    <p>
      {plural(cases.length, "case")} broke:{" "}
      {cases.slice(0, SHOWN_CASES).map((key, index) => (
        <span key={`${key.benchmark}/${key.case_id}`}>
          {index > 0 && ", "}
          {linked ? <Link to={place(key)}>{key.case_id}</Link> : key.case_id}
        </span>
      ))}
      {cases.length > SHOWN_CASES && ` and ${cases.length - SHOWN_CASES} more`}
    </p>
  );
}

function Ways({ alert, change }: Evidence): ReactElement {
  const { regression, agent, suite_id: suite } = alert;
  const name = nameOf(agent);
  const { metric, benchmark } = regression;
  return (
    <p className="row">
      <Link to={address("/history", { subject: name, metric, suite, benchmark })}>History</Link>
      {alert.run_id && <Link to={`/runs/${encodeURIComponent(alert.run_id)}`}>Run</Link>}
      {alert.baseline_run_id && <Link to={`/runs/${encodeURIComponent(alert.baseline_run_id)}`}>Baseline run</Link>}
      {change?.baseline && (
        <Link to={address("/compare", { agents: `${change.baseline},${change.agent}`, suite })}>
          Compare {change.baseline} with {change.agent}
        </Link>
      )}
      <Link to={`/agents/${encodeURIComponent(name)}`}>{name}</Link>
    </p>
  );
}

/** One regression with what it rests on. */
export function AlertCard({ alert, change, onChange }: Evidence & { onChange: (alert: Alert) => void }): ReactElement {
  const { regression } = alert;
  const facts = [
    DETECTORS[regression.detector],
    regression.since !== null && `since ${dateTime(regression.since)}`,
    regression.version && `with version ${regression.version}`,
    regression.p_value !== null && `p ${regression.p_value < 0.001 ? "< 0.001" : `= ${number(regression.p_value, 2)}`}`,
    !regression.confirmed && "provisional: few points",
    regression.undone_at !== null && `taken back on ${dateTime(regression.undone_at)}`,
  ].filter(Boolean);
  return (
    <li className={`panel alerts-card alerts-${regression.severity}`} data-row tabIndex={-1}>
      <div className="row">
        <VerdictBadge verdict={regression.severity} />
        <h2>
          {alert.agent}: {regression.metric}
          {regression.benchmark && ` in ${regression.benchmark}`}
        </h2>
        <span className="muted">{alert.suite_id}</span>
      </div>
      <p className="alerts-evidence">
        {levelOf(regression.baseline, regression)} → <strong>{levelOf(regression.current, regression)}</strong>,{" "}
        {worsening(regression)}
      </p>
      <p>{regression.explanation}</p>
      <p className="muted">{facts.join(" · ")}</p>
      {regression.impact.text && <p>{regression.impact.text}</p>}
      <Cases alert={alert} change={change} />
      <Ways alert={alert} change={change} />
      <Acknowledge alert={alert} onChange={onChange} />
    </li>
  );
}
