/** Strip control characters and bidirectional overrides from untrusted text; unify line ends. */

import { replaceAll } from "./patterns.js";

/** @import { Recipe } from "./recipe.js" */

/**
 * Remove control characters, bidirectional overrides and lone surrogates.
 *
 * Every kind of line end becomes a line feed, which code needs; a tab becomes four spaces.
 * @param {Recipe} recipe
 * @param {string} text
 */
export function sanitizeText(recipe, text) {
  const { LINE_ENDS, UNSAFE } = recipe.sanitization;
  return replaceAll(UNSAFE, replaceAll(LINE_ENDS, text, "\n").replaceAll("\t", "    "), "");
}
