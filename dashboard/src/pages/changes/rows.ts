import { address } from "../../address";
import type { CaseKey, ChangeRow } from "../../api/answers";

/** A row's name in the address. */
export function idOf(row: ChangeRow): string {
  return `${row.name} ${row.suite_id}`;
}

/** The history of a metric: unless one is named, of what the row found there, else of its sparkline. */
export function historyOf(row: ChangeRow, metric = row.finding?.metric ?? row.spark?.metric): string {
  const { finding } = row;
  return address("/history", { subject: row.name, metric, suite: row.suite_id, benchmark: finding?.benchmark });
}

const NAMED = 3;

/** The first names of cases, and how many there are beside them. */
export function namesOf(keys: readonly CaseKey[]): string {
  const named = keys.slice(0, NAMED).map((key) => key.case_id).join(", ");
  return keys.length > NAMED ? `${named} and ${keys.length - NAMED} more` : named;
}
