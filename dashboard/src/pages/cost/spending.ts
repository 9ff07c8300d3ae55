/** What was spent on each day, as a chart of stacked bars. */
import type { SpendItem } from "../../api/answers";
import type { ChartOption } from "../../components";
import { count, date, moneySum, plural } from "../../format";
import type { Palette } from "../../palette";

export type By = "agent" | "model";
export type Spent = "dollars" | "tokens";

/** Names that get a bar of their own; what others spent is one bar. */
const MOST_NAMES = 7;
export const OTHERS = "others";
export const NO_MODEL = "no model named";

export interface SpentDay {
  day: number;
  /** By name: dollars or tokens that are known. */
  sums: ReadonlyMap<string, number>;
  executions: number;
  /** How many of them have a known sum. */
  known: number;
}

const nameOf = (item: SpendItem, by: By): string => (by === "agent" ? item.agent : item.model || NO_MODEL);
const sumOf = (item: SpendItem, spent: Spent): number | null => (spent === "dollars" ? item.cost_usd : item.tokens);

/** The names by what they spent, the most first; those behind the seventh are together. */
export function namesOf(items: readonly SpendItem[], by: By, spent: Spent): string[] {
  const sums = new Map<string, number>();
  for (const item of items) {
    const name = nameOf(item, by);
    const sum = sumOf(item, spent);
    if (sum !== null) sums.set(name, (sums.get(name) ?? 0) + sum);
  }
  const ordered = [...sums.keys()].toSorted((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0));
  return ordered.length > MOST_NAMES + 1 ? [...ordered.slice(0, MOST_NAMES), OTHERS] : ordered;
}

export function daysOf(items: readonly SpendItem[], by: By, spent: Spent): SpentDay[] {
  const names = new Set(namesOf(items, by, spent));
  const days = new Map<number, { day: number; sums: Map<string, number>; executions: number; known: number }>();
  for (const item of items) {
    const own = days.get(item.day) ?? { day: item.day, sums: new Map<string, number>(), executions: 0, known: 0 };
    days.set(item.day, own);
    own.executions += item.executions;
    own.known += spent === "dollars" ? item.priced : item.counted;
    const sum = sumOf(item, spent);
    if (sum === null) continue;
    const name = names.has(nameOf(item, by)) ? nameOf(item, by) : OTHERS;
    own.sums.set(name, (own.sums.get(name) ?? 0) + sum);
  }
  return [...days.values()];
}

export function spentText(value: number | null | undefined, spent: Spent): string {
  return spent === "dollars" ? moneySum(value) : value === null || value === undefined ? "—" : plural(value, "token");
}

/** "all 12 executions", or of how many the sum is known. */
export function knownText({ executions, known }: SpentDay): string {
  return known === executions ? `all ${count(executions)}` : `${count(known)} of ${count(executions)}`;
}

/** UTC, as the sums are. */
export const dayText = (day: number): string => new Date(day).toISOString().slice(0, 10) || date(day);

export function spendingOption(items: readonly SpendItem[], by: By, spent: Spent, colours: Palette): ChartOption {
  const days = daysOf(items, by, spent);
  return {
    legend: { type: "scroll", top: 0 },
    grid: { left: 26, right: 16, top: 40, bottom: 34, containLabel: true },
    xAxis: { type: "category", name: "day (UTC)", nameLocation: "middle", nameGap: 24, data: days.map(({ day }) => dayText(day)) },
    yAxis: {
      type: "value",
      name: spent === "dollars" ? "US dollars" : "tokens",
      nameTextStyle: { color: colours.muted },
      axisLabel: { formatter: (value: number) => (spent === "dollars" ? `$${value.toLocaleString("en", { maximumSignificantDigits: 3 })}` : count(value)) },
    },
    tooltip: { valueFormatter: (value: unknown) => spentText(typeof value === "number" ? value : null, spent) },
    series: namesOf(items, by, spent).map((name) => ({
      name,
      type: "bar",
      stack: "spent",
      barMaxWidth: 42,
      data: days.map(({ sums }) => sums.get(name) ?? 0),
    })),
  };
}
