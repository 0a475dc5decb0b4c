// Tests what the engine's modules do with the recipe and its patterns in JavaScript itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { escapePattern, findTexts, matchesAll, matchesStart, replaceAll } from "../../plugin/answerable/widget/engine/patterns.js";
import { reviveRecipe } from "../../plugin/answerable/widget/engine/recipe.js";

test("a recipe's patterns are revived at every depth, and other values stay as they are", () => {
  const { statements } = reviveRecipe({
    statements: { POINTER: { source: "a+", flags: "iu" }, NESTED: [{ inner: { source: "b", flags: "u" } }], LIMIT: 3, NONE: null },
  });
  assert.deepEqual(statements.POINTER, /a+/iu);
  assert.deepEqual(statements.NESTED, [{ inner: /b/u }]);
  assert.equal(statements.LIMIT, 3);
  assert.equal(statements.NONE, null);
});

test("a pattern keeps no position between calls", () => {
  const pattern = /\d+/u;
  for (const _ of [1, 2]) {
    assert.deepEqual(findTexts(pattern, "10 and 20"), ["10", "20"]);
    assert.equal(matchesStart(pattern, "7 a"), true);
    assert.equal(matchesStart(pattern, "a 7"), false);
    assert.equal(replaceAll(pattern, "1 of 2", "n"), "n of n");
    assert.equal(matchesAll(pattern, "12"), true);
    assert.equal(matchesAll(pattern, "12 "), false);
  }
});

test("an escaped text matches itself and nothing else", () => {
  const text = "a-b.c[d](e)*+?^$|{f}\\/";
  assert.equal(matchesAll(new RegExp(escapePattern(text), "u"), text), true);
  assert.equal(matchesAll(new RegExp(`[${escapePattern("a-c")}]`, "u"), "b"), false);
  assert.equal(matchesAll(new RegExp(escapePattern("a.c"), "u"), "abc"), false);
});
