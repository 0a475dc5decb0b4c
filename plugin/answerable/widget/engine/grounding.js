/** Check that a claim is its own quotes; name the rule it breaks. A claim in other words is dropped. */

import { countVisibleCharacters, foldTypography, isVisiblyBlank } from "./normalization.js";
import { sanitizeText } from "./sanitization.js";
import { stripSpace, stripSpaceAtStart } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./quotations.js").Quotation} Quotation
 */

/**
 * Choose the place of each quote of a claim, or name the rule that the claim breaks.
 * The keyless answerer drafts verbatim excerpts only, so what a model may do else is not checked here.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {(Quotation[] | string)[]} located for each quote its places, or the rule that it breaks
 * @returns {Quotation[] | string}
 */
export function chooseQuotations(recipe, text, located) {
  /** @type {Quotation[]} */
  const ordered = [];
  for (const quotations of located) {
    if (typeof quotations === "string") return quotations;
    const last = ordered[ordered.length - 1];
    const isAfter = (/** @type {Quotation} */ each) => each.passage !== last?.passage || each.start >= last.end;
    ordered.push(quotations.find(isAfter) ?? quotations[0]);
  }
  return checkClaim(recipe, text, ordered) ?? ordered;
}

/**
 * Name the rule that a claim breaks, else null.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {Quotation[]} quotations
 * @returns {string | null}
 */
function checkClaim(recipe, text, quotations) {
  if (isVisiblyBlank(recipe, text)) return "blank";
  if (countVisibleCharacters(text) > recipe.grounding.MAX_EXCERPT_CHARACTERS) return "length";
  return consistsOf(recipe, text, quotations) ? null : "quote";
}

/**
 * Test whether a text is the words of some quotes in order, sanitized as claims are.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {Quotation[]} quotations
 * @returns {boolean}
 */
function consistsOf(recipe, text, quotations) {
  const fold = (/** @type {string} */ words) => stripSpace(foldTypography(recipe, words).text);
  let remaining = fold(text);
  for (const [n, { passage, start, end }] of quotations.entries()) {
    const quote = fold(sanitizeText(recipe, passage.text.slice(start, end)));
    if (n && remaining.startsWith("…")) remaining = stripSpaceAtStart(remaining.slice(1));
    if (!remaining.startsWith(quote)) return false;
    remaining = stripSpaceAtStart(remaining.slice(quote.length));
  }
  return !remaining;
}
