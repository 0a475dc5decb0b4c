/** Locate quotes, and check that a claim is its own quotes; a claim in other words is dropped. */

import { countVisibleCharacters, foldTypography, isVisiblyBlank } from "./normalization.js";
import { matchesAll } from "./patterns.js";
import { findQuotes } from "./quotes.js";
import { sanitizeText } from "./sanitization.js";
import { isLineOfCode } from "./statements.js";
import { countWords } from "./tokenization.js";
import { splitAtSpace, stripSpace, stripSpaceAtStart } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {{passage: Passage, start: number, end: number}} Quotation
 */

/**
 * Locate a quote wherever it occurs in a passage, or name the rule that it breaks.
 * @param {Recipe} recipe
 * @param {string} quote
 * @param {Passage} passage
 * @returns {Quotation[] | string}
 */
export function locateQuote(recipe, quote, passage) {
  const quotations = findQuotes(recipe, quote, passage.text).map(([start, end]) => ({ passage, start, end }));
  return quotations.length ? checkQuote(recipe, quotations[0]) ?? quotations : "quote";
}

/**
 * Refuse a quote of fewer than three words, unless it is whole: code, column names, all of its passage.
 * @param {Recipe} recipe
 * @param {Quotation} quotation
 * @returns {string | null}
 */
export function checkQuote(recipe, { passage, start, end }) {
  const { CODE_LIKE, MIN_QUOTE_WORDS } = recipe.grounding;
  const fold = (/** @type {string} */ text) => stripSpace(foldTypography(recipe, text).text);
  const quote = fold(passage.text.slice(start, end));
  const words = splitAtSpace(quote).filter((word) => !isVisiblyBlank(recipe, word));
  if (countWords(recipe, words.join(" ")) >= MIN_QUOTE_WORDS) return null;
  const isPlace = (/** @type {{start: number, end: number}} */ each) => each.start === start && each.end === end;
  const isWhole =
    passage.spans.some((span) => span.kind === "code" && isPlace(span)) ||
    passage.blocks.some((block) => block.detail === "header" && isPlace(block)) ||
    words.some((word) => matchesAll(CODE_LIKE, word)) ||
    passage.text.includes(`\`${quote}\``) ||
    isLineOfCode(passage, start, end);
  return isWhole || quote === fold(passage.text) ? null : "short-quote";
}

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
