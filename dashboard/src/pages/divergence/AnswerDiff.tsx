import { useMemo } from "react";
import type { ReactElement } from "react";
import type { Divergence } from "../../api/answers";
import { asText } from "../../format";
import { wordDiff } from "./wordDiff";

const LONGEST = 60_000;

/** The candidate's answer with what it leaves out of the baseline's struck through and what it adds underlined. */
export function AnswerDiff({ answers }: { answers: Divergence }): ReactElement | null {
  const first = asText(answers.first.output).slice(0, LONGEST);
  const second = asText(answers.second.output).slice(0, LONGEST);
  const pieces = useMemo(() => wordDiff(first, second), [first, second]);
  if (first === "" && second === "") return null;
  return (
    <section aria-labelledby="answer-diff">
      <h2 id="answer-diff">What differs in the answers</h2>
      {first === second ? (
        <p className="muted">Nothing: both say the same.</p>
      ) : (
        <pre className="divergence-output" tabIndex={0} aria-label="Words that differ">
          {pieces.map((piece, index) => {
            if (piece.kind === "gone") return <del key={index}>{piece.text}</del>;
            if (piece.kind === "new") return <ins key={index}>{piece.text}</ins>;
            return <span key={index}>{piece.text}</span>;
          })}
        </pre>
      )}
    </section>
  );
}
