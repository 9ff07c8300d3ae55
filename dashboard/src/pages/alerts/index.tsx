import { useCallback, useState } from "react";
import type { ReactElement } from "react";
import type { Alert, AlertItems, ChangeRow, Changes, Severity } from "../../api/answers";
import { CommandHint, Empty, Filters, Select, Show, Tabs, shellWord } from "../../components";
import { plural } from "../../format";
import { useResource } from "../../hooks/useResource";
import { address, useQueryParam } from "../../router";
import { nameOf } from "../../shared/paths";
import { AlertCard } from "./AlertCard";
import { SEVERITIES, groupsOf } from "./groups";
import type { AlertGroup } from "./groups";
import "./page.css";

export const title = "Alerts";

interface AlertsProps {
  alerts: readonly Alert[];
  severity: string;
  /** The agent of a group against its baseline, where that is known. */
  changeOf: (group: AlertGroup) => ChangeRow | undefined;
  onSeverity: (severity: string) => void;
  onChange: (alert: Alert) => void;
}

/** Versions that became worse, the worst first, each with its evidence and one way to say that it is known. */
export function RegressionAlerts({ alerts, severity, changeOf, onSeverity, onChange }: AlertsProps): ReactElement {
  const groups = groupsOf(alerts);
  const counts = (level: Severity): number => groups.filter((group) => group.severity === level).length;
  const shown = groups.filter((group) => severity === "" || group.severity === severity);
  return (
    <>
      <Tabs
        label="Severity"
        tabs={[
          ["", `all (${groups.length})`],
          ...SEVERITIES.map((level) => [level, `${level} (${counts(level)})`] as const),
        ]}
        value={severity}
        onChange={onSeverity}
      />
      <p role="status" className="muted">
        {plural(shown.length, "version of an agent", "versions of agents")} became worse
      </p>
      <ul className="alerts-list">
        {shown.map((group) => (
          <AlertCard key={group.key} group={group} change={changeOf(group)} onChange={onChange} />
        ))}
      </ul>
    </>
  );
}

export default function Page(): ReactElement {
  const [severity, setSeverity] = useQueryParam("severity");
  const [all, setAll] = useQueryParam("all");
  const [agent, setAgent] = useQueryParam("agent");
  const [suite, setSuite] = useQueryParam("suite");
  const alerts = useResource<AlertItems>(address("/api/alerts", { all: all === "true" }), { everyMs: 60_000 });
  // What was acknowledged here stays in its place with a way back until the page is left.
  const [changed, setChanged] = useState<ReadonlyMap<string, Alert>>(new Map());
  const onChange = useCallback(
    (alert: Alert): void => setChanged((old) => new Map(old).set(alert.alert_id, alert)),
    [],
  );
  const changes = useResource<Changes>("/api/changes");
  const changeOf = (group: AlertGroup): ChangeRow | undefined =>
    changes.data?.rows.find((row) => row.name === nameOf(group.agent) && row.suite_id === group.suite);
  const name = nameOf(agent);
  const ofSuite = suite ? ` --suite ${shellWord(suite)}` : "";
  const command = agent ? `dyno history ${shellWord(name)}${ofSuite} --regressions` : "dyno changes";
  return (
    <>
      <div className="page-head">
        <h1>Alerts</h1>
        <CommandHint command={command} />
      </div>
      <Show of={alerts}>
        {({ items }) => {
          const asked = new Set(items.map((alert) => alert.alert_id));
          const added = [...changed.values()].filter((alert) => !asked.has(alert.alert_id));
          const everything = [...items.map((alert) => changed.get(alert.alert_id) ?? alert), ...added];
          const wanted = everything.filter(
            (alert) => (!agent || nameOf(alert.agent) === name) && (!suite || alert.suite_id === suite),
          );
          const agents = [...new Set(everything.map((alert) => nameOf(alert.agent)))].toSorted();
          const suites = [...new Set(everything.map((alert) => alert.suite_id))].toSorted();
          return (
            <>
              <Filters label="Filter the alerts">
                <Select
                  label="Agent"
                  value={agent ? name : ""}
                  options={[["", "all"], ...agents]}
                  onChange={setAgent}
                />
                <Select label="Suite" value={suite} options={[["", "all"], ...suites]} onChange={setSuite} />
                <label className="field">
                  <input
                    type="checkbox"
                    checked={all === "true"}
                    onChange={(event) => setAll(event.target.checked ? "true" : "")}
                  />{" "}
                  show acknowledged ones too
                </label>
              </Filters>
              {changes.data?.rows.length === 0 && everything.length === 0 ? (
                <Empty
                  title="What became worse with a version of an agent is told here, with the cases that show it. To measure the first version:"
                  command="dyno init && dyno run suites/first.yaml"
                />
              ) : wanted.length === 0 ? (
                <Empty title="Nothing is worse than it was." command={command}>
                  <p>
                    {all === "true"
                      ? "Alerts come from runs that are set against a baseline and from the history of each agent."
                      : "What was acknowledged is not shown."}
                  </p>
                </Empty>
              ) : (
                <RegressionAlerts
                  alerts={wanted}
                  severity={severity}
                  changeOf={changeOf}
                  onSeverity={setSeverity}
                  onChange={onChange}
                />
              )}
            </>
          );
        }}
      </Show>
    </>
  );
}
