import { useEffect, useRef } from "react";
import type { ReactElement } from "react";
import type { CaseKey, Divergence, Duel } from "../../api/answers";
import { Show, StatusBadge } from "../../components";
import { asText, plural, points } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, setQuery, useQueryParam } from "../../router";
import { divergenceAddress } from "../../shared/place";
import type { Place } from "../../shared/place";
import { placeOf } from "./sides";

function Outputs({ place }: { place: Place }): ReactElement {
  const { cases: _, ...asked } = place;
  const answers = useResource<Divergence>(address("/api/divergence", { ...asked }));
  return (
    <Show of={answers}>
      {({ case: text, first, second }) => (
        <>
          <p className="muted">Target: {asText(text.target) || "(none)"}</p>
          <div className="columns">
            {[first, second].map((answer, index) => (
              <div key={index}>
                <p>
                  <strong>{answer.agent}</strong> <StatusBadge status={answer.status} /> score {points(answer.score)}
                </p>
                <pre className="compare-output">{asText(answer.output) || "(no output)"}</pre>
              </div>
            ))}
          </div>
        </>
      )}
    </Show>
  );
}

function Flip({ place }: { place: Place }): ReactElement {
  const [openCase] = useQueryParam("case");
  const [openBenchmark] = useQueryParam("benchmark");
  const open = openCase === place.case_id && (!openBenchmark || openBenchmark === place.benchmark);
  const here = useRef<HTMLLIElement>(null);
  const known = Boolean(place.first_run && place.second_run);
  useEffect(() => {
    if (open) here.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  const toggle = (): void =>
    setQuery(open ? { case: "", benchmark: "" } : { case: place.case_id, benchmark: place.benchmark });
  return (
    <li ref={here} className="compare-flip" data-row tabIndex={-1}>
      {known ? <Link to={divergenceAddress(place)}>{place.case_id}</Link> : <span>{place.case_id}</span>}{" "}
      <span className="muted">{place.benchmark}</span>{" "}
      {known && (
        <button type="button" className="quiet" aria-expanded={open} onClick={toggle}>
          {open ? "Hide" : "Show"} outputs<span className="visually-hidden"> of {place.case_id}</span>
        </button>
      )}
      {open && known && <Outputs place={place} />}
    </li>
  );
}

interface ListProps {
  keys: readonly CaseKey[];
  place: (key: CaseKey) => Place;
  title: string;
  empty: string;
}

function List({ keys, place, title, empty }: ListProps): ReactElement {
  return (
    <section className="panel">
      <h3>{title}</h3>
      {keys.length === 0 ? (
        <p className="muted">{empty}</p>
      ) : (
        <ul className="compare-flips">
          {keys.map((key) => (
            <Flip key={`${key.benchmark}/${key.case_id}`} place={place(key)} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Cases that only one of the two gets right, each with a way to both trajectories. */
export function Flips({ duel }: { duel: Duel }): ReactElement {
  const { broken, fixed } = duel.flips;
  const place = (key: CaseKey): Place => placeOf(duel, key, [...broken, ...fixed]);
  return (
    <>
      <h2>Flipped cases</h2>
      <p className="muted">
        {plural(duel.flips.both_right, "case")} right on both sides, {duel.flips.both_wrong} wrong on both
        {duel.flips.unpaired > 0 && `, ${duel.flips.unpaired} without a score on a side`}.
      </p>
      <div className="columns">
        <List
          keys={broken}
          place={place}
          title={`▼ Broken (${broken.length})`}
          empty={`Nothing that ${duel.baseline} gets right is lost.`}
        />
        <List
          keys={fixed}
          place={place}
          title={`▲ Fixed (${fixed.length})`}
          empty={`${duel.candidate} fixes nothing.`}
        />
      </div>
    </>
  );
}
