/** Find the offsets of a quote in a passage: verbatim except for typography, at whole words. */

import { foldTypography } from "./normalization.js";
import { matchesAll } from "./patterns.js";
import { stripSpace } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./normalization.js").FoldedText} FoldedText
 * @typedef {[start: number, end: number]} TextRange
 */

/**
 * Find the first few ranges of a text where a quote occurs verbatim after folding.
 * It has to contain a word and to begin and end at whole words, where the script divides words.
 * @param {Recipe} recipe
 * @param {string} quote
 * @param {string} text
 * @returns {TextRange[]}
 */
export function findQuotes(recipe, quote, text) {
  const needle = stripSpace(foldTypography(recipe, quote).text);
  const folded = foldPassage(recipe, text);
  /** @type {TextRange[]} */
  const ranges = [];
  let at = /[\p{L}\p{N}_]/u.test(needle) ? folded.text.indexOf(needle) : -1;
  while (at >= 0 && ranges.length < recipe.quotes.MAX_QUOTE_PLACES) {
    const end = at + needle.length;
    if (endsAtWords(recipe, folded.text, at, end)) ranges.push(unfoldRange(folded, at, end));
    at = folded.text.indexOf(needle, at + 1);
  }
  return ranges;
}

/**
 * Map a range back to the text that was folded, with the marks of a name: `__name__`.
 * @param {FoldedText} folded
 * @param {number} at
 * @param {number} end
 * @returns {TextRange}
 */
function unfoldRange({ offsets, marks }, at, end) {
  let start = offsets[at];
  let stop = offsets[end - 1] + 1;
  while (marks.has(start - 1)) start -= 1;
  while (marks.has(stop)) stop += 1;
  return [start, stop];
}

/**
 * Test that no ASCII word continues over either edge of a range.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {boolean}
 */
function endsAtWords({ quotes }, text, start, end) {
  const edges = [text.slice(Math.max(start - 1, 0), start + 1), text.slice(end - 1, end + 1)];
  return !edges.some((edge) => matchesAll(quotes.WITHIN_WORD, edge));
}

// The passages of an answer, and a few more.
const MAX_FOLDED_TEXTS = 64;
/** @type {Map<string, FoldedText>} */
const foldedTexts = new Map();

/**
 * Fold a passage's text once for all the quotes that are compared with it.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {FoldedText}
 */
function foldPassage(recipe, text) {
  let folded = foldedTexts.get(text);
  if (!folded) {
    if (foldedTexts.size >= MAX_FOLDED_TEXTS) foldedTexts.clear();
    foldedTexts.set(text, (folded = foldTypography(recipe, text)));
  }
  return folded;
}
