/** Use the regular expressions of the rules, as Python's `re` does. */

/** @type {Map<RegExp, RegExp>} */
const globals = new Map();

/**
 * Return a pattern that finds all matches, made once.
 * @param {RegExp} pattern
 */
function makeGlobal(pattern) {
  const made = globals.get(pattern) ?? new RegExp(pattern, `${pattern.flags}g`);
  globals.set(pattern, made);
  return made;
}

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
