import assert from "node:assert/strict";
import { test } from "node:test";
import type { Alert, BreakingPoint, Changes, Duel, HistoryPoint, PairedRow, ProfiledSpan, ScenarioReport, SpanTree, SpendItem, TrajectoryEvent } from "../src/api/answers";
import { groupsOf, wrongCases } from "../src/pages/alerts/groups";
import { ticksOf } from "../src/pages/cases/case/ticks";
import { cutLabel, sideOf } from "../src/pages/cost/frontier";
import type { Priced } from "../src/pages/cost/frontier";
import { daysOf, knownText, namesOf } from "../src/pages/cost/spending";
import { axisFor, changeText, effectOf } from "../src/pages/compare/effects";
import { placeOf } from "../src/pages/compare/sides";
import { versionBands } from "../src/pages/history/timeline";
import { outlineOf } from "../src/pages/leaderboard/dimensions";
import { align } from "../src/pages/divergence/align";
import { MOST_DRAWN, bars, lines } from "../src/pages/profile/spans";
import { drawn, phaseNames } from "../src/shared/stress/curves";
import { axisOf, breakText, figureName, figureText, limitSentence, objectiveText, objectiveValue, verdictText } from "../src/shared/stress/words";
import { headline } from "../src/tab";

const row = (fields: Partial<PairedRow>): PairedRow => ({ unit: "ratio", relative: false, higher_is_better: true, change: null, interval: null, ...fields }) as PairedRow;

test("worse is left in the dumbbell, whatever the direction of the metric", () => {
  const slower = effectOf(row({ unit: "s", relative: true, higher_is_better: false, change: 1, interval: [0, 3] }));
  assert.deepEqual([slower.at, slower.low, slower.high, slower.scale], [-1, -2, -0, "factor"]);
  assert.deepEqual([effectOf(row({ change: 0.25 })).at, effectOf(row({ change: 0.25 })).scale], [25, "points"]);
  assert.equal(effectOf(row({ unit: "s", change: 0.25 })).at, null);
});

test("a change is told with one sign everywhere, and as a factor from twice as much on", () => {
  assert.equal(changeText({ change: 1.18, relative: true, unit: "s" }), "2.2×");
  assert.equal(changeText({ change: 0.5, relative: true, unit: "usd" }), "+50.0 %");
  assert.equal(changeText({ change: -0.333, relative: false, unit: "ratio" }), "−33.3 pt");
  assert.equal(changeText({ change: null, relative: false, unit: "ratio" }), "—");
});

test("each unit has an axis of its own, symmetric, round and wide enough for every effect", () => {
  const effects = [
    effectOf(row({ change: -0.33, interval: [-0.51, -0.15] })),
    effectOf(row({ unit: "s", relative: true, higher_is_better: false, change: 1.9, interval: [1.2, 2.6] })),
  ];
  const scores = axisFor(effects, "points");
  assert.ok(scores.reach >= 51 && scores.reach <= 100);
  assert.deepEqual(scores.ticks.map(({ at }) => at), scores.ticks.map(({ at }) => -at + 0).toReversed());
  const factors = axisFor(effects, "factor");
  assert.deepEqual(factors.ticks.map(({ label }) => label), ["4×", "same", "4×"]);
  assert.equal(axisFor([], "points").reach, 1);
});

test("the radar has its five axes always, and what is not known is a gap in the line", () => {
  const whole = outlineOf([1, 0.5, 0.5, 0.5, 0], 100);
  assert.ok(whole.whole && whole.path.startsWith("M0.0 -100.0L") && whole.path.endsWith("Z"));
  const gap = outlineOf([1, null, 0.5, 0.5, 0.5], 100);
  assert.equal(gap.whole, false);
  assert.equal(gap.spots.length, 4);
  assert.equal(gap.path.split("M").length - 1, 3);
  assert.equal(outlineOf([null, null, 1, null, null], 100).path, "");
});

test("a flipped case leads to the runs that the answer names, by benchmark", () => {
  const duel = {
    baseline: "a@1",
    candidate: "a@2",
    baseline_runs: { one: "r1", two: "r1" },
    candidate_runs: { one: "r2", two: "r3" },
  } as unknown as Duel;
  const all = ["one", "one", "two"].map((benchmark, n) => ({ benchmark, case_id: `c${n}` }));
  const place = placeOf(duel, all[0]!, all);
  assert.deepEqual([place.first_run, place.second_run], ["r1", "r2"]);
  assert.deepEqual(place.cases.map((key) => key.case_id), ["c0", "c1"]);
  assert.equal(placeOf(duel, { benchmark: "gone", case_id: "x" }, all).first_run, "");
});

const step = (kind: string, name: string, content: unknown = ""): TrajectoryEvent => ({ kind, name, content, at_s: 0, duration_s: null, details: {} });

