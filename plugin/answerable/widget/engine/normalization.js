/** Write normal forms of a text: for matching quotes (with offsets) and authored names. */

import { countCodePoints } from "./code_points.js";
import { findAll } from "./patterns.js";
import { isSpace, removeSpace, splitAtSpace } from "./white_space.js";

/** @import { Recipe } from "./recipe.js" */

const LETTER_OR_NUMBER = /[\p{L}\p{N}]/u;
/** @type {WeakMap<Recipe, Map<string, string>>} */
const foldsByRecipe = new WeakMap();

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
  const { EMPHASIS } = recipe.normalization;
  const folds = getFolds(recipe);
  /** @type {Set<number>} */
  const marks = new Set();
  for (const match of findAll(EMPHASIS, text)) {
    for (let at = 0; at < match[0].length; at += 1) marks.add(Number(match.index) + at);
  }
  const units = [];
  const offsets = [];
  // No character that is folded has two units.
  for (let offset = 0; offset < text.length; offset += 1) {
    if (marks.size && marks.has(offset)) continue;
    let unit = folds.get(text[offset]);
    if (unit === undefined) folds.set(text[offset], (unit = isSpace(text[offset]) ? " " : text[offset]));
    if (unit === " " && (!units.length || units[units.length - 1] === " ")) continue;
    units.push(unit);
    offsets.push(offset);
  }
  return { text: units.join(""), offsets, marks };
}

/**
 * Return what units become, by a memory that is filled when one is met.
 * @param {Recipe} recipe
 * @returns {Map<string, string>}
 */
function getFolds(recipe) {
  let folds = foldsByRecipe.get(recipe);
  if (!folds) foldsByRecipe.set(recipe, (folds = new Map(Object.entries(recipe.normalization.TYPOGRAPHY))));
  return folds;
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
  return countCodePoints(removeSpace(text));
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
