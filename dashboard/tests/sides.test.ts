import assert from "node:assert/strict";
import { test } from "node:test";
import { agentsOf } from "../src/pages/compare/sides";
import { oldestFirst } from "../src/pages/runs/ticked";

const RUNS = { baseline_runs: { orders: "01a1f58f-ede5-7ba0" }, candidate_runs: { orders: "01a1f591-b3c1-7610" } };

test("one agent of two runs keeps its name, whatever tells its sides apart", () => {
  assert.deepEqual(agentsOf({ baseline: "01a1f58f:desk@1", candidate: "01a1f591:desk@1", ...RUNS }), ["desk@1", "desk@1"]);
  assert.deepEqual(agentsOf({ baseline: "baseline:desk@1", candidate: "candidate:desk@1", ...RUNS }), ["desk@1", "desk@1"]);
});

test("a name with a colon is a name", () => {
  for (const [baseline, candidate] of [["openai:small@1", "openai:small@2"], ["desk@1", "desk@2"], ["a:desk@1", "b:desk@1"]] as const) {
    assert.deepEqual(agentsOf({ baseline, candidate, ...RUNS }), [baseline, candidate]);
  }
});

test("of ticked runs the oldest is the baseline, on whichever page of the list it was ticked", () => {
  assert.deepEqual(oldestFirst(["01c", "01a", "01b"], ["01c", "01b", "01a"]), ["01a", "01b", "01c"]);
  assert.deepEqual(oldestFirst(["01a", "01c"], ["01c", "01b"]), ["01a", "01c"]);
  assert.deepEqual(oldestFirst(["01c", "01a"], ["01b", "01a"]), ["01a", "01c"]);
});
