import type { TrajectoryEvent } from "../../api/answers";

/** One line of the two trajectories side by side; a side is null where the other one has a step of its own. */
export interface AlignedStep {
  first: TrajectoryEvent | null;
  second: TrajectoryEvent | null;
  firstIndex: number | null;
  secondIndex: number | null;
  /** Whether both sides did the same thing with the same content. */
  same: boolean;
  /** Whether this is where the two part. */
  divergence: boolean;
}

/** Steps per side above which steps after the divergence are paired by position: the table below is quadratic. */
const LARGEST = 600;

function kindOf(event: TrajectoryEvent): string {
  return `${event.kind}\u0000${event.name}`;
}

/** Content as it compares: blanks in texts count alike, as on the server. */
function plain(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.trim().split(/\s+/).join(" ") : value;
}

function sameContent(first: TrajectoryEvent, second: TrajectoryEvent): boolean {
  return (
    kindOf(first) === kindOf(second) && JSON.stringify(first.content, plain) === JSON.stringify(second.content, plain)
  );
}

/** The pairs [i, j] of a longest common subsequence of two lists of kinds. */
function commonSubsequence(first: string[], second: string[]): Array<[number, number]> {
  const width = second.length + 1;
  const length = new Uint16Array((first.length + 1) * width);
  const at = (i: number, j: number): number => length[i * width + j] ?? 0;
  for (let i = first.length - 1; i >= 0; i -= 1) {
    for (let j = second.length - 1; j >= 0; j -= 1) {
      length[i * width + j] = first[i] === second[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: Array<[number, number]> = [];
  let i = 0;
  let j = 0;
  while (i < first.length && j < second.length) {
    if (first[i] === second[j]) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      i += 1;
    } else {
      j += 1;
    }
  }
  return pairs;
}

function positions(first: number, second: number): Array<[number, number]> {
  return Array.from({ length: Math.min(first, second) }, (_, index) => [index, index]);
}

/**
 * Both trajectories in one list: step by step up to the divergence, and after it with steps of the same kind and name
 * beside each other. ``divergence`` is the index of the first step that differs, null where none does.
 */
export function align(first: TrajectoryEvent[], second: TrajectoryEvent[], divergence: number | null): AlignedStep[] {
  const start = Math.min(divergence ?? Math.max(first.length, second.length), first.length, second.length);
  const restFirst = first.slice(start);
  const restSecond = second.slice(start);
  const pairs =
    restFirst.length > LARGEST || restSecond.length > LARGEST
      ? positions(restFirst.length, restSecond.length)
      : commonSubsequence(restFirst.map(kindOf), restSecond.map(kindOf));
  const steps: AlignedStep[] = [];
  const add = (i: number | null, j: number | null): void => {
    const left = i === null ? null : (first[i] ?? null);
    const right = j === null ? null : (second[j] ?? null);
    const same = left !== null && right !== null && sameContent(left, right);
    steps.push({ first: left, second: right, firstIndex: i, secondIndex: j, same, divergence: false });
  };
  for (let index = 0; index < start; index += 1) add(index, index);
  let i = start;
  let j = start;
  for (const [left, right] of [...pairs, [restFirst.length, restSecond.length] as [number, number]]) {
    for (; i < start + left; i += 1) add(i, null);
    for (; j < start + right; j += 1) add(null, j);
    if (i < first.length && j < second.length) {
      add(i, j);
      i += 1;
      j += 1;
    }
  }
  const parting = divergence === null ? undefined : (steps[start] ?? steps[steps.length - 1]);
  if (parting) parting.divergence = true;
  return steps;
}
