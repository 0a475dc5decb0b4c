// Tests what the engine's modules do with the recipe and its patterns in JavaScript itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { escapePattern, findAll, matchAt, matchesAll, replaceAll } from "../../plugin/answerable/widget/engine/patterns.js";
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
    assert.deepEqual(findAll(pattern, "10 and 20").map(([whole]) => whole), ["10", "20"]);
    assert.equal(matchAt(pattern, "a 7", 2)?.[0], "7");
    assert.equal(matchAt(pattern, "a 7"), null);
    assert.equal(replaceAll(pattern, "1 of 2", "n"), "n of n");
    assert.equal(matchesAll(pattern, "12"), true);
    assert.equal(matchesAll(pattern, "12 "), false);
  }
});

test("matches are found between two offsets, and none reaches beyond the second", () => {
  assert.deepEqual(findAll(/\w+/u, "one two three", 4, 9).map(({ index, 0: whole }) => [index, whole]), [[4, "two"], [8, "t"]]);
});

test("an escaped text matches itself and nothing else", () => {
  const text = "a-b.c[d](e)*+?^$|{f}\\/";
  assert.equal(matchesAll(new RegExp(escapePattern(text), "u"), text), true);
  assert.equal(matchesAll(new RegExp(`[${escapePattern("a-c")}]`, "u"), "b"), false);
  assert.equal(matchesAll(new RegExp(escapePattern("a.c"), "u"), "abc"), false);
});
