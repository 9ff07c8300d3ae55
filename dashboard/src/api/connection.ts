/** Whether the server answers; the layout shows it. */
import { useSyncExternalStore } from "react";

let trouble = "";
const listeners = new Set<() => void>();

/** Why nothing can be read at present, as a sentence; "" when all is well. */
export function setTrouble(next: string): void {
  if (next === trouble) return;
  trouble = next;
  for (const listener of listeners) listener();
}

export function useTrouble(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => trouble,
  );
}
