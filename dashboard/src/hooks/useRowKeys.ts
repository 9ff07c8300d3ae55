import { useKeys } from "./useKeys";

function walk(event: KeyboardEvent): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at];
  if (event.key === "Enter" && row && row === document.activeElement) {
    (row.querySelector<HTMLElement>("[data-open]") ?? row.querySelector<HTMLElement>("a[href], button"))?.click();
  }
  if (event.key !== "j" && event.key !== "k") return;
  const next = event.key === "j" ? Math.min(at + 1, rows.length - 1) : Math.max(at - 1, 0);
  rows[next]?.focus();
  rows[next]?.scrollIntoView({ block: "nearest" });
}

/** j and k move the focus to the next and the previous element with `data-row`; Enter clicks what has `data-open` in it, else its
 * first link. */
export function useRowKeys(): void {
  useKeys(walk);
}
