/** Write normal forms of a text, and count what a reader sees of it. */

import { countCodePoints } from "./code_points.js";
import { replaceAll } from "./patterns.js";
import { removeSpace, splitAtSpace } from "./white_space.js";

/**
 * List the words of a text that show a letter or a digit, without typography and Markdown emphasis.
 * @param {import("./recipe.js").Recipe} recipe
 * @param {string} text
 * @returns {string[]}
 */
export function listVisibleWords({ normalization }, text) {
  /** @type {string[]} */
  const blank = normalization.BLANK_CHARACTERS;
  const isVisible = (/** @type {string} */ character) => /[\p{L}\p{N}]/u.test(character) && !blank.includes(character);
  const plain = Array.from(replaceAll(normalization.EMPHASIS, text, ""), (unit) => normalization.TYPOGRAPHY[unit] ?? unit);
  return splitAtSpace(plain.join("")).filter((word) => [...word].some(isVisible));
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
