import { count } from "../format";

/** "30", or "28/30" where some have no score: the cases that an accuracy is of. Nothing where that is not known. */
export function casesText(entry: { scored: number; cases: number }): string {
  if (entry.cases === 0) return "";
  return entry.scored >= entry.cases ? count(entry.cases) : `${count(entry.scored)}/${count(entry.cases)}`;
}
