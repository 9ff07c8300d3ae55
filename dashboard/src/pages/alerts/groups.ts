/** Alerts of one version of an agent in one suite belong together: they are looked at, and acknowledged, at once. */
import type { Alert, CaseKey, Severity } from "../../api/answers";

export const SEVERITIES: readonly Severity[] = ["critical", "high", "medium", "low"];

/** What a case that went wrong shows in; others (time, money) change without any answer being wrong. */
const WRONG = ["accuracy", "reliability"];

export interface AlertGroup {
  key: string;
  agent: string;
  version: string;
  suite: string;
  severity: Severity;
  /** Of the whole suite first, the worst first. */
  alerts: Alert[];
}

/** Wrong answers are told before what answers cost. */
const place = (alert: Alert): number => (WRONG.includes(alert.regression.metric) ? WRONG.indexOf(alert.regression.metric) : WRONG.length);
const rank = (alert: Alert): number => SEVERITIES.indexOf(alert.regression.severity);

/** By agent, version and suite, the worst group first. */
export function groupsOf(alerts: readonly Alert[]): AlertGroup[] {
  const found = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const key = JSON.stringify([alert.agent, alert.regression.version, alert.suite_id]);
    found.set(key, [...(found.get(key) ?? []), alert]);
  }
  const groups = [...found].map(([key, own]) => {
    const first = own[0] as Alert;
    const sorted = own.toSorted((a, b) => Number(a.regression.benchmark !== "") - Number(b.regression.benchmark !== "") || rank(a) - rank(b) || place(a) - place(b));
    const worst = SEVERITIES[Math.min(...own.map(rank))] ?? "low";
    return { key, agent: first.agent, version: first.regression.version, suite: first.suite_id, severity: worst, alerts: sorted };
  });
  return groups.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

/** Cases of a group that are wrong now, each once; the server names the first few of many. */
export function wrongCases(group: AlertGroup): CaseKey[] {
  const keys = group.alerts.filter((alert) => WRONG.includes(alert.regression.metric)).flatMap((alert) => alert.regression.impact.cases);
  return [...new Map(keys.map((key) => [`${key.benchmark}/${key.case_id}`, key])).values()];
}

export const isKnown = (alert: Alert): boolean => alert.acknowledged_by !== "" || alert.acknowledged_at !== null;
