/** Which rows of the grid are shown, and how a cell looks. */
import type { GridCell, GridRow } from "../../api/answers";

export interface GridFilter {
  /** Part of the case, its benchmark, its group or its input. */
  text: string;
  /** "flips", "failing", "passing", a status of an execution, or "" for all. */
  show: string;
  group: string;
}

export function share(cell: GridCell | null): number | null {
  return cell === null || cell.tries === 0 ? null : cell.passed / cell.tries;
}

/** 0 (never passed) to 4 (always): the step of its colour. */
export function level(cell: GridCell | null): number | null {
  const part = share(cell);
  if (part === null) return null;
  if (part === 0 || part === 1) return part * 4;
  return part < 0.4 ? 1 : part <= 0.6 ? 2 : 3;
}

function shows(row: GridRow, show: string): boolean {
  const last = row.cells.findLast((cell) => cell !== null) ?? null;
  if (show === "") return true;
  if (show === "flips") return row.flips > 0;
  if (show === "failing") return (share(last) ?? 1) < 1;
  if (show === "passing") return share(last) === 1;
  return row.cells.some((cell) => cell !== null && (cell.statuses[show] ?? 0) > 0);
}

export function filtered(rows: readonly GridRow[], { text, show, group }: GridFilter): GridRow[] {
  const wanted = text.trim().toLowerCase();
  return rows.filter(
    (row) =>
      shows(row, show) &&
      (group === "" || row.group === group) &&
      [row.case_id, row.benchmark, row.group ?? "", row.input].join("\n").toLowerCase().includes(wanted),
  );
}

/** The groups that cases are in, each once. */
export function groupsOf(rows: readonly GridRow[]): string[] {
  return [...new Set(rows.map((row) => row.group).filter((group) => group !== null && group !== ""))].sort() as string[];
}
