import { useCallback, useMemo } from "react";
import type { ReactElement } from "react";
import type { ArmResult } from "../../../api/answers";
import { Chart, ErrorBox, Loading, Tabs } from "../../../components";
import type { ChartOption } from "../../../components";
import { count, duration, plural } from "../../../format";
import { useQueryParam } from "../../../router";
import type { Palette } from "../../../palette";
import { jitter, spreads, thinned, wantsLog } from "./spread";
import type { Spread } from "./spread";
import { useDurations } from "./useDurations";

const MOST_POINTS = 400;

function optionFor(all: readonly Spread[], log: boolean, colours: Palette): ChartOption {
  const names = all.map((item) => item.name);
  const colour = (index: number): string => colours.series[index % colours.series.length] ?? colours.accent;
  return {
    grid: { left: 8, right: 24, top: 12, bottom: 34, containLabel: true },
    xAxis: {
      type: log ? "log" : "value",
      name: "seconds per execution",
      nameLocation: "middle",
      nameGap: 26,
      scale: true,
      axisLabel: { formatter: (value: number) => duration(value) },
    },
    yAxis: {
      type: "category",
      data: names,
      inverse: true,
      axisLabel: { width: window.innerWidth < 700 ? 110 : 260, overflow: "truncate", hideOverlap: false },
    },
    tooltip: {
      formatter: (item: { seriesType: string; name: string; data: unknown }) => {
        const own = all.find((one) => one.name === item.name);
        if (item.seriesType !== "boxplot" || !own) {
          const [seconds = null] = Array.isArray(item.data) ? (item.data as number[]) : [];
          return duration(seconds);
        }
        const [low, first, middle, third, high] = own.box.map((value) => duration(value));
        return `${own.name}\nmedian ${middle}\nmiddle half ${first} to ${third}\nall ${low} to ${high}\n${plural(own.values.length, "execution")}`;
      },
    },
    series: [
      {
        type: "boxplot",
        data: all.map((item, index) => ({
          name: item.name,
          value: [...item.box],
          itemStyle: { color: "transparent", borderColor: colour(index), borderWidth: 2 },
        })),
        boxWidth: [10, 26],
        z: 3,
      },
      ...all.map((item, index) => ({
        type: "scatter",
        name: item.name,
        data: thinned(item.values, MOST_POINTS).map((value, place) => [value, index, jitter(place)]),
        symbolSize: 5,
        symbolOffset: (data: number[]) => [0, `${Math.round((data[2] ?? 0) * 500)}%`],
        itemStyle: { color: colour(index), opacity: 0.45 },
        z: 2,
      })),
    ],
  };
}

function describe(all: readonly Spread[]): string {
  return all.map((item) => `${item.name}: median ${duration(item.box[2])}, largest ${duration(item.box[4])}`).join("; ");
}

interface DistributionProps {
  runId: string;
  arms: readonly ArmResult[];
  running: boolean;
}

/** How long executions took: every one as a point, the quarters as a box. */
export function Distribution({ runId, arms, running }: DistributionProps): ReactElement | null {
  const samples = useDurations(runId, arms);
  const all = useMemo(() => spreads(samples.items, arms), [samples.items, arms]);
  const [axis, setAxis] = useQueryParam("axis", all.length > 0 && wantsLog(all) ? "log" : "linear");
  const option = useCallback((colours: Palette) => optionFor(all, axis === "log", colours), [all, axis]);
  if (samples.error !== undefined) return <ErrorBox error={samples.error} />;
  if (samples.loading && all.length === 0) return <Loading what="Reading the samples…" />;
  if (all.length === 0) return null;
  const shown = all.reduce((sum, item) => sum + item.values.length, 0);
  return (
    <section aria-labelledby="durations">
      <h2 id="durations">How long it took</h2>
      <Chart
        title="Durations"
        description={describe(all)}
        height={90 + all.length * 62}
        option={option}
        table={{
          columns: ["Agent or arm", "Executions", "Smallest", "Lower quartile", "Median", "Upper quartile", "Largest"],
          rows: all.map((item) => [item.name, count(item.values.length), ...item.box.map((value) => duration(value))]),
        }}
      >
        <Tabs label="Axis" value={axis} onChange={setAxis} tabs={[["linear", "Linear axis"], ["log", "Logarithmic axis"]]} />
      </Chart>
      <p className="muted">
        {plural(shown, "execution")} that gave an answer
        {samples.more && ", of more than are drawn here: all of them are in the CSV report"}
        {running && ", as of when this page was opened"}.
      </p>
    </section>
  );
}
