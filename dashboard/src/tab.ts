/** The browser's tab: its title and icon carry the verdict, so that one look at the tab bar is enough. */
import { useEffect } from "react";
import type { ChangeVerdict, Changes } from "./api/answers";

interface TabState {
  title?: string | undefined;
  verdict?: ChangeVerdict | undefined;
  note?: string | undefined;
}

const SIGNS: Record<ChangeVerdict, string> = { worse: "▼", better: "▲", same: "=", inconclusive: "~", "no-baseline": "" };
let state: TabState = {};

function show(): void {
  const sign = state.verdict ? SIGNS[state.verdict] : "";
  const note = state.verdict === "worse" ? (state.note ?? "") : "";
  const front = [sign, note].filter(Boolean).join(" ");
  document.title = [front, state.title, "agentdyno"].filter(Boolean).join(" · ");
  const icon = document.getElementById("icon");
  const name = state.verdict && state.verdict !== "no-baseline" ? state.verdict : "none";
  icon?.setAttribute("href", `/icons/${name}.svg`);
}

/** Sets what is given and leaves the rest of the tab as it is. */
export function useTabState(next: TabState): void {
  const { title, verdict, note } = next;
  useEffect(() => {
    state = { ...state, ...(title !== undefined && { title }), ...(verdict !== undefined && { verdict, note }) };
    show();
  }, [title, verdict, note]);
}

/** The one thing to know: how many are worse, else how many nobody can tell, else that all is quiet. */
export function headline(changes: Changes | undefined): { verdict: ChangeVerdict; text: string } | null {
  if (!changes) return null;
  const { worse = 0, inconclusive = 0, better = 0, same = 0 } = changes.counts;
  if (worse > 0) return { verdict: "worse", text: `${worse} worse` };
  if (inconclusive > 0) return { verdict: "inconclusive", text: `${inconclusive} undecided` };
  if (better > 0) return { verdict: "better", text: `${better} better` };
  if (same > 0) return { verdict: "same", text: "nothing changed" };
  return null;
}
