import { Fragment, useMemo, useRef, useState } from "react";
import type { ReactElement, ReactNode } from "react";
import { useListed } from "../hooks/useListed";
import { useQueryParam } from "../router";
import { count } from "../format";
import { saveTable } from "./csv";

export type Sortable = string | number | null | undefined;

export interface Column<R> {
  key: string;
  label: string;
  /** The heading, where it is more than its label: the name of an agent breaks before its version. */
  heading?: ReactNode;
  render: (row: R, index: number) => ReactNode;
  /** What to sort by; a column without it cannot be sorted. Unknown values come last in either direction. */
  value?: (row: R) => Sortable;
  /** "right" for numbers. */
  align?: "left" | "right";
  /** Explains the heading. */
  title?: string;
  /** The direction of the first click; numbers usually want "descending". */
  first?: "ascending" | "descending";
}

interface TableProps<R> {
  caption: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  rowKey: (row: R, index: number) => string;
  rowClass?: (row: R, index: number) => string | undefined;
  /** The name in the address under which the sort order is kept; two tables on one page need two names. */
  sortParam?: string;
  /** "key" or "-key"; without it rows stay in the order given. */
  defaultSort?: string;
  /** Shows the caption; it is there for screen readers in any case. */
  showCaption?: boolean;
  empty?: ReactNode;
  /** On a narrow screen a row is one line, of the columns with these two keys; the others are behind a button. */
  compact?: readonly [first: string, second: string];
  /** What stands below a row over its whole width; null shows nothing. */
  expanded?: (row: R) => ReactNode;
}

function compare(a: Sortable, b: Sortable, sign: number): number {
  const unknown = (value: Sortable): boolean => value === null || value === undefined || Number.isNaN(value);
  if (unknown(a) || unknown(b)) return Number(unknown(a)) - Number(unknown(b));
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Rows that are drawn at first: a browser takes many seconds for ten thousand. */
const FIRST_ROWS = 500;
const TIMES = 4;

interface MoreRowsProps {
  shown: number;
  all: number;
  caption: string;
  onMore: () => void;
}

/** Says that a table goes on, so that nobody takes its part for the whole. */
function MoreRows({ shown, all, caption, onMore }: MoreRowsProps): ReactElement {
  return (
    <p className="row">
      <span className="muted">
        The first {count(shown)} of {count(all)} rows.
      </span>
      <button type="button" onClick={onMore}>
        Show {count(Math.min(shown * (TIMES - 1), all - shown))} more<span className="visually-hidden"> of {caption}</span>
      </button>
    </p>
  );
}

/** A table whose order is part of the address. j and k walk its rows; on a narrow screen each row becomes a card. */
export function Table<R>(props: TableProps<R>): ReactElement {
  const { caption, columns, rows, rowKey, rowClass, sortParam = "sort", defaultSort = "", showCaption } = props;
  const { empty, expanded, compact } = props;
  const [sorting, setSorting] = useState(false);
  const [opened, turnRow] = useListed(sortParam === "sort" ? "more" : `${sortParam}_more`);
  const table = useRef<HTMLTableElement>(null);
  const [sort, setSort] = useQueryParam(sortParam, defaultSort);
  const [asked, setAsked] = useQueryParam(sortParam === "sort" ? "rows" : `${sortParam}_rows`);
  const most = Math.max(FIRST_ROWS, Number(asked) || 0);
  const descending = sort.startsWith("-");
  const sortKey = descending ? sort.slice(1) : sort;
  const sorted = useMemo(() => {
    const by = columns.find((column) => column.key === sortKey)?.value;
    return by ? rows.toSorted((a, b) => compare(by(a), by(b), descending ? -1 : 1)) : rows;
  }, [rows, columns, sortKey, descending]);

  const turn = (column: Column<R>): void => {
    const down = column.key === sortKey ? !descending : column.first === "descending";
    setSort(down ? `-${column.key}` : column.key);
  };
  const classOf = (column: Column<R>): string | undefined =>
    [column.align === "right" && "right", compact?.includes(column.key) && "lead"].filter(Boolean).join(" ") || undefined;
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <>
    {rows.length > 1 && columns.some((column) => column.value) && (
      <button type="button" className="quiet sort-button" aria-expanded={sorting} onClick={() => setSorting(!sorting)}>
        Sort<span className="visually-hidden"> {caption}</span>
      </button>
    )}
    <div className="table-wrap" role="region" aria-label={caption} tabIndex={0}>
      <table ref={table} className={[compact && "compact", sorting && "sorting"].filter(Boolean).join(" ") || undefined}>
        <caption className={showCaption ? undefined : "visually-hidden"}>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                title={column.title}
                className={classOf(column)}
                aria-sort={column.value && column.key === sortKey ? (descending ? "descending" : "ascending") : undefined}
              >
                {column.value ? (
                  <button type="button" className="sort" onClick={() => turn(column)}>
                    {column.heading ?? column.label}
                    <span aria-hidden="true">{column.key === sortKey ? (descending ? "\u00a0↓" : "\u00a0↑") : ""}</span>
                  </button>
                ) : (
                  (column.heading ?? column.label)
                )}
              </th>
            ))}
            {compact && <th className="more" scope="col">Details</th>}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, most).map((row, index) => {
            const below = expanded?.(row);
            const key = rowKey(row, index);
            const open = opened.has(key);
            return (
              <Fragment key={key}>
                <tr className={[rowClass?.(row, index), open && "open"].filter(Boolean).join(" ") || undefined} data-row tabIndex={-1}>
                  {columns.map((column) => (
                    <td key={column.key} data-label={column.label} className={classOf(column)}>
                      {column.render(row, index)}
                    </td>
                  ))}
                  {compact && (
                    <td className="more">
                      <button type="button" className="quiet" aria-expanded={open} onClick={() => turnRow(key, !open)}>
                        {open ? "Less" : "More"}
                      </button>
                    </td>
                  )}
                </tr>
                {below && (
                  <tr className="below">
                    <td colSpan={columns.length + Number(compact !== undefined)}>{below}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
    {rows.length > most && <MoreRows shown={most} all={rows.length} caption={caption} onMore={() => setAsked(String(most * TIMES))} />}
    {rows.length > 0 && (
      <div className="table-tools">
        <button type="button" className="quiet" aria-label={`Save as CSV: ${caption}`} onClick={() => saveTable(table.current, caption)}>
          CSV
        </button>
      </div>
    )}
    </>
  );
}
