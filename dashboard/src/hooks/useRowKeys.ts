import { useEffect } from "react";

/** j and k move the focus to the next and the previous element with `data-row`; Enter clicks what has `data-open` in it, else its
 * first link. */
export function useRowKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
      const at = rows.findIndex((row) => row.contains(document.activeElement));
      if (event.key === "Enter" && at >= 0 && rows[at] === document.activeElement) {
        const row = rows[at];
        (row?.querySelector<HTMLElement>("[data-open]") ?? row?.querySelector<HTMLElement>("a[href], button"))?.click();
      }
      if (event.key !== "j" && event.key !== "k") return;
      const next = event.key === "j" ? Math.min(at + 1, rows.length - 1) : Math.max(at - 1, 0);
      rows[next]?.focus();
      rows[next]?.scrollIntoView({ block: "nearest" });
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
