/** Use the regular expressions that travel in the recipe, as Python's `re` does. */

/** @type {WeakMap<RegExp, Map<string, RegExp>>} */
const variants = new WeakMap();

/**
 * Return a pattern with one more flag, made once.
 * @param {RegExp} pattern
 * @param {string} flag
 */
function withFlag(pattern, flag) {
  let byFlag = variants.get(pattern);
  if (!byFlag) variants.set(pattern, (byFlag = new Map()));
  let variant = byFlag.get(flag);
  if (!variant) byFlag.set(flag, (variant = new RegExp(pattern.source, pattern.flags + flag)));
  return variant;
}

/**
 * Find the texts of all matches, as `findall` does for a pattern without groups.
 * @param {RegExp} pattern
 * @param {string} text
 */
export function findTexts(pattern, text) {
  return text.match(withFlag(pattern, "g")) ?? [];
}

/**
 * Find all matches, as `finditer` does.
 * @param {RegExp} pattern
 * @param {string} text
 */
export function findMatches(pattern, text) {
  return [...text.matchAll(withFlag(pattern, "g"))];
}

/**
 * Replace all matches, as `sub` does.
 * @param {RegExp} pattern
 * @param {string} text
 * @param {string | ((...groups: any[]) => string)} replacement
 */
export function replaceAll(pattern, text, replacement) {
  const whole = withFlag(pattern, "g");
  whole.lastIndex = 0;
  // Two calls, since the overloads of `replace` take a text or a function, not either.
  return typeof replacement === "string" ? text.replace(whole, replacement) : text.replace(whole, replacement);
}

/**
 * Escape a text so that a pattern with the flag "u" matches it as it is, in a class too.
 * @param {string} text
 */
export function escapePattern(text) {
  // Outside a class "\-" is an error.
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll("-", "\\x2d");
}
