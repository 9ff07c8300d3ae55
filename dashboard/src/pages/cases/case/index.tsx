import { useCallback, useMemo } from "react";
import type { ReactElement } from "react";
import type { Answer, CasePage as CaseView, RunPlace } from "../../../api/answers";
import { CommandHint, Empty, Fold, Select, Show, shellWord } from "../../../components";
import { useKeys } from "../../../hooks/useKeys";
import { useResource } from "../../../hooks/useResource";
import { Link, address, navigate, useQueryParam } from "../../../router";
import type { PageProps } from "../..";
import { FormMark } from "../../../shared/FormMark";
import { ExportButton } from "../../../shared/ExportButton";
import { Facts, factsOf } from "../../../shared/Facts";
import { TextFold } from "../../../shared/TextFold";
import { api, caseAddress, casesAddress, profileAddress, runAddress, shortId } from "../../../shared/paths";
import { casesOf } from "../samples";
import type { FailedAt } from "../samples";
import { useSamples } from "../useSamples";
import { AnswerCard, passedText } from "./AnswerCard";
import { Marks } from "./Marks";
import "./page.css";

export const title = (params: Record<string, string>): string => params["case_id"] ?? "Case";

interface Around {
  previous: FailedAt | undefined;
  next: FailedAt | undefined;
  at: number;
  total: number;
}

/** The failed cases before and after this one; a case that is not among them goes on with the first. */
function around(failed: readonly FailedAt[], benchmark: string, caseId: string): Around {
  const at = failed.findIndex((item) => item.caseId === caseId && (benchmark === "" || item.benchmark === benchmark));
  return { previous: at > 0 ? failed[at - 1] : undefined, next: failed[at + 1], at, total: failed.length };
}

function useFailureKeys(open: (item: FailedAt | undefined) => void, { previous, next }: Around): void {
  const walk = useCallback(
    ({ key }: KeyboardEvent): void => {
      if (key === "j") open(next);
      if (key === "k") open(previous);
    },
    [open, previous, next],
  );
  useKeys(walk);
}

/** Answers by agent; what was not passed comes first, among agents and among the answers of each. */
function byAgent(answers: readonly Answer[]): [string, Answer[]][] {
  const found = new Map<string, Answer[]>();
  for (const answer of answers) found.set(answer.agent, [...(found.get(answer.agent) ?? []), answer]);
  const passed = (answer: Answer | undefined): number => Number(answer?.status === "ok");
  return [...found]
    .map(([agent, own]): [string, Answer[]] => [agent, own.toSorted((a, b) => passed(a) - passed(b) || a.iteration - b.iteration)])
    .toSorted(([, one], [, other]) => passed(one[0]) - passed(other[0]));
}

function Answers({ agent, answers }: { agent: string; answers: readonly Answer[] }): ReactElement {
  const [first, ...rest] = answers;
  return (
    <section aria-label={`Answers of ${agent}`}>
      <h2>
        {agent} <span className="muted">{passedText(answers)}</span>
      </h2>
      {first && <AnswerCard answer={first} />}
      {rest.length > 0 && (
        <Fold name={`epochs-${agent}`} summary={`The other epochs (${rest.length})`}>
          {rest.map((answer) => (
            <AnswerCard key={answer.iteration} answer={answer} />
          ))}
        </Fold>
      )}
    </section>
  );
}

function Asked({ view }: { view: CaseView }): ReactElement {
  const { case: own } = view;
  const { turns } = own;
  return (
    <>
      <div className="columns">
        <div>
          <h2>Input</h2>
          {turns.length > 0 ? (
            turns.map((turn, index) => <TextFold key={index} value={turn} label={`Turn ${index + 1}`} />)
          ) : (
            <TextFold value={own.input} label="Input" />
          )}
        </div>
        <div>
          <h2>Target</h2>
          {own.target === null ? <p className="muted">none is given</p> : <TextFold value={own.target} label="Target" />}
        </div>
      </div>
      <Facts facts={[["Group", own.group], ...factsOf(own.metadata)]} />
    </>
  );
}

function Divergence({ runId, view, benchmark }: { runId: string; view: CaseView; benchmark: string }): ReactElement | null {
  const agents = [...new Set(view.answers.map((answer) => answer.agent))];
  const [first, second] = agents;
  if (first === undefined || second === undefined) return null;
  const to = address("/divergence", {
    first_run: runId,
    second_run: runId,
    case_id: view.case.id,
    benchmark,
    first_agent: first,
    second_agent: second,
  });
  return (
    <p>
      <Link to={to}>
        {first} and {second} side by side
      </Link>
    </p>
  );
}

