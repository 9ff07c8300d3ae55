import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { LATER_SCRIPT, LATER_SCRIPT_HASH, laterText } from "../src/shared/laterParts";

test("the policy of a saved page names its one script", () => {
  assert.equal(LATER_SCRIPT_HASH, `sha256-${createHash("sha256").update(LATER_SCRIPT).digest("base64")}`);
});

test("nothing in a saved step can end the element that holds it", () => {
  const html = '<li title="</script><!--<script>">100 % of 5 &lt; 6, %3C</li>';
  const text = laterText(html);
  assert.ok(!text.includes("<"));
  assert.equal(text.replaceAll("%3C", "<").replaceAll("%25", "%"), html);
});
