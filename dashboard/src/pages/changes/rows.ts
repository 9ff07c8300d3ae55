import { address } from "../../address";
import type { ChangeRow } from "../../api/answers";

/** A row's name in the address. */
export function idOf(row: ChangeRow): string {
  return `${row.name} ${row.suite_id}`;
}

/** The history that a row's verdict rests on, else that of its sparkline. */
export function historyOf(row: ChangeRow): string {
  const { finding, spark } = row;
  const metric = finding?.metric ?? spark?.metric;
  return address("/history", { subject: row.name, metric, suite: row.suite_id, benchmark: finding?.benchmark });
}
