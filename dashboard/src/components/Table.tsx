import { Fragment, useMemo } from "react";
import type { ReactElement, ReactNode } from "react";
import { useQueryParam } from "../router";

export type Sortable = string | number | null | undefined;

export interface Column<R> {
  key: string;
  label: string;
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
  /** What stands below a row over its whole width; null shows nothing. */
  expanded?: (row: R) => ReactNode;
}

function compare(a: Sortable, b: Sortable, sign: number): number {
  const unknown = (value: Sortable): boolean => value === null || value === undefined || Number.isNaN(value);
  if (unknown(a) || unknown(b)) return Number(unknown(a)) - Number(unknown(b));
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

/** A table whose order is part of the address. j and k walk its rows; on a narrow screen each row becomes a card. */
export function Table<R>(props: TableProps<R>): ReactElement {
  const { caption, columns, rows, rowKey, rowClass, sortParam = "sort", defaultSort = "", showCaption } = props;
  const { empty, expanded } = props;
  const [sort, setSort] = useQueryParam(sortParam, defaultSort);
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
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div className="table-wrap" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption className={showCaption ? undefined : "visually-hidden"}>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                title={column.title}
                className={column.align === "right" ? "right" : undefined}
                aria-sort={column.value && column.key === sortKey ? (descending ? "descending" : "ascending") : undefined}
              >
                {column.value ? (
                  <button type="button" className="sort" onClick={() => turn(column)}>
                    {column.label}
                    <span aria-hidden="true">{column.key === sortKey ? (descending ? " ↓" : " ↑") : ""}</span>
                  </button>
                ) : (
                  column.label
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row, index) => {
            const below = expanded?.(row);
            return (
              <Fragment key={rowKey(row, index)}>
                <tr className={rowClass?.(row, index)} data-row tabIndex={-1}>
                  {columns.map((column) => (
                    <td key={column.key} data-label={column.label} className={column.align === "right" ? "right" : undefined}>
                      {column.render(row, index)}
                    </td>
                  ))}
                </tr>
                {below && (
                  <tr className="below">
                    <td colSpan={columns.length}>{below}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
