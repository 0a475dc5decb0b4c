/** Write normal forms of a text: for matching quotes (with offsets) and authored names. */

import { findAll } from "./patterns.js";
import { isSpace, splitAtSpace } from "./white_space.js";

/** @import { Recipe } from "./recipe.js" */

const LETTER_OR_NUMBER = /[\p{L}\p{N}]/u;

/**
 * A folded text, the offset that each of its units came from, and the offsets of emphasis.
 * @typedef {{text: string, offsets: number[], marks: Set<number>}} FoldedText
 */

/**
 * Fold white space, quote marks, dashes and Markdown emphasis, and nothing else.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {FoldedText}
 */
export function foldTypography(recipe, text) {
  const { EMPHASIS, TYPOGRAPHY } = recipe.normalization;
  const marks = new Set();
  for (const match of findAll(EMPHASIS, text)) {
    for (let at = 0; at < match[0].length; at += 1) marks.add(Number(match.index) + at);
  }
  const units = [];
  const offsets = [];
  // No character that is folded has two units.
  for (let offset = 0; offset < text.length; offset += 1) {
    if (marks.has(offset)) continue;
    const unit = isSpace(text[offset]) ? " " : (TYPOGRAPHY[text[offset]] ?? text[offset]);
    if (unit === " " && (units.at(-1) ?? " ") === " ") continue;
    units.push(unit);
    offsets.push(offset);
  }
  return { text: units.join(""), offsets, marks };
}

/**
 * Tell whether a text shows no letter and no digit.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {boolean}
 */
export function isVisiblyBlank(recipe, text) {
  /** @type {string[]} */
  const blank = recipe.normalization.BLANK_CHARACTERS;
  for (const character of text) if (LETTER_OR_NUMBER.test(character) && !blank.includes(character)) return false;
  return true;
}

/**
 * Count the characters that are not white space.
 * @param {string} text
 * @returns {number}
 */
export function countVisibleCharacters(text) {
  let count = 0;
  for (const character of text) if (!isSpace(character)) count += 1;
  return count;
}

/**
 * Lower-case a text and divide its runs of letters and digits by single spaces.
 * @param {string} text
 * @returns {string}
 */
export function normalizePhrase(text) {
  return splitAtSpace(text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, " ")).join(" ");
}

/**
 * List the n-grams of a normalized text, of each of the lengths in words.
 * @param {string} text
 * @param {Iterable<number>} lengths
 * @returns {string[]}
 */
export function splitNgrams(text, lengths) {
  const words = splitAtSpace(normalizePhrase(text));
  const ngrams = [];
  for (const length of lengths) {
    for (let start = 0; start + length <= words.length; start += 1) {
      ngrams.push(words.slice(start, start + length).join(" "));
    }
  }
  return ngrams;
}
