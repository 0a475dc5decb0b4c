/** Count and compare by code points, as Python does; JavaScript's own units are of UTF-16. */

/**
 * Count the code points of a text, as `len` does.
 * @param {string} text
 * @returns {number}
 */
export function countCodePoints(text) {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/**
 * Return the offset in code points of an offset in units.
 * @param {string} text
 * @param {number} offset
 * @returns {number}
 */
export function codePointOffset(text, offset) {
  return countCodePoints(text.slice(0, offset));
}

/**
 * Compare two texts in the order of their code points, as `sorted` does.
 * @param {string} left
 * @param {string} right
 * @returns {number}
 */
export function compareCodePoints(left, right) {
  const end = Math.min(left.length, right.length);
  let at = 0;
  while (at < end && left[at] === right[at]) at += 1;
  if (at === end) return left.length - right.length;
  return rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
}

/**
 * Rank a unit so that surrogates, whose code points are the largest, come last.
 * @param {number} unit
 * @returns {number}
 */
function rank(unit) {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
