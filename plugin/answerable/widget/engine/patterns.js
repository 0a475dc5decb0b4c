/** Use the regular expressions of the rules, as Python's `re` does. */

/** @type {WeakMap<RegExp, RegExp>} */
const globals = new WeakMap();

/**
 * Return a pattern that finds all matches, made once.
 * @param {RegExp} pattern
 */
function makeGlobal(pattern) {
  let made = globals.get(pattern);
  if (!made) globals.set(pattern, (made = new RegExp(pattern.source, `${pattern.flags}g`)));
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
