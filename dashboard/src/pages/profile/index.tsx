import type { ReactElement } from "react";
import type { PerformanceProfile, ProfileReport } from "../../api/answers";
import { CommandHint, Empty, Select, Show, shellWord } from "../../components";
import { useResource } from "../../hooks/useResource";
import { Link, address, setQuery, useQueryParam } from "../../router";
import { SearchField } from "../../shared/SearchField";
import { runAddress, shortId } from "../../shared/paths";
import { Execution } from "./Spans";
import { ProfileTables, SideBySide, Used } from "./Tables";
import "./page.css";

export const title = "Profile";

/** An id is shortened as people read it; names stay. */
function spoken(subject: string): string {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(subject) ? shortId(subject) : subject;
}

function Silent({ profile }: { profile: PerformanceProfile }): ReactElement {
  return (
    <Empty title={`${profile.agent_id} told nothing of what happens inside.`} command="dyno run SUITE --agent AGENT --otel">
      <p>Model calls, tools and steps become spans with the proxy, with tracing, or where the agent records them itself.</p>
    </Empty>
  );
}

function One({ profile }: { profile: PerformanceProfile }): ReactElement {
  return (
    <section aria-label={`Profile of ${profile.agent_id}`}>
      <h2>{profile.agent_id}</h2>
      {profile.executions === 0 ? <Silent profile={profile} /> : <ProfileTables profile={profile} />}
      {profile.executions === 0 && profile.profile_data.resource_utilization.cpu_s !== null && <Used profile={profile} />}
      {profile.trees.map((tree) => (
        <Execution key={`${tree.benchmark} ${tree.iteration}`} tree={tree} />
      ))}
    </section>
  );
}

function Report({ report, agent }: { report: ProfileReport; agent: string }): ReactElement {
  const { profiles, comparisons } = report;
  const shown = profiles.find((profile) => profile.agent_id === agent) ?? profiles.find((profile) => profile.executions > 0) ?? profiles[0];
  const run = shown?.run_id ?? comparisons[0]?.candidate.run_id;
  return (
    <>
      {run && (
        <p>
          <Link to={runAddress(run)}>Run {shortId(run)}</Link>
        </p>
      )}
      {profiles.length > 1 && (
        <Select label="Agent" value={shown?.agent_id ?? ""} options={profiles.map((profile) => profile.agent_id)} onChange={(value) => setQuery({ agent: value })} />
      )}
      {comparisons.map((pair) => (
        <section key={pair.candidate.agent_id} aria-label={`${pair.candidate.agent_id} beside ${pair.baseline.agent_id}`}>
          <SideBySide pair={pair} />
          <One profile={pair.candidate} />
        </section>
      ))}
      {shown && <One profile={shown} />}
    </>
  );
}

export default function Page(): ReactElement {
  const [subject] = useQueryParam("subject");
  const [against] = useQueryParam("against");
  const [caseId] = useQueryParam("case");
  const [benchmark] = useQueryParam("benchmark");
  const [agent] = useQueryParam("agent");
  const report = useResource<ProfileReport>(address("/api/profiles", { subject, against, case_id: caseId, benchmark }));
  const command = [
    `dyno profile ${shellWord(spoken(subject) || "last")}`,
    caseId && `--case ${shellWord(benchmark ? `${benchmark}/${caseId}` : caseId)}`,
    against && `--against ${shellWord(spoken(against))}`,
  ];
  return (
    <>
      <div className="page-head">
        <h1>Profile{caseId && ` of case ${caseId}`}</h1>
        <CommandHint command={command.filter(Boolean).join(" ")} />
      </div>
      <div className="fields">
        <SearchField label="Run or agent" value={subject} placeholder="the newest run" onChange={(value) => setQuery({ subject: value.trim(), agent: "", case: "", benchmark: "" })} />
        <SearchField label="Case" value={caseId} placeholder="all" onChange={(value) => setQuery({ case: value.trim(), benchmark: "" })} />
        <SearchField label="Against" value={against} placeholder="nothing" onChange={(value) => setQuery({ against: value.trim() })} />
      </div>
      <Show of={report}>
        {(data) =>
          data.profiles.length + data.comparisons.length === 0 ? (
            <Empty title="Where an agent's time and tokens go, step by step, is shown here. To measure the first one:" command="dyno run SUITE --agent AGENT" />
          ) : (
            <Report report={data} agent={agent} />
          )
        }
      </Show>
    </>
  );
}
