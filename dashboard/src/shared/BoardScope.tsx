import type { ReactElement } from "react";
import type { BoardScope as Scope, SuiteItems } from "../api/answers";
import { shellWord } from "../components";
import { count } from "../format";
import { casesText } from "./cases";

/** The suites to choose from: the one that was run last, every known one, and all that agents share. */
export function suiteOptions(suites: SuiteItems | undefined): (readonly [string, string])[] {
  const known = new Map((suites?.items ?? []).map((item) => [item.suite_id, item.name || item.suite_id]));
  return [["", "the last run"], ...known, ["all", "shared suites"]];
}

/** Beside an accuracy: of how many cases it is. One of no case comes from a result that does not say. */
export function OfCases({ entry }: { entry: { scored: number; cases: number } }): ReactElement | null {
  const text = entry.scored > 0 ? casesText(entry) : "";
  if (!text) return null;
  return (
    <span className="muted" title={`${count(entry.scored)} of ${count(entry.cases)} cases have a score`}>
      {" "}
      of {text}
    </span>
  );
}

/** What a board is made of, what is not on it, and why. */
export function BoardScope({ scope }: { scope: Scope }): ReactElement {
  const several = scope.suites.length > 1;
  return (
    <p className="muted">
      {scope.suites.length > 0 && <>{several ? "Suites" : "Suite"} {scope.suites.join(", ")}. </>}
      {several && <>Each counts the same, and only agents that ran all of them are here. </>}
      {scope.not_shared.length > 0 && <>Left out, because they share fewer suites: {scope.not_shared.join(", ")}. </>}
      {scope.older_version.length > 0 && (
        <>
          Only older versions of this suite were run by {scope.older_version.join(", ")}:{" "}
          <code>dyno run SUITE {scope.older_version.map((name) => `--agent ${shellWord(name)}`).join(" ")}</code>.{" "}
        </>
      )}
      {scope.recorded.length > 0 && (
        <>
          ‡ Model calls of {scope.recorded.join(", ")} went through the recording proxy, which takes time, those of the others did not: their speed is not compared
          like with like.{" "}
        </>
      )}
      {scope.left_out > 0 && <>Not counted: {count(scope.left_out)} executions in runs that were quick, limited or cut short. </>}
      {scope.includes_partial && <>Runs that were quick, limited or cut short are counted, and marked †. </>}
      {scope.unknown_form > 0 && (
        <>Whether {count(scope.unknown_form)} executions were whole runs is not known: recorded before that was kept, or by another tool. </>
      )}
    </p>
  );
}
