import assert from "node:assert/strict";
import { test } from "node:test";
import type { PairedRow, Regression } from "../src/api/answers";
import { UNKNOWN, age, asText, bytes, count, duration, money, moneyColumn, moneyRange, moneySum, percent, plural, points, quantity, signed } from "../src/format";
import { csvText, fileName } from "../src/components/csv";
import { readProgress, share } from "../src/shared/progress";
import { levelOf, measured, quantityName, sideValue, valueOf } from "../src/shared/units";
import { asSentence, ofThisRun } from "../src/shared/words";

test("unknown is a dash, never a zero", () => {
  for (const show of [duration, money, moneySum, percent, points, count, bytes]) {
    assert.equal(show(null), UNKNOWN);
    assert.equal(show(undefined), UNKNOWN);
    assert.equal(show(Number.NaN), UNKNOWN);
  }
  assert.equal(quantity(null, "s"), UNKNOWN);
});

test("durations take the unit in which they are short", () => {
  assert.equal(duration(0), "0 s");
  assert.equal(duration(2.5e-7), "250 ns");
  assert.equal(duration(0.00082), "820 µs");
  assert.equal(duration(0.01234), "12.3 ms");
  assert.equal(duration(4.561), "4.56 s");
  assert.equal(duration(200), "3 min 20 s");
  assert.equal(duration(7500), "2 h 5 min");
  assert.equal(duration(-75), "−1 min 15 s");
});

test("money and shares keep the digits that matter", () => {
  assert.equal(money(0.01324), "$0.0132");
  assert.equal(money(0.00027), "$0.27 per 1,000");
  assert.equal(money(0.0000000715), "$0.0715 per 1,000,000");
  assert.equal(moneyRange(0.00027, [0.0002, 0.012]), "$0.27 [$0.20, $12.00] per 1,000");
  assert.equal(moneyRange(null, [0.1, 0.2]), "—");
  assert.equal(moneySum(0.00027), "< $0.01");
  assert.equal(moneySum(0), "$0.00");
  assert.equal(money(1.2), "$1.20");
  assert.equal(money(1240.4), "$1,240");
  assert.equal(money(-0.5), "−$0.50");
  assert.equal(percent(0.1234), "12.3 %");
  assert.equal(points(0.873), "87.3");
  assert.equal(bytes(1536), "1.5 KiB");
});

test("a plus stands before what grew, and before nothing else", () => {
  assert.equal(signed("4.2 %"), "+4.2 %");
  assert.equal(signed("−4.2 %"), "−4.2 %");
  assert.equal(signed("0.0 %"), "0.0 %");
  assert.equal(signed(UNKNOWN), UNKNOWN);
});

test("values are told in the unit that the server names", () => {
  assert.equal(quantity(0.5, "s"), "500 ms");
  assert.equal(quantity(12, "tokens"), "12 tokens");
  assert.equal(quantity(2048, "bytes"), "2 KiB");
  assert.equal(measured(0.5, "ratio"), "50.0");
  assert.equal(measured(0.5, "usd"), "$0.50");
});

test("efficiency of two versions is a multiple of the baseline's and not points of a hundred", () => {
  const efficiency: Pick<PairedRow, "unit" | "relative"> = { unit: "ratio", relative: true };
  assert.equal(sideValue(1.5, efficiency), "1.5×");
  assert.equal(sideValue(0.5, { unit: "ratio", relative: false }), "50.0");
  assert.equal(sideValue(0.5, { unit: "s", relative: true }), "500 ms");
  assert.equal(sideValue(null, efficiency), UNKNOWN);
  const regression: Pick<Regression, "detector" | "metric" | "unit"> = { detector: "version", metric: "efficiency", unit: "ratio" };
  assert.equal(levelOf(1.714, regression), "1.71×");
  assert.equal(levelOf(0.6, { ...regression, detector: "history" }), "60.0");
  assert.equal(levelOf(0.6, { ...regression, metric: "accuracy" }), "60.0");
});

