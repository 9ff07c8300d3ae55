import { useEffect, useMemo, useState } from "react";
import type { ReactElement } from "react";
import type { Job, JobPage } from "../../api/answers";
import { CommandHint, Empty, Filters, Pager, Select, Show, StatusBadge, Table } from "../../components";
import type { Column } from "../../components";
import { age, dateTime, duration } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, setQuery, useQueryParam } from "../../router";
import { agentAddress, jobAddress, runAddress, shortId, suiteAddress } from "../../shared/paths";
import { useMayRun } from "../../shared/useMayRun";
import { CancelButton } from "../../shared/CancelButton";
import { ProgressBar } from "../../shared/ProgressView";
import { hasEnded } from "../../shared/useJob";

export const title = "Jobs";

const STATUSES = [["", "all"], "queued", "running", "succeeded", "failed", "cancelled"] as const;
const BUSY_MS = 2000;
const QUIET_MS = 10_000;

function columns(mayRun: boolean, refresh: () => void): Column<Job>[] {
  const shown: Column<Job>[] = [
    {
      key: "job",
      label: "Job",
      render: (job) => (
        <span>
          <Link to={jobAddress(job.job_id)}>{shortId(job.job_id)}</Link>{" "}
          {job.run_id && <Link to={runAddress(job.run_id)}>run</Link>}
        </span>
      ),
    },
    { key: "status", label: "Status", value: (job) => job.status, render: (job) => <StatusBadge status={job.status} /> },
    { key: "agent", label: "Agent", value: (job) => job.agent, render: (job) => <Link to={agentAddress(job.agent)}>{job.agent}</Link> },
    {
      key: "suite",
      label: "Suite",
      value: (job) => job.suite_id,
      render: (job) => <Link to={suiteAddress(job.suite_id)}>{job.suite_id}</Link>,
    },
    { key: "progress", label: "Progress", render: (job) => (job.error ? <span className="verdict-worse">{job.error}</span> : <ProgressBar job={job} />) },
    { key: "who", label: "Asked by", value: (job) => job.created_by, render: (job) => job.created_by || <span className="muted">—</span> },
    {
      key: "age",
      label: "Asked",
      first: "descending",
      value: (job) => job.created_at,
      render: (job) => <span title={dateTime(job.created_at)}>{age(job.created_at)}</span>,
    },
    {
      key: "took",
      label: "Took",
      align: "right",
      value: (job) => (job.started_at === null || job.finished_at === null ? null : job.finished_at - job.started_at),
      render: (job) => duration(job.started_at === null || job.finished_at === null ? null : (job.finished_at - job.started_at) / 1000),
    },
  ];
  if (mayRun) shown.push({ key: "cancel", label: "Stop", render: (job) => <CancelButton job={job} onCancelled={refresh} /> });
  return shown;
}

export default function Jobs(): ReactElement {
  const [status] = useQueryParam("status");
  const [cursor] = useQueryParam("cursor");
  const [busy, setBusy] = useState(true);
  const mayRun = useMayRun() === true;
  const jobs = useResource<JobPage>(address("/api/jobs", { status, cursor, limit: 50 }), { everyMs: busy ? BUSY_MS : QUIET_MS });
  const { data, refresh } = jobs;
  useEffect(() => {
    if (data) setBusy(data.items.some((job) => !hasEnded(job)));
  }, [data]);
  const shape = useMemo(() => columns(mayRun, refresh), [mayRun, refresh]);
  return (
    <>
      <div className="page-head">
        <h1>Jobs</h1>
        <CommandHint command="dyno jobs list" />
      </div>
      <Filters label="Filter the jobs">
        <Select label="Status" value={status} options={STATUSES} onChange={(value) => setQuery({ status: value, cursor: "" })} />
        <Link to="/start">Start a run</Link>
      </Filters>
      <Show of={jobs}>
        {(page) => (
          <>
            <Table
              caption="Jobs, newest first"
              compact={["agent", "status"]}
              columns={shape}
              rows={page.items}
              rowKey={(job) => job.job_id}
              empty={
                status || cursor ? (
                  <Empty title="No job fits the filter." />
                ) : (
                  <Empty
                    title="Nobody has asked this service for a run yet. From the command line, with a key:"
                    command={`dyno run SUITE --agent AGENT --server ${window.location.origin}`}
                  />
                )
              }
            />
            <Pager cursor={cursor} next={page.next} onMove={(to) => setQuery({ cursor: to }, {})} />
          </>
        )}
      </Show>
    </>
  );
}
