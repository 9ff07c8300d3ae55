import { useMemo } from "react";
import type { ReactElement } from "react";
import type { RunPage, RunPlace, SampleRow } from "../../api/answers";
import { CommandHint, Empty, ErrorBox, Filters, Loading, Select, StatusBadge, Table } from "../../components";
import type { Column } from "../../components";
import { asText, count, duration, moneyColumn, plural, points } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, useQueryParam } from "../../router";
import type { PageProps } from "..";
import { FormMark } from "../../shared/FormMark";
import { SearchField } from "../../shared/SearchField";
import { ShortText } from "../../shared/TextFold";
import { api, caseAddress, runAddress, shortId } from "../../shared/paths";
import { useSamples } from "./useSamples";

export const title = (params: Record<string, string>): string => `Cases of run ${shortId(params["run_id"] ?? "")}`;

const STATUSES = [
  ["failures", "not passed"],
  ["all", "all"],
  ["ok", "ok"],
  ["failed", "failed: a wrong answer"],
  ["error", "error: it raised"],
  ["timeout", "timeout"],
  ["limit", "limit"],
  ["cancelled", "cancelled"],
] as const;

function columns(runId: string, suite: boolean, rows: readonly SampleRow[]): Column<SampleRow>[] {
  const cost = moneyColumn(rows.map((row) => row.cost_usd), "answer");
  const named: Column<SampleRow>[] = suite
    ? [
        {
          key: "case",
          label: "Case",
          value: (row) => row.case_id,
          render: (row) => (
            <span>
              <Link to={caseAddress(runId, row.benchmark, row.case_id, row.agent)}>{row.case_id}</Link>{" "}
              <span className="muted">{row.benchmark}</span>
              <span className="closed-only muted">
                {row.agent}, epoch {row.iteration + 1}
              </span>
            </span>
          ),
        },
        { key: "agent", label: "Agent", value: (row) => row.agent, render: (row) => row.agent },
      ]
    : [{ key: "arm", label: "Arm", value: (row) => row.arm, render: (row) => row.arm }];
  return [
    ...named,
    { key: "epoch", label: suite ? "Epoch" : "Iteration", align: "right", value: (row) => row.iteration, render: (row) => count(row.iteration + 1) },
    { key: "status", label: "Ended", value: (row) => row.status, render: (row) => <StatusBadge status={row.status} /> },
    { key: "score", label: "Score", align: "right", value: (row) => row.score, render: (row) => points(row.score, 0) },
    { key: "duration", label: "Took", align: "right", first: "descending", value: (row) => row.duration_s, render: (row) => duration(row.duration_s) },
    { key: "tokens", label: "Tokens", align: "right", first: "descending", value: (row) => row.total_tokens, render: (row) => count(row.total_tokens) },
    { key: "cost", label: `$ ${cost.per}`, align: "right", first: "descending", value: (row) => row.cost_usd, render: (row) => cost.text(row.cost_usd) },
    { key: "got", label: "Answer or error", render: (row) => <ShortText value={row.failure || row.output} /> },
  ];
}

function holds(row: SampleRow, text: string): boolean {
  return [row.case_id, row.benchmark, row.agent, row.arm, row.failure, asText(row.output)]
    .join("\n")
    .toLowerCase()
    .includes(text.toLowerCase());
}

const SCORES = [["", "any"], ["0", "0"], ["below", "below 100"], ["100", "100"], ["none", "none"]] as const;

function fitsScore({ score }: SampleRow, wanted: string): boolean {
  if (wanted === "none") return score === null;
  if (wanted === "below") return score !== null && score < 1;
  return wanted === "" || (score !== null && score === Number(wanted) / 100);
}

const unique = (values: readonly (string | null)[]): string[] => [...new Set(values.filter((value) => value !== null))].sort();

export default function Cases({ params }: PageProps): ReactElement {
  const runId = params["run_id"] ?? "";
  const [status, setStatus] = useQueryParam("status", "failures");
  const [agent, setAgent] = useQueryParam("agent");
  const [benchmark, setBenchmark] = useQueryParam("benchmark");
  const [arm, setArm] = useQueryParam("arm");
  const [text, setText] = useQueryParam("text");
  const [score, setScore] = useQueryParam("score");
  const run = useResource<RunPage>(api("runs", runId));
  const place = useResource<RunPlace>(api("runs", runId, "place"));
  const arms = run.data?.run.arms ?? [];
  const suite = run.data ? run.data.run.suite !== null : true;
  const samples = useSamples(runId, { status, agent, benchmark, arm });
  const rows = useMemo(() => samples.items.filter((row) => fitsScore(row, score) && (text === "" || holds(row, text))), [samples.items, score, text]);
  const shape = useMemo(() => columns(runId, suite, samples.items), [runId, suite, samples.items]);
  const narrowed = agent !== "" || arm !== "" || benchmark !== "" || text !== "" || score !== "";
  return (
    <>
      <div className="page-head">
        <h1>
          Cases of <Link to={runAddress(runId)}>{run.data?.run.name ?? shortId(runId)}</Link> <FormMark form={place.data?.form ?? ""} />
        </h1>
        <CommandHint command={`dyno show ${shortId(runId)} --json`} />
      </div>
      <Filters label="Filter the samples">
        <Select label="Ended" value={status} options={STATUSES} onChange={setStatus} />
        {!suite && arms.length > 1 && (
          <Select
            label="Arm"
            value={arm}
            onChange={setArm}
            options={[["", "all"], ...arms.map((item) => [item.arm_id, item.name] as const)]}
          />
        )}
        {suite && (
          <>
            <Select label="Agent" value={agent} onChange={setAgent} options={[["", "all"], ...unique(arms.map((arm) => arm.agent))]} />
            <Select
              label="Benchmark"
              value={benchmark}
              onChange={setBenchmark}
              options={[["", "all"], ...unique(arms.map((arm) => arm.benchmark))]}
            />
          </>
        )}
        {suite && <Select label="Score" value={score} options={SCORES} onChange={setScore} />}
        <SearchField label="Text" value={text} placeholder="case, answer or error" onChange={setText} />
      </Filters>
      <p className="muted" role="status">
        {samples.loading
          ? "Reading the samples…"
          : `${plural(rows.length, "sample")}${samples.more ? " of those read so far" : ""}. j and k walk through them, Enter opens one.`}
      </p>
      {samples.error !== undefined && <ErrorBox error={samples.error} />}
      {samples.loading && rows.length === 0 && <Loading />}
      {!(samples.loading && rows.length === 0) && samples.error === undefined && (
        <Table
          caption="Samples"
          compact={[suite ? "case" : "arm", "status"]}
          columns={shape}
          rows={rows}
          rowKey={(row) => `${row.arm_id} ${row.case_id} ${row.iteration} ${row.instrument}`}
          empty={
            status === "failures" && !narrowed && !samples.more ? (
              <Empty title="Everything was passed.">
                <p>
                  <button type="button" onClick={() => setStatus("all")}>
                    Show all samples
                  </button>
                </p>
              </Empty>
            ) : (
              <Empty title="No sample fits the filter. The whole run on the command line:" command={`dyno show ${shortId(runId)}`} />
            )
          }
        />
      )}
      {samples.more && (
        <button type="button" disabled={samples.loading} onClick={samples.readMore}>
          Read more
        </button>
      )}
    </>
  );
}