test("a reason becomes a sentence, and an agent's name stays as it is written", () => {
  assert.equal(asSentence("no winner: the interval holds zero"), "The interval holds zero.");
  assert.equal(asSentence("helper@2.0 has no cases"), "helper@2.0 has no cases.");
  assert.equal(asSentence("Is it so?"), "Is it so?");
  assert.equal(asSentence(""), "");
});

test("ages and counts read as people say them", () => {
  const now = 1_000_000_000_000;
  assert.equal(age(now - 30_000, now), "just now");
  assert.equal(age(now - 3 * 60_000, now), "3 min ago");
  assert.equal(age(now - 25 * 3_600_000, now), "1 day ago");
  assert.equal(age(now + 5000, now), "just now");
  assert.equal(plural(1, "case"), "1 case");
  assert.equal(plural(1200, "case"), "1,200 cases");
  assert.equal(asText({ a: 1 }), '{\n  "a": 1\n}');
  assert.equal(asText(null), "");
});

test("progress is unknown until a worker tells, and never beyond its end", () => {
  assert.equal(readProgress({}), null);
  assert.equal(share(readProgress({ done: 1, planned: 0 })), null);
  assert.equal(share(readProgress({ done: 3, planned: 4 })), 0.75);
  assert.equal(share(readProgress({ done: 5, planned: 4 })), 1);
  assert.equal(readProgress({ done: 1, planned: 2, pass_rate: "x" })?.pass_rate, null);
});

test("a table that is saved has no formula, and keeps commas, quotes and signed numbers", () => {
  assert.equal(csvText([["Agent", "Change"], ["=HYPERLINK(\"x\")", "+12.5 %"], ["a, b", "-3"], ["-rm", "one\n  two"]]), "Agent,Change\r\n\"'=HYPERLINK(\"\"x\"\")\",+12.5 %\r\n\"a, b\",-3\r\n'-rm,one two\r\n");
  assert.equal(fileName("Agents by overall, last 30 days"), "agents-by-overall-last-30-days.csv");
  assert.equal(fileName("…"), "table.csv");
});

test("a column of costs is of one number of tasks, and one cheap agent does not make it a million", () => {
  const some = moneyColumn([0.0000002, null, 0.02, 0]);
  assert.equal(some.per, "per 1,000 tasks");
  assert.deepEqual([0.0000002, 0.02, 0, null].map(some.text), ["$0.0002", "$20.00", "$0.00", UNKNOWN]);
  const cheap = moneyColumn([0.0000002, null, 0.000003]);
  assert.equal(cheap.per, "per 1,000,000 tasks");
  assert.deepEqual([0.0000002, 0.000003].map(cheap.text), ["$0.20", "$3.00"]);
  const cents = moneyColumn([0.011, 3.5], "success");
  assert.equal(cents.per, "per success");
  assert.equal(cents.text(0.011), "$0.011");
  assert.equal(moneyColumn([0.001], "success").per, "per 1,000 successes");
  assert.equal(moneyColumn([null, 0]).per, "per task");
  assert.equal(moneyColumn([0.001]).text(0.0002), "$0.20");
});

test("bounds of a rubric are told in the unit that their name ends with", () => {
  assert.deepEqual([quantityName("duration_s"), valueOf(0.002, "duration_s")], ["duration", "2 ms"]);
  assert.deepEqual([quantityName("cost_usd"), valueOf(0.03, "cost_usd")], ["cost", "$0.03"]);
  assert.deepEqual([quantityName("total_tokens"), valueOf(400, "total_tokens")], ["total tokens", "400"]);
  assert.equal(valueOf(null, "duration_s"), UNKNOWN);
});

test("a remedy on the page of a run names that run", () => {
  const remedy = "`dyno show last` lists the errors; `dyno resume RUN --retry-errors` runs those cases again.";
  const id = "01a1f025-225f-7abc";
  assert.equal(ofThisRun(remedy, id), "`dyno show 01a1f025-225f` lists the errors; `dyno resume 01a1f025-225f --retry-errors` runs those cases again.");
  assert.equal(ofThisRun("Take RUN of the list.", id), "Take RUN of the list.");
});
