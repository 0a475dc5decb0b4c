/** Test which ranges of a passage can be quoted. */

import { listVisibleWords } from "./normalization.js";
import { matchesAll } from "./patterns.js";
import { isLineOfCode, stripRange } from "./statements.js";
import { countWords } from "./tokenization.js";
import { stripSpace } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Passage} Passage
 */

/**
 * Test whether a range is whole words, and three of them at least unless it is whole.
 * That is code, column names, or all of its passage.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {[start: number, end: number]} range
 * @returns {boolean}
 */
export function isQuotable(recipe, passage, range) {
  const { CODE_LIKE, MIN_QUOTE_WORDS } = recipe.grounding;
  const { blocks, spans, text } = passage;
  const [start, end] = stripRange(text, ...range);
  const quote = text.slice(start, end);
  const edges = [text.slice(Math.max(start - 1, 0), start + 1), text.slice(end - 1, end + 1)];
  if (!/[\p{L}\p{N}_]/u.test(quote) || edges.some((edge) => matchesAll(recipe.quotes.WITHIN_WORD, edge))) return false;
  const words = listVisibleWords(recipe, quote);
  const isPlace = (/** @type {{start: number, end: number}} */ each) => each.start === start && each.end === end;
  return (
    countWords(recipe, words.join(" ")) >= MIN_QUOTE_WORDS ||
    spans.some((span) => span.kind === "code" && isPlace(span)) ||
    blocks.some((block) => block.detail === "header" && isPlace(block)) ||
    words.some((word) => matchesAll(CODE_LIKE, word)) ||
    text.includes(`\`${words.join(" ")}\``) ||
    isLineOfCode(passage, start, end) ||
    quote === stripSpace(text)
  );
}
