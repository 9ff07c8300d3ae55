/** Ticked runs, the oldest first, which is the baseline of the others; `listed` are those of the page, the newest first. */
export function oldestFirst(ticked: readonly string[], listed: readonly string[]): string[] {
  return ticked.toSorted((a, b) => {
    const [one, other] = [listed.indexOf(a), listed.indexOf(b)];
    // Of those on another page the ids tell: they begin with the time at which a run was started.
    return one >= 0 && other >= 0 ? other - one : a < b ? -1 : 1;
  });
}
