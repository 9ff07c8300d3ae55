import type { ReactElement } from "react";
import type { Answer } from "../../api/answers";
import { StatusBadge } from "../../components";
import { asText, count, duration, money, points } from "../../format";
import { Link, address } from "../../router";

function failureText(failure: Answer["failure"]): string {
  if (failure === null) return "";
  return typeof failure === "string" ? failure : `${failure.kind}: ${failure.message}`;
}

interface SideProps {
  answer: Answer;
  label: string;
  run: string;
  benchmark: string;
  caseId: string;
}

/** One answer: how it ended, what it scored and used, and what it said. */
export function Side({ answer, label, run, benchmark, caseId }: SideProps): ReactElement {
  const failure = failureText(answer.failure);
  const to = address(`/runs/${encodeURIComponent(run)}/cases/${encodeURIComponent(caseId)}`, {
    benchmark,
    agent: answer.agent,
  });
  const parts = Object.entries(answer.scores ?? {});
  return (
    <section className="panel divergence-side" aria-label={`${label}: ${answer.agent}`}>
      <h2>
        <span className="muted">{label}</span> {answer.agent}
      </h2>
      <p className="row">
        <StatusBadge status={answer.status} />
        <span>score {points(answer.score)}</span>
        <span>{duration(answer.duration_s)}</span>
        <span>{money(answer.cost_usd)}</span>
        <span>{count(answer.tokens)} tokens</span>
        {run && <Link to={to}>in its run</Link>}
      </p>
      {parts.length > 1 && (
        <p className="muted">{parts.map(([name, score]) => `${name} ${points(score)}`).join(" · ")}</p>
      )}
      {failure && <p className="verdict-worse">{failure}</p>}
      <pre className="divergence-output" tabIndex={0} aria-label={`Output of ${answer.agent}`}>
        {asText(answer.output) || "(no output)"}
      </pre>
    </section>
  );
}
