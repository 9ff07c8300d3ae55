/** Whether the server answers; the layout shows it. */
import { useSyncExternalStore } from "react";

export type Connection = "up" | "down";

let state: Connection = "up";
const listeners = new Set<() => void>();

export function setConnection(next: Connection): void {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
}

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}
