/** Use the regular expressions of the rules, as Python's `re` does. */

import { memoize } from "./memoize.js";

const makeGlobal = memoize((/** @type {RegExp} */ pattern) => new RegExp(pattern.source, `${pattern.flags}g`));

/**
 * Find the texts of all matches, as `findall` does for a pattern without groups.
 * @param {RegExp} pattern
 * @param {string} text
 */
export function findTexts(pattern, text) {
  return text.match(makeGlobal(pattern)) ?? [];
}

/**
 * Find all matches, as `finditer` does.
 * @param {RegExp} pattern
 * @param {string} text
 */
export function findMatches(pattern, text) {
  return [...text.matchAll(makeGlobal(pattern))];
}
