/** Count by code points, as Python does; JavaScript's own units are of UTF-16. */

/**
 * Count the code points of a text, as `len` does.
 * @param {string} text
 */
export function countCodePoints(text) {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}
