/** Count by code points, as Python does; JavaScript's own units are of UTF-16. */

/**
 * Count the code points of a text, as `len` does.
 * @param {string} text
 */
export function countCodePoints(text) {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/**
 * Return the offset in code points of an offset in units.
 * @param {string} text
 * @param {number} offset
 */
export function codePointOffset(text, offset) {
  return countCodePoints(text.slice(0, offset));
}

/**
 * Return the offset in units of an offset in code points.
 * @param {string} text
 * @param {number} offset
 */
export function unitOffset(text, offset) {
  return Array.from(text).slice(0, offset).join("").length;
}
