import { useId, useState } from "react";
import type { ReactElement } from "react";
import type { Answer, CasePage as CaseView, AnswerMark, MarkItems } from "../../../api/answers";
import { del, put } from "../../../api/client";
import { ErrorBox, Fold } from "../../../components";
import { dateTime } from "../../../format";
import { useResource } from "../../../hooks/useResource";
import { address } from "../../../router";
import { api } from "../../../shared/paths";

const ofAnswer = (marks: readonly AnswerMark[], answer: Answer): AnswerMark[] =>
  marks.filter(
    (mark) =>
      mark.benchmark === answer.benchmark && mark.agent === answer.agent && mark.iteration === answer.iteration,
  );

interface MarkRowProps {
  view: CaseView;
  answer: Answer;
  marks: readonly AnswerMark[];
  onChange: () => void;
}

/** One answer: what people said of it, and the two buttons to say it oneself. */
function MarkRow({ view, answer, marks, onChange }: MarkRowProps): ReactElement {
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const id = useId();
  const path = api("runs", view.run_id, "marks");
  const name = `${answer.agent}, epoch ${answer.iteration + 1}`;
  const send = (request: Promise<unknown>): void => {
    setBusy(true);
    setError(null);
    request.then(onChange, (failure: unknown) => setError(failure)).finally(() => setBusy(false));
  };
  const mark = (isRight: boolean): void =>
    send(
      put<AnswerMark>(path, {
        case_id: view.case.id,
        benchmark: answer.benchmark,
        agent: answer.agent,
        iteration: answer.iteration,
        is_right: isRight,
        note: note.trim(),
      }),
    );
  const clear = (): void => {
    const { benchmark, agent, iteration } = answer;
    send(del<MarkItems>(address(path, { case_id: view.case.id, benchmark, agent, iteration: String(iteration) })));
  };
  return (
    <li>
      <div className="row">
        <span>{name}</span>
        <label htmlFor={id} className="visually-hidden">
          Note on {name}
        </label>
        <input id={id} className="mark-note" value={note} maxLength={1000} placeholder="why" onChange={(event) => setNote(event.target.value)} />
        <button type="button" disabled={busy} onClick={() => mark(true)}>
          Right<span className="visually-hidden">: {name}</span>
        </button>
        <button type="button" disabled={busy} onClick={() => mark(false)}>
          Wrong<span className="visually-hidden">: {name}</span>
        </button>
        {marks.length > 0 && (
          <button type="button" disabled={busy} onClick={clear}>
            Take my mark back<span className="visually-hidden">: {name}</span>
          </button>
        )}
      </div>
      {marks.map((item) => (
        <p key={item.who}>
          {item.is_right ? "✓ right" : "✗ wrong"} <span className="muted">{item.who}, {dateTime(item.at)}</span>
          {item.note && <> “{item.note}”</>}
        </p>
      ))}
      {error !== null && <ErrorBox error={error} />}
    </li>
  );
}

/** What people say of the answers to a case. A judge is calibrated by these marks: `dyno judge calibrate`. */
export function Marks({ view }: { view: CaseView }): ReactElement {
  const found = useResource<MarkItems>(address(api("runs", view.run_id, "marks"), { case_id: view.case.id }));
  const marks = found.data?.items ?? [];
  return (
    <Fold name={marks.length > 0 ? "marks-made" : "marks"} open={marks.length > 0} summary={`Marks of people (${marks.length})`}>
      <ul>
        {view.answers.map((answer) => (
          <MarkRow
            key={`${answer.agent} ${answer.iteration}`}
            view={view}
            answer={answer}
            marks={ofAnswer(marks, answer)}
            onChange={found.refresh}
          />
        ))}
      </ul>
    </Fold>
  );
}
