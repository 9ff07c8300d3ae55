/** Two texts word by word: what is common, what only one of them has. */

export interface Piece {
  kind: "same" | "gone" | "new";
  text: string;
}

/** Words that are set against each other; texts that differ in more are told as wholly different there. */
const MOST_WORDS = 2000;

function words(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

function joined(pieces: readonly Piece[]): Piece[] {
  const found: Piece[] = [];
  for (const piece of pieces) {
    const last = found.at(-1);
    if (piece.text === "") continue;
    if (last?.kind === piece.kind) last.text += piece.text;
    else found.push({ ...piece });
  }
  return found;
}

/** The longest common sequence of words, by the table of its lengths. */
function middle(first: readonly string[], second: readonly string[]): Piece[] {
  if (first.length > MOST_WORDS || second.length > MOST_WORDS) {
    return [{ kind: "gone", text: first.join("") }, { kind: "new", text: second.join("") }];
  }
  const width = second.length + 1;
  const table = new Uint16Array((first.length + 1) * width);
  for (let i = first.length - 1; i >= 0; i -= 1) {
    for (let j = second.length - 1; j >= 0; j -= 1) {
      const below = table[(i + 1) * width + j] ?? 0;
      const right = table[i * width + j + 1] ?? 0;
      table[i * width + j] = first[i] === second[j] ? (table[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(below, right);
    }
  }
  const pieces: Piece[] = [];
  let i = 0;
  let j = 0;
  while (i < first.length && j < second.length) {
    if (first[i] === second[j]) {
      pieces.push({ kind: "same", text: first[i] ?? "" });
      i += 1;
      j += 1;
    } else if ((table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0)) {
      pieces.push({ kind: "gone", text: first[i] ?? "" });
      i += 1;
    } else {
      pieces.push({ kind: "new", text: second[j] ?? "" });
      j += 1;
    }
  }
  return [...pieces, { kind: "gone", text: first.slice(i).join("") }, { kind: "new", text: second.slice(j).join("") }];
}

export function wordDiff(one: string, other: string): Piece[] {
  const first = words(one);
  const second = words(other);
  let start = 0;
  while (start < first.length && start < second.length && first[start] === second[start]) start += 1;
  let end = 0;
  while (end < first.length - start && end < second.length - start && first.at(-1 - end) === second.at(-1 - end)) end += 1;
  return joined([
    { kind: "same", text: first.slice(0, start).join("") },
    ...middle(first.slice(start, first.length - end), second.slice(start, second.length - end)),
    { kind: "same", text: first.slice(first.length - end).join("") },
  ]);
}