test("trajectories stand side by side up to where they part, and that step is marked", () => {
  const first = [step("tool_call", "find", { n: 1 }), step("tool_call", "price"), step("message", "", "12")];
  const second = [step("tool_call", "find", { n: 1 }), step("message", "", "0")];
  const steps = align(first, second, 1);
  assert.deepEqual(steps.map(({ firstIndex, secondIndex }) => [firstIndex, secondIndex]), [[0, 0], [1, null], [2, 1]]);
  assert.deepEqual(steps.map(({ divergence }) => divergence), [false, true, false]);
  assert.deepEqual(steps.map(({ same }) => same), [true, false, false]);
  assert.ok(align(first, first, null).every(({ same, divergence }) => same && !divergence));
  assert.deepEqual(align([], [], null), []);
});

test("alerts of one version in one suite are one group, and only wrong answers broke a case", () => {
  const alert = (metric: string, severity: string, fields: object = {}): Alert =>
    ({ alert_id: metric, agent: "a", suite_id: "s", acknowledged_by: "", acknowledged_at: null,
      regression: { metric, severity, version: "2", benchmark: "", impact: { cases: [{ benchmark: "b", case_id: metric }] }, ...fields } }) as unknown as Alert;
  const groups = groupsOf([alert("cost", "high"), alert("accuracy", "high"), alert("speed", "low", { version: "1" }), alert("accuracy", "critical", { benchmark: "b" })]);
  assert.deepEqual(groups.map(({ version, severity, alerts }) => [version, severity, alerts.length]), [["2", "critical", 3], ["1", "low", 1]]);
  assert.deepEqual(groups[0]?.alerts.map(({ regression }) => regression.metric), ["accuracy", "cost", "accuracy"]);
  assert.deepEqual(wrongCases(groups[0]!).map((key) => key.case_id), ["accuracy"]);
});

test("each stretch of one version is a band up to the next", () => {
  const at = (moment: number, version: string): HistoryPoint => ({ at: moment, version }) as HistoryPoint;
  assert.deepEqual(versionBands([at(1, "1"), at(2, "1"), at(3, "2"), at(4, "1")]).map(({ version, from, to }) => [version, from, to]), [["1", 1, 3], ["2", 3, 4], ["1", 4, 4]]);
  assert.deepEqual(versionBands([at(1, "1"), at(2, "1")]), []);
});

test("the tab says what is worse before what is undecided, and nothing where nothing was judged", () => {
  const of = (counts: Record<string, number>): string | undefined => headline({ counts } as unknown as Changes)?.text;
  assert.equal(of({ worse: 2, better: 3, inconclusive: 1 }), "2 worse");
  assert.equal(of({ inconclusive: 1, better: 3 }), "1 undecided");
  assert.equal(of({ same: 4 }), "nothing changed");
  assert.equal(of({ "no-baseline": 4 }), undefined);
});

const point: BreakingPoint = { axis: "rate", value: 900, held: 850, broke: 950, interval: [850, 950], unit: "1/s", objective: "error_rate" };
const report = (fields: Partial<ScenarioReport>): ScenarioReport =>
  ({ scenario: "high_load", broke: false, breaking_point: null, limited_by: "nothing", client_limited: false, curve: [], over_time: [], phases: [], ...fields }) as ScenarioReport;

test("a breaking point comes with the levels between which it is", () => {
  assert.equal(breakText(point), "900 requests per second [850, 950]");
  assert.equal(breakText({ ...point, axis: "memory", value: 2 ** 20, interval: null }), "1 MiB left to it");
  assert.equal(verdictText(report({ broke: true, breaking_point: point })), "breaks at 900 requests per second [850, 950]");
  assert.equal(verdictText(report({})), "held");
  assert.equal(verdictText(report({ client_limited: true })), "not judged: the client was the limit");
});

test("levels count what the scenario raises", () => {
  assert.equal(axisOf(report({ breaking_point: { ...point, axis: "size" } })), "size");
  assert.equal(axisOf(report({})), "rate");
  assert.equal(axisOf(report({ closed_loop: true })), "concurrency");
  assert.equal(objectiveValue("latency_p99", 0.5), "500 ms");
  assert.equal(objectiveValue("shortfall", 0.22), "22.0 %");
  assert.equal(objectiveValue("ttft_mean", null), "—");
});

test("the levels of a search are drawn in ascending order", () => {
  const level = (value: number, p99: number | null) => ({ level: value, latency_p99_s: p99, latency_p50_s: 0.1 });
  const shown = drawn(report({ curve: [level(200, 2), level(100, 1), level(150, null)] as never }), "latency", "level");
  assert.deepEqual(shown.x, [100, 150, 200]);
  assert.deepEqual(shown.lines[0]?.values, [1, null, 2]);
});

