import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { useEffect, useId, useRef, useState } from "react";
import type { ReactElement, ReactNode } from "react";
import { saveTable } from "./csv";
import { palette } from "../palette";
import { useListed } from "../hooks/useListed";
import { isPrinting, useTheme } from "../theme";
import type { Palette } from "../palette";

export type ChartOption = EChartsCoreOption;

export interface ChartTable {
  columns: readonly string[];
  rows: readonly (readonly ReactNode[])[];
}

/** What ECharts tells about a click; `data` is the item as the option gave it. */
export interface ChartClick {
  seriesName?: string;
  seriesIndex?: number;
  dataIndex: number;
  name: string;
  data: unknown;
}

interface ChartProps {
  title: string;
  /** One or two sentences with the numbers that matter, for those who do not see the picture. */
  description: string;
  /** Made anew when the theme changes. Text, axes and tooltip get the theme's colours unless the option has its own. */
  option: (colours: Palette) => ChartOption;
  /** The same numbers as a table. */
  table: ChartTable;
  /** Pixels. */
  height?: number;
  onClick?: (click: ChartClick) => void;
  children?: ReactNode;
}

type Part = Record<string, unknown>;

function themedAxis(axis: unknown, colours: Palette): unknown {
  if (axis === undefined) return undefined;
  if (Array.isArray(axis)) return axis.map((item) => themedAxis(item, colours));
  const given = axis as Part;
  return {
    ...given,
    nameTextStyle: { color: colours.muted, ...(given.nameTextStyle as Part) },
    axisLabel: { color: colours.muted, hideOverlap: true, ...(given.axisLabel as Part) },
    axisLine: { lineStyle: { color: colours.line }, ...(given.axisLine as Part) },
    splitLine: { lineStyle: { color: colours.line }, ...(given.splitLine as Part) },
  };
}

function themed(option: ChartOption, colours: Palette): ChartOption {
  const given = option as Part;
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const result: Part = {
    color: colours.series,
    backgroundColor: "transparent",
    animation: !still && !isPrinting(),
    animationDuration: 200,
    ...given,
    textStyle: { color: colours.text, fontFamily: "system-ui, sans-serif", ...(given.textStyle as Part) },
    // Tooltips as HTML carry style attributes, which the Content-Security-Policy forbids.
    tooltip: {
      trigger: "item",
      backgroundColor: colours.surface,
      borderColor: colours.line,
      confine: true,
      ...(given.tooltip as Part),
      textStyle: { color: colours.text, fontSize: 12 },
      renderMode: "richText",
    },
  };
  if (given.legend !== undefined) {
    result.legend = { textStyle: { color: colours.text }, type: "plain", itemWidth: 16, itemHeight: 10, ...(given.legend as Part) };
  }
  for (const axis of ["xAxis", "yAxis"]) if (given[axis] !== undefined) result[axis] = themedAxis(given[axis], colours);
  return result;
}

function TableView({ title, table }: { title: string; table: ChartTable }): ReactElement {
  const place = useRef<HTMLTableElement>(null);
  return (
    <div className="table-wrap" role="region" aria-label={title} tabIndex={0}>
      <table ref={place}>
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) => (
                <td key={place} data-label={table.columns[place]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div className="table-tools chart-tools">
        <button type="button" className="quiet" aria-label={`Save as CSV: ${title}`} onClick={() => saveTable(place.current, title)}>
          CSV
        </button>
      </div>
    </div>
  );
}

/** A chart that follows size and theme, says in words what it shows, and can be read as a table. */
export function Chart(props: ChartProps): ReactElement {
  const { title, description, option, table, height = 340, onClick, children } = props;
  const [theme] = useTheme();
  const [tables, turn] = useListed("tables");
  const [failed, setFailed] = useState(false);
  const asTable = failed || tables.has(title);
  const [chart, setChart] = useState<EChartsType | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const clicked = useRef(onClick);
  clicked.current = onClick;
  const id = useId();

  useEffect(() => {
    const element = place.current;
    if (!element || asTable) return;
    let made: EChartsType | null = null;
    let gone = false;
    const observer = new ResizeObserver(() => made?.resize());
    import("./echarts").then(({ init }) => {
      if (gone) return;
      made = init(element);
      made.on("click", (event) => clicked.current?.(event as unknown as ChartClick));
      observer.observe(element);
      setChart(made);
    }, () => setFailed(true));
    return () => {
      gone = true;
      observer.disconnect();
      made?.dispose();
      setChart(null);
    };
  }, [asTable]);

  useEffect(() => {
    if (!chart || chart.isDisposed()) return;
    const colours = palette();
    chart.setOption(themed(option(colours), colours), { notMerge: true });
    if (isPrinting()) chart.getZr().flush();
  }, [chart, option, theme]);

  return (
    <figure className="chart" aria-labelledby={`${id}-title`}>
      <figcaption>
        <span id={`${id}-title`} className="chart-title">
          {title}
        </span>
        <button type="button" className="quiet" aria-pressed={asTable} onClick={() => {
            setFailed(false);
            turn(title, !asTable);
          }}>
          {asTable ? "Show as chart" : "Show as table"}
        </button>
      </figcaption>
      {children}
      {asTable ? (
        <TableView title={title} table={table} />
      ) : (
        <div ref={place} className="chart-canvas" style={{ height }} role="img" aria-label={`${title}. ${description}`} />
      )}
    </figure>
  );
}
