/** Where a thing that was found leads. */
import type { FoundThing } from "../api/answers";
import { address } from "../address";
import { agentAddress, runAddress, suiteAddress } from "../shared/paths";

export function targetOf(thing: FoundThing): string {
  switch (thing.kind) {
    case "agent":
      return agentAddress(thing.name);
    case "suite":
      return suiteAddress(thing.suite_id);
    case "run":
      return runAddress(thing.run_id);
    case "case":
      return address("/grid", { suite: thing.suite_id, text: thing.name });
    case "tag":
      return address("/runs", { q: thing.name });
  }
}

/** So many agents, suites, runs, cases and tags the service finds at most. */
export const MOST_OF_KIND = 8;

/** Keys that act on every page, and what they do. */
export const KEYS: readonly (readonly [key: string, what: string])[] = [
  ["/", "search agents, suites, runs, cases and tags"],
  ["?", "this help"],
  ["j, k", "the next and the previous row, failure or flipped case"],
  ["Enter", "open the row"],
  ["Esc", "close this"],
  ["Tab", "every link and button; the first one skips to the page"],
];

/** Whether somebody is writing: keys are letters then. */
export function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.isContentEditable);
}
