/** Light or dark: the system's choice until somebody makes another, which is remembered on this machine. */
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const listeners = new Set<() => void>();
const system = window.matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  try {
    const stored = localStorage.getItem("theme");
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    return null;
  }
}

function current(): Theme {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

function apply(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  for (const listener of listeners) listener();
}

system.addEventListener("change", () => chosen() === null && apply(system.matches ? "dark" : "light"));

// Paper is white: charts are drawn for it, and as before when it is printed.
let onScreen: Theme | null = null;
window.addEventListener("beforeprint", () => {
  onScreen ??= current();
  apply("light");
});
window.addEventListener("afterprint", () => {
  apply(onScreen ?? current());
  onScreen = null;
});

/** Whether the page is on its way to paper: pictures have to be ready at once. */
export function isPrinting(): boolean {
  return onScreen !== null;
}

export function useTheme(): [Theme, () => void] {
  const theme = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    current,
  );
  const toggle = (): void => {
    const next: Theme = theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", next);
    } catch {
      // A browser that keeps nothing still switches for as long as the page is open.
    }
    apply(next);
  };
  return [theme, toggle];
}
