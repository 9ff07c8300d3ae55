import assert from "node:assert/strict";
import { test } from "node:test";
import { address, decoded, withCursor } from "../src/address";
import { samplesPath } from "../src/pages/cases/samples";
import { matchRoute } from "../src/pages/routes";
import { agentAddress, api, caseAddress, casesAddress, nameOf, shortId } from "../src/shared/paths";
import { divergenceAddress, indexIn, neighbour, placeFrom } from "../src/shared/place";
import { shellWord } from "../src/shell";

test("empty values are left out of an address, zero and false are not", () => {
  assert.equal(address("/history", { subject: "a b", days: 0, all: false, metric: "", suite: null }), "/history?subject=a+b&days=0&all=false");
  assert.equal(address("/runs", { kind: undefined }), "/runs");
});

test("a cursor goes on with what the address asks for", () => {
  assert.equal(withCursor("/api/runs", null), "/api/runs");
  assert.equal(withCursor("/api/runs", "a+b="), "/api/runs?cursor=a%2Bb%3D");
  assert.equal(withCursor("/api/runs?limit=5", "x"), "/api/runs?limit=5&cursor=x");
});

test("names keep their odd characters on the way through an address", () => {
  const odd = "a/b@1?c#d %";
  assert.equal(decoded(agentAddress(odd).split("/")[2] ?? ""), odd);
  assert.deepEqual(matchRoute(agentAddress(odd)), { folder: "agents/agent", params: { agent_id: odd } });
  assert.equal(decoded("100%"), "100%");
  assert.equal(api("runs", "r 1", "cases"), "/api/runs/r%201/cases");
});

test("an address belongs to one page or to none", () => {
  assert.deepEqual(matchRoute("/"), { folder: "changes", params: {} });
  assert.deepEqual(matchRoute("/runs/r1/cases/c%2F1"), { folder: "cases/case", params: { run_id: "r1", case_id: "c/1" } });
  assert.equal(matchRoute("/runs/r1/cases/c/d"), null);
  assert.equal(matchRoute("/nowhere"), null);
});

test("cases and their lists have addresses of their own", () => {
  assert.equal(caseAddress("r", "orders", "o-1"), "/runs/r/cases/o-1?benchmark=orders");
  assert.equal(casesAddress("r", { status: "all" }), "/runs/r/cases?status=all");
});

test("failures are one list of several statuses", () => {
  const none = { agent: "", benchmark: "" };
  assert.equal(
    samplesPath("r", { ...none, status: "failures" }),
    "/api/runs/r/samples?limit=500&status=failed&status=error&status=timeout&status=limit",
  );
  assert.equal(samplesPath("r", { ...none, status: "all" }), "/api/runs/r/samples?limit=500");
  assert.equal(samplesPath("r", { agent: "a@1", benchmark: "", arm: "x", status: "ok" }), "/api/runs/r/samples?agent=a%401&arm=x&limit=500&status=ok");
});

test("the version is what follows the last @", () => {
  assert.equal(nameOf("helper@2.1"), "helper");
  assert.equal(nameOf("team@site@2"), "team@site");
  assert.equal(nameOf("helper"), "helper");
  assert.equal(nameOf("@odd"), "@odd");
  assert.equal(shortId("01a1e020-691f-7dd1-b604-1908f8d1d3a8"), "01a1e020-691f");
});

const CASES = ["c-1", "c,2", "c/3"].map((case_id) => ({ benchmark: "b", case_id }));
const PLACE = { first_run: "r1", second_run: "r2", first_agent: "a@1", second_agent: "a@2", ...CASES[0]!, cases: CASES };

test("the list of flipped cases survives the address, and j and k walk through it to its ends", () => {
  const query = (at: string | null): URLSearchParams => new URL(at ?? "", "http://x").searchParams;
  const first = placeFrom(query(divergenceAddress(PLACE)));
  assert.deepEqual(first, PLACE);
  assert.equal(neighbour(first, -1), null);
  const second = placeFrom(query(neighbour(first, 1)));
  assert.equal(second.case_id, "c,2");
  const third = placeFrom(query(neighbour(second, 1)));
  assert.equal(indexIn(third), 2);
  assert.equal(neighbour(third, 1), null);
});

test("of a long list the cases around the shown one are kept", () => {
  const cases = Array.from({ length: 200 }, (_, n) => ({ benchmark: "b", case_id: `c-${n}` }));
  const at = divergenceAddress({ ...PLACE, ...cases[150]!, cases });
  const kept = placeFrom(new URL(at, "http://x").searchParams);
  assert.equal(kept.cases.length, 60);
  assert.equal(kept.cases[indexIn(kept)]?.case_id, "c-150");
});

test("a command keeps what a shell would take apart in one piece", () => {
  assert.equal(shellWord("helper@2.1"), "helper@2.1");
  assert.equal(shellWord("two words"), "'two words'");
  assert.equal(shellWord("it's; rm"), `'it'\\''s; rm'`);
  assert.equal(shellWord(""), "''");
});
