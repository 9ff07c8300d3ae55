import assert from "node:assert/strict";
import { test } from "node:test";
import type { GridCell, GridRow, TrajectoryEvent } from "../src/api/answers";
import { countOf, stepsOf, wholeTime } from "../src/pages/cases/case/waterfall";
import { wordDiff } from "../src/pages/divergence/wordDiff";
import { filtered, groupsOf, level } from "../src/pages/grid/rows";
import { courseLines } from "../src/pages/runs/run/course";

const event = (fields: Partial<TrajectoryEvent>): TrajectoryEvent =>
  ({ kind: "note", at_s: 0, name: "", content: null, duration_s: null, details: {}, ...fields }) as TrajectoryEvent;

test("what a call gave back is part of the call, and takes its time", () => {
  const steps = stepsOf([
    event({ kind: "tool_call", name: "find", content: { id: 3 }, at_s: 1 }),
    event({ kind: "tool_call", name: "price", at_s: 2 }),
    event({ kind: "tool_result", name: "find", content: "shoes", at_s: 3, duration_s: 2 }),
    event({ kind: "tool_result", name: "lost", content: "alone", at_s: 4 }),
  ]);
  assert.deepEqual(steps.map((step) => [step.event.name, step.took, step.result]), [["find", 2, "shoes"], ["price", null, undefined], ["lost", null, undefined]]);
  assert.equal(countOf(steps), 3, "a call and its result are one step, as they are one row");
  assert.equal(wholeTime(steps), 4);
  assert.equal(wholeTime(steps, 9), 9);
});

test("spans are below their parents, and a parent that is not there or comes later is no parent", () => {
  const steps = stepsOf([
    event({ kind: "model_call", name: "a", details: { span: "1", parent: "2", usage: { input_tokens: 3, output_tokens: 4, cost_usd: 0.5 } } }),
    event({ kind: "tool_call", name: "b", details: { span: "2", parent: "1", result: "x" } }),
    event({ name: "c", details: { parent: "2", status: "error" } }),
    event({ name: "d", details: { parent: "nowhere" } }),
  ]);
  assert.deepEqual(steps.map((step) => step.event.name), ["a", "d"]);
  assert.deepEqual([steps[0]?.tokens, steps[0]?.cost, steps[0]?.below[0]?.event.name], [7, 0.5, "b"]);
  assert.equal(steps[0]?.below[0]?.below[0]?.failed, true);
  assert.equal(countOf(steps), 4);
});

test("two texts differ in words, not in letters", () => {
  assert.deepEqual(wordDiff("It costs 12 dollars.", "It costs 15 dollars, net."), [
    { kind: "same", text: "It costs " },
    { kind: "gone", text: "12" },
    { kind: "new", text: "15" },
    { kind: "same", text: " dollars" },
    { kind: "new", text: ", net" },
    { kind: "same", text: "." },
  ]);
  assert.deepEqual(wordDiff("", "a"), [{ kind: "new", text: "a" }]);
  assert.deepEqual(wordDiff("same", "same"), [{ kind: "same", text: "same" }]);
  const [one, other] = ["a b ".repeat(3000), "c d ".repeat(3000)];
  const long = wordDiff(one, other);
  assert.equal(long.filter((piece) => piece.kind !== "new").map((piece) => piece.text).join(""), one);
  assert.equal(long.filter((piece) => piece.kind !== "gone").map((piece) => piece.text).join(""), other);
});

const cell = (passed: number, tries: number, statuses = {}): GridCell => ({ run_id: "r", passed, tries, score: null, statuses });
const row = (fields: Partial<GridRow>): GridRow => ({ benchmark: "b", case_id: "c", group: null, input: "", flips: 0, cells: [], ...fields });

test("the grid shows what flips, what fails and what was written", () => {
  const all = [
    row({ case_id: "one", flips: 2, cells: [cell(0, 2), cell(2, 2)], group: "refunds" }),
    row({ case_id: "two", cells: [cell(2, 2), cell(1, 2, { error: 1 })], input: "What about Berlin?" }),
    row({ case_id: "three", cells: [cell(2, 2), null] }),
  ];
  const names = (show: string, text = "", group = ""): string[] => filtered(all, { show, text, group }).map((item) => item.case_id);
  assert.deepEqual(names("flips"), ["one"]);
  assert.deepEqual(names("failing"), ["two"]);
  assert.deepEqual(names("passing"), ["one", "three"]);
  assert.deepEqual(names("error"), ["two"]);
  assert.deepEqual(names("", "berlin"), ["two"]);
  assert.deepEqual(names("", "", "refunds"), ["one"]);
  assert.deepEqual(groupsOf(all), ["refunds"]);
  assert.deepEqual([cell(0, 3), cell(1, 3), cell(1, 2), cell(2, 3), cell(3, 3), null].map(level), [0, 1, 2, 3, 4, null]);
});

test("a run that goes on has a chart of its cost only where some of it is known", () => {
  const point = { at: 1, done: 2, passed: 1, cost_usd: null, median_s: 0.5, p95_s: 0.75 };
  assert.deepEqual(courseLines([point]).map((chart) => chart.title), ["Passed so far", "Latency"]);
  const [passed, , cost] = courseLines([{ ...point, cost_usd: 0.25 }]);
  assert.deepEqual([passed?.lines[0]?.values, cost?.lines[0]?.values], [[0.5], [0.25]]);
});
