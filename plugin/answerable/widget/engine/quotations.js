/** Locate the quotes of a claim in their passages; refuse those that are too short. */

import { foldTypography, isVisiblyBlank } from "./normalization.js";
import { matchesAll } from "./patterns.js";
import { findQuotes } from "./quotes.js";
import { isLineOfCode } from "./statements.js";
import { countWords } from "./tokenization.js";
import { splitAtSpace, stripSpace } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {{passage: Passage, start: number, end: number}} Quotation
 */

/**
 * Locate a quote wherever it occurs in a passage, or name the rule that it breaks.
 * @param {Recipe} recipe
 * @param {string} quote
 * @param {Passage} passage
 * @returns {Quotation[] | string}
 */
export function locateQuote(recipe, quote, passage) {
  const quotations = findQuotes(recipe, quote, passage.text).map(([start, end]) => ({ passage, start, end }));
  return quotations.length ? checkQuote(recipe, quotations[0]) ?? quotations : "quote";
}

/**
 * Refuse a quote of fewer than three words, unless it is whole: code, column names, all of its passage.
 * @param {Recipe} recipe
 * @param {Quotation} quotation
 * @returns {string | null}
 */
export function checkQuote(recipe, { passage, start, end }) {
  const { CODE_LIKE, MIN_QUOTE_WORDS } = recipe.quotations;
  const fold = (/** @type {string} */ text) => stripSpace(foldTypography(recipe, text).text);
  const quote = fold(passage.text.slice(start, end));
  const words = splitAtSpace(quote).filter((word) => !isVisiblyBlank(recipe, word));
  if (countWords(recipe, words.join(" ")) >= MIN_QUOTE_WORDS) return null;
  const isPlace = (/** @type {{start: number, end: number}} */ each) => each.start === start && each.end === end;
  const isWhole =
    passage.spans.some((span) => span.kind === "code" && isPlace(span)) ||
    passage.blocks.some((block) => block.detail === "header" && isPlace(block)) ||
    words.some((word) => matchesAll(CODE_LIKE, word)) ||
    passage.text.includes(`\`${quote}\``) ||
    isLineOfCode(recipe, passage, start, end);
  return isWhole || quote === fold(passage.text) ? null : "short-quote";
}
