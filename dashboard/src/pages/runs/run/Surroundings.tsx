import type { ReactElement } from "react";
import type { RunResult, RunWarning } from "../../../api/answers";
import { Fold, Prose } from "../../../components";
import { bytes, count, dateTime, duration, plural } from "../../../format";
import { Link } from "../../../router";
import { Facts, factsOf } from "../../../shared/Facts";
import { suiteAddress } from "../../../shared/paths";
import { ofThisRun } from "../../../shared/words";

interface Told extends RunWarning {
  arms: string[];
}

/** Warnings that say the same of several arms are one. */
function together(run: RunResult): Told[] {
  const names = new Map(run.arms.map((arm) => [arm.arm_id, arm.name]));
  const found = new Map<string, Told>();
  for (const warning of run.warnings) {
    const key = `${warning.code} ${warning.message} ${warning.remedy}`;
    const told = found.get(key) ?? { ...warning, arms: [] };
    if (warning.arm_id) told.arms.push(names.get(warning.arm_id) ?? warning.arm_id);
    found.set(key, told);
  }
  return [...found.values()];
}

/** What a warning is called stands in front of it, unless it begins with that itself. */
function Called({ code, message }: Told): ReactElement {
  const name = code.replaceAll("-", " ");
  const said = message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
  return (
    <>
      <strong>{name}</strong>: <Prose text={said} />
    </>
  );
}

export function Warnings({ run }: { run: RunResult }): ReactElement | null {
  const warnings = together(run);
  if (warnings.length === 0) return null;
  return (
    <section aria-label="Warnings">
      <ul className="notices">
        {warnings.map((warning) => (
          <li key={`${warning.code} ${warning.message}`}>
            <p>
              <Called {...warning} />
              {warning.arms.length > 0 && <span className="muted"> ({warning.arms.join("; ")})</span>}
            </p>
            {warning.remedy && (
              <p className="muted">
                <Prose text={ofThisRun(warning.remedy, run.run_id)} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What one wants to know of a run before its figures. */
export function RunFacts({ run }: { run: RunResult }): ReactElement {
  const took = run.finished_at === null ? null : (run.finished_at - run.started_at - (run.paused_ms ?? 0)) / 1000;
  const samples = run.arms.reduce((sum, arm) => sum + arm.samples_total, 0);
  return (
    <Facts
      facts={[
        ["Started", dateTime(run.started_at)],
        ["Took", took === null ? null : duration(took)],
        ["Ended because", run.stopped_because],
        ["Measured", `${plural(samples, "sample")} in ${plural(run.arms.length, "arm")}`],
        run.suite !== null && [
          "Suite",
          <Link key="suite" to={suiteAddress(run.suite.suite_id)}>
            {run.suite.name}
            {run.suite.version ? ` ${run.suite.version}` : ""}
          </Link>,
        ],
        [
          "Commit",
          run.vcs && (
            <>
              <code>{run.vcs.commit.slice(0, 12)}</code>
              {run.vcs.branch && ` on ${run.vcs.branch}`}
              {run.vcs.dirty && " with changes that are not committed"}
            </>
          ),
        ],
        ["Tags", run.tags.join(", ")],
        ["Notes", run.notes],
        ["Read from", run.origin["tool"] ? `${run.origin["tool"]} ${run.origin["version"] ?? ""}, ${run.origin["file"] ?? ""}` : null],
      ]}
    />
  );
}

export function Surroundings({ run }: { run: RunResult }): ReactElement {
  const { environment } = run;
  const packages = Object.entries(environment.packages);
  return (
    <section aria-labelledby="environment">
      <h2 id="environment">Where it ran</h2>
      <Facts
        facts={[
          ["Machine", <code key="machine">{environment.machine_id}</code>],
          ["CPU", `${environment.cpu_model}, ${plural(environment.cpu_count, "CPU")}`],
          ["Memory", bytes(environment.memory_bytes)],
          ["System", `${environment.os}, ${environment.kernel}`],
          ["Python", `${environment.implementation} ${environment.python}`],
          ["agentdyno", environment.agentdyno],
          ["Seed", count(run.seed).replaceAll(",", "")],
          ["The harness costs", run.overhead_s === null ? null : `${duration(run.overhead_s)} per timed call`],
          ["Workspace", run.workspace],
        ]}
      />
      <Fold name="configuration" summary="Configuration">
        <Facts facts={factsOf(run.spec)} />
      </Fold>
      {packages.length > 0 && (
        <Fold name="packages" summary={`Packages (${packages.length})`}>
          <Facts facts={packages.map(([name, version]) => [name, version])} />
        </Fold>
      )}
      {Object.keys(environment.variables).length > 0 && (
        <Fold name="variables" summary="Variables">
          <Facts facts={factsOf(environment.variables)} />
        </Fold>
      )}
      {Object.keys(environment.details).length > 0 && (
        <Fold name="machine" summary="More about the machine">
          <Facts facts={factsOf(environment.details)} />
        </Fold>
      )}
    </section>
  );
}
