import { useCallback } from "react";
import type { ReactElement } from "react";
import type { Divergence } from "../../api/answers";
import { CommandHint, Empty, Show, shellWord } from "../../components";
import { asText } from "../../format";
import { useKeys } from "../../hooks/useKeys";
import { useResource } from "../../hooks/useResource";
import { Link, address, navigate, useRoute } from "../../router";
import { shortId } from "../../shared/paths";
import { indexIn, neighbour, placeFrom } from "../../shared/place";
import type { Place } from "../../shared/place";
import { AnswerDiff } from "./AnswerDiff";
import { Side } from "./Sides";
import { Steps } from "./Steps";
import "./page.css";

export const title = "Side by side";

/** j and k go to the next and the previous case of the list in the address. */
function useCaseKeys(next: string | null, previous: string | null): void {
  const walk = useCallback(
    ({ key }: KeyboardEvent): void => {
      const to = key === "j" ? next : key === "k" ? previous : null;
      if (to) navigate(to, { replace: true });
    },
    [next, previous],
  );
  useKeys(walk);
}

function Walk({ place }: { place: Place }): ReactElement | null {
  const next = neighbour(place, 1);
  const previous = neighbour(place, -1);
  useCaseKeys(next, previous);
  const at = indexIn(place);
  if (place.cases.length < 2) return null;
  return (
    <nav className="row" aria-label="Flipped cases">
      {previous ? <Link to={previous}>← previous (k)</Link> : <span className="muted">← previous (k)</span>}
      <span>{at < 0 ? `${place.cases.length} flipped cases` : `flipped case ${at + 1} of ${place.cases.length}`}</span>
      {next ? <Link to={next}>next (j) →</Link> : <span className="muted">next (j) →</span>}
    </nav>
  );
}

function Question({ answers }: { answers: Divergence }): ReactElement {
  return (
    <div className="columns">
      <section className="panel" aria-label="Input">
        <h2>Input</h2>
        <pre className="divergence-output" tabIndex={0} aria-label="Input of the case">
          {asText(answers.case.input)}
        </pre>
      </section>
      <section className="panel" aria-label="Target">
        <h2>Target</h2>
        <pre className="divergence-output" tabIndex={0} aria-label="Target of the case">
          {asText(answers.case.target) || "(none)"}
        </pre>
      </section>
    </div>
  );
}

function commandFor(place: Place): string {
  const agent = place.second_agent ? ` --agent ${shellWord(place.second_agent)}` : "";
  return `dyno show ${shellWord(shortId(place.second_run) || "RUN")} --case ${shellWord(place.case_id || "ID")}${agent}`;
}

export default function Page(): ReactElement {
  const { query } = useRoute();
  const place = placeFrom(query);
  const { first_run, second_run, case_id, benchmark, first_agent, second_agent } = place;
  const asked =
    first_run && second_run && case_id
      ? address("/api/divergence", { first_run, second_run, case_id, benchmark, first_agent, second_agent })
      : null;
  const answers = useResource<Divergence>(asked);
  return (
    <>
      <div className="page-head">
        <div>
          <h1>{case_id ? `Case ${case_id}` : "Two answers side by side"}</h1>
          <p className="muted">
            {benchmark && <>{benchmark} · </>}
            {first_agent && second_agent && (
              <Link to={address("/compare", { agents: `${first_agent},${second_agent}` })}>
                {first_agent} against {second_agent}
              </Link>
            )}
          </p>
        </div>
        <CommandHint command={commandFor(place)} />
      </div>
      <Walk place={place} />
      {asked === null ? (
        <Empty
          title="Choose two agents, then one of the cases that they answered differently."
          command="dyno compare AGENT AGENT"
        >
          <p>
            <Link to="/compare">Compare agents</Link>
          </p>
        </Empty>
      ) : (
        <Show of={answers}>
          {(data) => (
            <>
              <Question answers={data} />
              <div className="columns">
                <Side answer={data.first} label="Baseline" run={first_run} benchmark={benchmark} caseId={case_id} />
                <Side answer={data.second} label="Candidate" run={second_run} benchmark={benchmark} caseId={case_id} />
              </div>
              <AnswerDiff answers={data} />
              <h2>What each did</h2>
              <Steps answers={data} />
            </>
          )}
        </Show>
      )}
    </>
  );
}
