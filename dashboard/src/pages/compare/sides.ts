import type { CaseKey, Duel } from "../../api/answers";
import type { Place } from "../../shared/place";

/** Where both answers to a case are. The list for j and k is of the cases of the same two runs. */
export function placeOf(duel: Duel, key: CaseKey, all: readonly CaseKey[]): Place {
  const runs = (benchmark: string): [string, string] => [
    duel.baseline_runs[benchmark] ?? "",
    duel.candidate_runs[benchmark] ?? "",
  ];
  const [first_run, second_run] = runs(key.benchmark);
  const cases = all.filter(({ benchmark }) => {
    const [first, second] = runs(benchmark);
    return first === first_run && second === second_run;
  });
  return { first_run, second_run, ...key, first_agent: duel.baseline, second_agent: duel.candidate, cases };
}