/** The way to the same case of the baseline, word by word. */
function Baselines({ runId, view, benchmark, place }: { runId: string; view: CaseView; benchmark: string; place: RunPlace | undefined }): ReactElement | null {
  const answered = new Set(view.answers.map((answer) => answer.agent));
  const known = (place?.verdicts ?? []).filter((item) => item.baseline_run_id !== "" && answered.has(item.agent));
  if (known.length === 0) return null;
  return (
    <p className="row">
      {known.map((item) => (
        <Link
          key={item.agent}
          to={address("/divergence", {
            first_run: item.baseline_run_id,
            second_run: runId,
            case_id: view.case.id,
            benchmark,
            first_agent: item.baseline,
            second_agent: item.agent,
          })}
        >
          {item.agent} beside {item.baseline}, word by word
        </Link>
      ))}
    </p>
  );
}

export default function CasePage({ params }: PageProps): ReactElement {
  const runId = params["run_id"] ?? "";
  const caseId = params["case_id"] ?? "";
  const [benchmark] = useQueryParam("benchmark");
  const [agent, setAgent] = useQueryParam("agent");
  const place = useResource<RunPlace>(api("runs", runId, "place"));
  const view = useResource<CaseView>(address(api("runs", runId, "cases", caseId), { benchmark }));
  const failures = useSamples(runId, { status: "failures", agent: "", benchmark: "" });
  const near = useMemo(() => around(casesOf(failures.items), benchmark, caseId), [failures.items, benchmark, caseId]);
  const open = useMemo(
    () => (item: FailedAt | undefined) => item && navigate(caseAddress(runId, item.benchmark, item.caseId)),
    [runId],
  );
  useFailureKeys(open, near);
  return (
    <>
      <div className="page-head">
        <h1>
          {caseId} <span className="muted">{benchmark}</span> <FormMark form={place.data?.form ?? ""} />
        </h1>
        <CommandHint command={`dyno show ${shortId(runId)} --case ${shellWord(caseId)}${agent ? ` --agent ${shellWord(agent)}` : ""}`} />
      </div>
      <nav className="row" aria-label="Failed cases">
        <ExportButton name={`case-${caseId}`} />
        <Link to={runAddress(runId)}>The run</Link>
        <Link to={casesAddress(runId)}>All failures of the run</Link>
        <Link to={profileAddress(runId, { case: caseId, benchmark, agent })}>Its spans: waterfall and flame view</Link>
        {near.previous && <Link to={caseAddress(runId, near.previous.benchmark, near.previous.caseId)}>Previous failure (k)</Link>}
        {near.next && <Link to={caseAddress(runId, near.next.benchmark, near.next.caseId)}>Next failure (j)</Link>}
        {near.at >= 0 && (
          <span className="muted">
            {near.at + 1} of {near.total}
            {failures.more ? " or more" : ""}
          </span>
        )}
      </nav>
      <Show of={view}>
        {(found) => {
          const agents = [...new Set(found.answers.map((answer) => answer.agent))];
          const shown = byAgent(found.answers.filter((answer) => agent === "" || answer.agent === agent));
          return (
            <>
              <Asked view={found} />
              {agents.length > 1 && (
                <div className="fields">
                  <Select label="Agent" value={agent} options={[["", "all"], ...agents]} onChange={setAgent} />
                </div>
              )}
              <Divergence runId={runId} view={found} benchmark={found.benchmark} />
              <Baselines runId={runId} view={found} benchmark={found.benchmark} place={place.data} />
              {shown.length === 0 && agent !== "" && agents.length > 0 && (
                <Empty title={`${agent} has no answer to this case in this run.`}>
                  <p>
                    <Link to={caseAddress(runId, benchmark, caseId)}>The answers of {agents.join(", ")}</Link>
                  </p>
                </Empty>
              )}
              {agents.length === 0 && (
                <Empty title="Nobody has answered this case yet. To measure what is missing:" command={`dyno resume ${shortId(runId)}`} />
              )}
              {shown.map(([name, answers]) => (
                <Answers key={name} agent={name} answers={answers} />
              ))}
              <Marks view={found} />
            </>
          );
        }}
      </Show>
    </>
  );
}
