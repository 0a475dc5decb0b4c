/** Answers: claims that are ranges of retrieved passages, each cited by exactly the passage it is from. */

import { sanitizeText } from "./sanitization.js";
import { linkToRange, stripRange, widenToSentences } from "./units.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Passage} Passage
 *
 * A range of a passage.
 * @typedef {{passage: Passage, start: number, end: number}} Quotation
 *
 * The exact id and url of a retrieved passage and the words of it that back a claim; `start` is in units.
 * @typedef {{passage: Passage, id: string, url: string, title: string, quote: string, start: number, date: string | null,
 *   href: string, language: string}} RecordCitation
 * @typedef {{text: string, quotations: Quotation[], citations: RecordCitation[]}} Claim
 * @typedef {{claims: Claim[]}} Answer
 */

/**
 * Make a claim of what it quotes. There are no other claims, so nothing has to be looked for or dropped.
 * @param {Recipe} recipe
 * @param {string} text of the quotations, with dots between them
 * @param {Quotation[]} quotations
 */
export function makeClaim(recipe, text, quotations) {
  const citations = distinctCitations(quotations.map((each) => citeQuotation(recipe, each)));
  return { text: sanitizeText(recipe, text), quotations, citations };
}

/**
 * Make a claim of a whole passage, whose citation quotes its line.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {import("./units.js").TextRange} line
 */
export function quotePassage(recipe, passage, [start, end]) {
  const { id, url, title, date, language, text } = passage;
  const href = linkToRange(recipe, passage, start, end);
  const citation = { passage, id, url, title, quote: text.slice(start, end), start, date, href, language };
  const quotations = [{ passage, start: 0, end: text.length }];
  return { text: sanitizeText(recipe, text), quotations, citations: [citation] };
}

/**
 * Compute the mode that the citations of an answer imply; it is stored nowhere.
 * @param {Answer} answer
 */
export function computeMode({ claims }) {
  return claims.length ? "partial" : "not-found";
}

/**
 * List every distinct citation in order of first use.
 * @param {Answer} answer
 */
export function listCitations({ claims }) {
  return distinctCitations(claims.flatMap(({ citations }) => citations));
}

/** @param {RecordCitation[]} citations */
function distinctCitations(citations) {
  return [...new Map(citations.map((each) => [citationKey(each), each])).values()];
}

/**
 * Return what tells a citation from others.
 * @param {RecordCitation} citation
 */
export function citationKey({ id, url, quote, start }) {
  return JSON.stringify([id, url, quote, start]);
}

/**
 * Cite the whole sentences of a quote where they are short, so that no "not" is cut off.
 * @param {Recipe} recipe
 * @param {Quotation} quotation
 */
function citeQuotation(recipe, { passage, start, end }) {
  const [first, last] = widenToSentences(recipe, passage, ...stripRange(passage.text, start, end));
  const { id, url, title, date, language, text } = passage;
  const href = linkToRange(recipe, passage, first, last);
  return { passage, id, url, title, quote: text.slice(first, last), start: first, date, href, language };
}