test("figures of a load run carry the unit that their name ends with", () => {
  assert.equal(figureText("recovery_half_life_s", 2.5), "2.5 s");
  assert.equal(figureText("rss_slope_bytes_per_s", 2048), "2 KiB/s");
  assert.equal(figureText("goodput_per_s", 90), "90/s");
  assert.equal(figureText("error_rate", 0.015), "1.5 %");
  assert.equal(figureText("goodput_per_s", null), "—");
  assert.equal(figureName("recovery_half_life_s"), "recovery half life");
  assert.equal(objectiveText({ metric: "ttft", limit: 0.2, quantile: 0.95 }), "ttft_p95 < 200 ms");
  assert.equal(objectiveText({ metric: "error_rate", limit: 0.01, quantile: null }), "error_rate < 1.0 %");
});

const span = (index: number, depth: number, start_s: number, end_s: number): ProfiledSpan => ({ index, depth, start_s, end_s }) as ProfiledSpan;

test("a waterfall has a line for each span, a flame view one for each depth", () => {
  const tree = { wall_s: 2, spans: [span(0, 0, 0, 2), span(1, 1, 0.5, 1), span(2, 1, 1, 2)] } as SpanTree;
  assert.deepEqual(bars(tree, "waterfall").map((bar) => [bar.line, bar.left, bar.width]), [[0, 0, 100], [1, 25, 25], [2, 50, 50]]);
  assert.deepEqual(bars(tree, "flame").map((bar) => bar.line), [0, 1, 1]);
  assert.equal(lines(bars(tree, "flame")), 2);
  assert.equal(lines([]), 0);
});

test("of very many spans the longest are drawn, and an execution that took no time divides by nothing", () => {
  const many = Array.from({ length: MOST_DRAWN + 50 }, (_, index) => span(index, 0, 0, index));
  assert.equal(bars({ wall_s: 500, spans: many } as SpanTree, "flame").length, MOST_DRAWN);
  assert.deepEqual(bars({ wall_s: 0, spans: [span(0, 0, 0, 0)] } as SpanTree, "flame").map((bar) => [bar.left, bar.width]), [[0, 0]]);
});

test("what was spent is added up by day and name, and says of how many executions it is known", () => {
  const spent = (fields: Partial<SpendItem>): SpendItem => ({ day: 0, agent: "a", model: "", executions: 1, priced: 1, cost_usd: 1, counted: 0, tokens: null, ...fields });
  const items = [spent({}), spent({ agent: "b", cost_usd: 3 }), spent({ day: 86_400_000, priced: 0, cost_usd: null }), spent({ day: 86_400_000, cost_usd: 2 })];
  assert.deepEqual(namesOf(items, "agent", "dollars"), ["a", "b"]);
  assert.deepEqual(namesOf(items, "model", "dollars"), ["no model named"]);
  assert.deepEqual(namesOf(items, "agent", "tokens"), []);
  const days = daysOf(items, "agent", "dollars");
  assert.deepEqual(days.map(({ sums }) => [...sums]), [[["a", 1], ["b", 3]], [["a", 2]]]);
  assert.deepEqual(days.map(knownText), ["all 2", "1 of 2"]);
  const many = Array.from({ length: 12 }, (_, index) => spent({ agent: `agent-${index}`, cost_usd: 100 - index }));
  assert.deepEqual(namesOf(many, "agent", "dollars").slice(-2), ["agent-6", "others"]);
});

test("a workflow's axis has three to eight round times", () => {
  assert.deepEqual(ticksOf(0.554).map((at) => Math.round(1000 * at)), [0, 200, 400]);
  for (const span of [1e-6, 0.03, 0.99, 7, 61, 4000]) assert.ok(ticksOf(span).length >= 3 && ticksOf(span).length <= 8, String(span));
});

test("a name in the cost chart stands towards its middle and keeps its version", () => {
  const rows = [0.0000002, 0.001, 0.02].map((cost) => ({ cost_per_task_usd: cost }) as Priced);
  assert.deepEqual([0.0000002, 0.02].map((cost) => sideOf(cost, rows, "log")), ["right", "left"]);
  assert.equal(sideOf(0.001, rows, "linear"), "right");
  assert.equal(cutLabel("helper@2.1"), "helper@2.1");
  assert.equal(cutLabel("customer-support-triage-agent-production@2026.11.3"), "customer-support…@2026.11.3");
});

test("phases of one kind in a row are named once", () => {
  assert.deepEqual(phaseNames(["normal", "high", "search", "search", "normal"]), ["normal", "high", "search", "", "normal"]);
});

test("what limited a target is a sentence, also where nothing did", () => {
  assert.equal(limitSentence("nothing", "It met the objectives."), "It stood what was asked. It met the objectives.");
  assert.equal(limitSentence("nothing", ""), "It stood what was asked.");
  assert.equal(limitSentence("rate_limit", "429 from 50 a second on"), "Limited by its rate limit: 429 from 50 a second on.");
});
