/** The history of a metric as a chart: a point per run, levels as steps, changes with a shape and a colour each. */
import type { History, HistoryChange, HistoryPoint } from "../../api/answers";
import type { ChartOption } from "../../components";
import { dateTime, percent, plural, signed } from "../../format";
import type { Palette } from "../../palette";
import { casesText } from "../../shared/cases";
import { measured } from "../../shared/units";

/** Versions that get a colour of their own; with more of them one colour stands for all. */
const MOST_VERSIONS = 7;

/** Triangles and diamonds are for changes. */
const SYMBOLS = ["circle", "rect", "emptyCircle", "emptyRect", "roundRect", "pin", "emptyRoundRect"] as const;

export interface Level {
  from: number;
  to: number;
  value: number;
  /** Where a drift ends; `value` is where it begins. */
  end?: number;
  /** False where the change that began it may still be withdrawn. */
  confirmed: boolean;
}

export function shown(value: number | null, history: History): string {
  return measured(value, history.unit);
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** Where the series stands, with its interval, and its drift. */
export function standing(history: History): string {
  const { now, drift, higher_is_better: higher } = history;
  if (!now) return "";
  const ends = now.low === null || now.high === null || now.low === now.high ? "" : ` [${shown(now.low, history)}, ${shown(now.high, history)}]`;
  const level = `Now ${shown(now.value, history)}${ends}${now.confirmed ? "" : ", provisional"}.`;
  if (!drift) return level;
  const up = drift.after > drift.before;
  const word = higher === null ? "" : up === higher ? ": better" : ": worse";
  const move = `${shown(drift.before, history)} → ${shown(drift.after, history)}`;
  return `${level} Drift: ${up ? "rises" : "falls"} steadily, ${move}${word}.`;
}

/** The stretches between changes with their medians, then the drift; each reaches to the first point of the next. */
export function levels(history: History): Level[] {
  const { points, drift } = history;
  const stop = drift ? drift.index : points.length;
  const flat = stretches(history, stop);
  const first = points[stop];
  const last = points[points.length - 1];
  if (!drift || !first || !last) return flat;
  return [...flat, { from: first.at, to: last.at, value: drift.before, end: drift.after, confirmed: true }];
}

function stretches(history: History, stop: number): Level[] {
  const { points } = history;
  const changes = history.changes.filter((change) => change.index < stop);
  const starts = [0, ...changes.map((change) => change.index)];
  return starts.flatMap((start, place) => {
    const end = starts[place + 1] ?? stop;
    const from = points[start];
    const to = points[end] ?? points[points.length - 1];
    if (!from || !to || end <= start) return [];
    const value = median(points.slice(start, end).map((point) => point.value));
    return [{ from: from.at, to: to.at, value, confirmed: changes[place - 1]?.confirmed ?? true }];
  });
}

/** What a change is for the subject; one that says nothing about it is "other". */
export function direction(change: HistoryChange): "better" | "worse" | "other" {
  if (!change.comparable || change.better === null) return "other";
  return change.better ? "better" : "worse";
}

export const DIRECTION_WORDS = { better: "improvement", worse: "regression", other: "not judged" } as const;

export function changeText(change: HistoryChange, history: History): string {
  const size = change.relative === null ? "" : ` (${signed(percent(change.relative))})`;
  const word = `${change.confirmed ? "" : "provisional "}${DIRECTION_WORDS[direction(change)]}`;
  return `${word}: ${shown(change.before, history)} → ${shown(change.after, history)}${size}`;
}

/** " [61.0, 100.0]", or nothing where the scatter of a run is not known. */
export function intervalText({ low, high }: HistoryPoint, history: History): string {
  return low === null || high === null ? "" : ` [${shown(low, history)}, ${shown(high, history)}]`;
}

interface Dot {
  value: [number, number];
  point: HistoryPoint;
}

function dotText(point: HistoryPoint, history: History): string {
  const lines = [`${shown(point.value, history)}${intervalText(point, history)}  ${history.metric}`, dateTime(point.at)];
  if (point.version) lines.push(`version ${point.version}`);
  if (point.form) lines.push(`${point.form} run, not the whole suite`);
  if (point.commit) lines.push(`commit ${point.commit.slice(0, 12)}`);
  const cases = casesText(point);
  lines.push(cases ? `${plural(point.n, "execution")}, of ${cases} cases` : plural(point.n, "execution"));
  if (point.run_id) lines.push("Click for the run");
  return lines.join("\n");
}

function dots(history: History): object[] {
  const versions = [...new Set(history.points.map((point) => point.version))];
  const apart = versions.length <= MOST_VERSIONS;
  const groups = apart ? versions : [""];
  return groups.map((version, place) => ({
    name: apart ? version || "runs" : `${versions.length} versions`,
    type: "scatter",
    symbol: SYMBOLS[place % SYMBOLS.length],
    symbolSize: 9,
    z: 3,
    data: history.points
      .filter((point) => !apart || point.version === version)
      .map((point): Dot => ({ value: [point.at, point.value], point })),
    tooltip: { formatter: (hit: { data: Dot }) => dotText(hit.data.point, history) },
  }));
}

/** A thin line up and down through each point whose scatter is known: its 95 % interval. */
function whiskers(history: History, colours: Palette): object[] {
  const data = history.points.flatMap(({ at, low, high }) => (low === null || high === null ? [] : [[at, low], [at, high], [at, null]]));
  if (data.length === 0) return [];
  return [
    {
      name: "95 % interval of a run",
      type: "line",
      symbol: "none",
      silent: true,
      z: 1,
      data,
      lineStyle: { color: colours.muted, width: 1.5 },
      itemStyle: { color: colours.muted },
      tooltip: { show: false },
    },
  ];
}

function steps(history: History, colours: Palette): object[] {
  const lines = levels(history);
  return [true, false].flatMap((confirmed) => {
    const data = lines
      .filter((level) => level.confirmed === confirmed)
      .flatMap((level) => [
        [level.from, level.value],
        [level.to, level.end ?? level.value],
        [level.to, null],
      ]);
    if (data.length === 0) return [];
    return [
      {
        name: confirmed ? "median" : "median, provisional",
        type: "line",
        symbol: "none",
        silent: true,
        z: 2,
        data,
        lineStyle: { color: colours.text, width: 2, type: confirmed ? "solid" : "dashed" },
        itemStyle: { color: colours.text },
        tooltip: { show: false },
      },
    ];
  });
}

const MARKS = {
  worse: "path://M0 0H10L5 9Z",
  better: "path://M0 9H10L5 0Z",
  other: "diamond",
} as const;

function marks(history: History, colours: Palette): object[] {
  return (["worse", "better", "other"] as const).flatMap((kind) => {
    const changes = history.changes.filter((change) => direction(change) === kind);
    if (changes.length === 0) return [];
    const colour = kind === "other" ? colours.muted : colours[kind];
    return [
      {
        name: DIRECTION_WORDS[kind],
        type: "scatter",
        symbolSize: [18, 16],
        z: 4,
        symbol: MARKS[kind],
        itemStyle: { color: colour, borderColor: colours.surface, borderWidth: 1 },
        data: changes.map((change) => ({
          value: [change.at, change.after],
          point: history.points[change.index],
          change,
          itemStyle: change.confirmed
            ? undefined
            : { color: colours.surface, borderColor: colour, borderWidth: 2, borderType: "dashed" },
        })),
        tooltip: {
          formatter: (hit: { data: { change: HistoryChange } }) => {
            const { change } = hit.data;
            return [changeText(change, history), dateTime(change.at), change.cause].filter(Boolean).join("\n");
          },
        },
      },
    ];
  });
}

export interface VersionBand {
  version: string;
  from: number;
  to: number;
}

/** Stretches of runs of one version, each up to the first run of the next. */
export function versionBands(points: readonly HistoryPoint[]): VersionBand[] {
  const bands: VersionBand[] = [];
  for (const point of points) {
    const last = bands.at(-1);
    if (last) last.to = point.at;
    if (!last || last.version !== point.version) bands.push({ version: point.version, from: point.at, to: point.at });
  }
  return bands.length > 1 ? bands : [];
}

/** Every other version on a shade, each with its name on top; too many of them would be a wall of names. */
function bandsOf(history: History, colours: Palette): object[] {
  const bands = versionBands(history.points);
  if (bands.length === 0 || bands.length > 2 * MOST_VERSIONS) return [];
  const data = bands.map((band, index) => [
    {
      name: band.version || "no version",
      xAxis: band.from,
      itemStyle: { color: index % 2 === 0 ? "transparent" : colours.line, opacity: 0.35 },
    },
    { xAxis: band.to },
  ]);
  const label = { color: colours.muted, position: "insideTop", fontSize: 11, overflow: "truncate", width: 90 };
  return [{ name: "versions", type: "line", data: [], silent: true, z: 0, markArea: { silent: true, data, label } }];
}

/** Where the series stands now, as a stripe as high as its 95 % interval; and a line up at each change of level. */
function intervalAndChanges(history: History, colours: Palette): object[] {
  const { now, points, changes } = history;
  const from = points[changes.at(-1)?.index ?? 0]?.at;
  const to = points.at(-1)?.at;
  const found: object[] = [];
  if (now && now.low !== null && now.high !== null && from !== undefined && to !== undefined && now.high > now.low) {
    found.push({
      name: "95 % interval of the level",
      type: "line",
      data: [],
      silent: true,
      itemStyle: { color: colours.accent, opacity: 0.3 },
      lineStyle: { color: colours.accent, width: 8, opacity: 0.3 },
      markArea: { silent: true, itemStyle: { color: colours.accent, opacity: 0.12 }, data: [[{ coord: [from, now.low] }, { coord: [to, now.high] }]] },
    });
  }
  if (changes.length > 0) {
    const data = changes.map((change) => {
      const kind = direction(change);
      return { xAxis: change.at, lineStyle: { color: kind === "other" ? colours.muted : colours[kind], type: change.confirmed ? "solid" : "dashed" } };
    });
    found.push({ name: "changes", type: "line", data: [], silent: true, markLine: { silent: true, symbol: "none", label: { show: false }, data } });
  }
  return found;
}

/** The metric with its unit, as the axis says it. */
export function axisName(history: History): string {
  const { metric, unit } = history;
  if (unit === "ratio" || unit === "score") return `${metric}, points of a hundred`;
  const words: Record<string, string> = { s: "time", usd: "US dollars", bytes: "memory" };
  return unit ? `${metric}, ${words[unit] ?? unit}` : metric;
}

export function timelineOption(history: History, colours: Palette): ChartOption {
  const baseline = history.baseline;
  const drawn = [...whiskers(history, colours), ...dots(history), ...steps(history, colours), ...marks(history, colours)];
  const series = [...bandsOf(history, colours), ...intervalAndChanges(history, colours), ...drawn];
  const legend = series.map((item) => (item as { name: string }).name).filter((name) => name !== "versions" && name !== "changes");
  if (baseline !== null) {
    series.push({
      name: "baseline",
      type: "line",
      data: [],
      lineStyle: { color: colours.accent, type: "dotted" },
      itemStyle: { color: colours.accent },
      markLine: {
        silent: true,
        symbol: "none",
        data: [{ yAxis: baseline }],
        lineStyle: { color: colours.accent, type: "dotted", width: 2 },
        label: { formatter: `baseline ${shown(baseline, history)}`, position: "insideEndTop", color: colours.accent },
      },
    });
  }
  return {
    legend: { type: "scroll", top: 0, data: baseline === null ? legend : [...legend, "baseline"] },
    grid: { left: 26, right: 16, top: 40, bottom: 76, containLabel: true },
    xAxis: { type: "time", name: "when the run ended", nameLocation: "middle", nameGap: 26 },
    yAxis: { type: "value", scale: true, name: axisName(history), nameLocation: "middle", nameGap: 52, axisLabel: { formatter: (value: number) => shown(value, history) } },
    dataZoom: [
      { type: "inside", filterMode: "none", zoomOnMouseWheel: "shift" },
      { type: "slider", filterMode: "none", height: 22, bottom: 8, textStyle: { color: colours.muted } },
    ],
    series,
  };
}
