/** The key of this tab. It is kept until the tab is closed and sent to no other server. */
import { useSyncExternalStore } from "react";

const NAME = "key";
const listeners = new Set<() => void>();
let generation = 0;

export function readKey(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}

export function writeKey(key: string | null): void {
  if (key) sessionStorage.setItem(NAME, key);
  else sessionStorage.removeItem(NAME);
  generation += 1;
  for (const listener of listeners) listener();
}

/** Grows whenever the key changes, so that what was refused can be asked again. */
export function useKeyGeneration(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => generation,
  );
}
