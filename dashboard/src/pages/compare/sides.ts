import type { CaseKey, Duel } from "../../api/answers";
import type { Place } from "../../shared/place";

type Sides = Pick<Duel, "baseline" | "candidate" | "baseline_runs" | "candidate_runs">;

/**
 * Both agents as other pages know them. One agent that is held against itself is told apart by what stands in front of
 * its name: `01a1f58f:support@1.0` is of the run that begins so.
 */
export function agentsOf({ baseline, candidate, baseline_runs, candidate_runs }: Sides): [string, string] {
  const sides = [baseline, candidate].map((label) => [label.slice(0, label.indexOf(":")), label.slice(label.indexOf(":") + 1)] as const);
  const [[front = "", first = ""] = [], [other = "", second = ""] = []] = sides;
  const runs = [baseline_runs, candidate_runs].map((known) => Object.values(known));
  const begins = [front, other].every((part, side) => part !== "" && runs[side]?.some((run) => run.startsWith(part)));
  const apart = begins || (front === "baseline" && other === "candidate");
  return apart && first === second ? [first, second] : [baseline, candidate];
}

/** Where both answers to a case are. The list for j and k is of the cases of the same two runs. */
export function placeOf(duel: Duel, key: CaseKey, all: readonly CaseKey[]): Place {
  const runs = (benchmark: string): [string, string] => [
    duel.baseline_runs[benchmark] ?? "",
    duel.candidate_runs[benchmark] ?? "",
  ];
  const [first_run, second_run] = runs(key.benchmark);
  const [first_agent, second_agent] = agentsOf(duel);
  const cases = all.filter(({ benchmark }) => {
    const [first, second] = runs(benchmark);
    return first === first_run && second === second_run;
  });
  return { first_run, second_run, ...key, first_agent, second_agent, cases };
}
