/** Write normal forms of a text. */

import { splitAtSpace } from "./white_space.js";

/**
 * Lower-case a text and divide its runs of letters and digits by single spaces.
 * @param {string} text
 */
export function normalizePhrase(text) {
  return splitAtSpace(text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, " ")).join(" ");
}

/**
 * List the n-grams of a normalized text, of each of the lengths in words.
 * @param {string} text
 * @param {Iterable<number>} lengths
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
