/** Answers: claims that are whole passages, or that the build has judged, each cited by the passages it is from. */

import { linkToRange, readPassage } from "./units.js";

/**
 * @typedef {import("./store.js").Passage} Passage
 *
 * The exact id and url of a retrieved passage, and the words of it that back a claim.
 * @typedef {{id: string, url: string, title: string, quote: string, date: string | null, href: string,
 *   language: string}} RecordCitation
 *
 * A claim as text, and as Markdown.
 * @typedef {{text: string, markdown: string, citations: RecordCitation[]}} Claim
 * @typedef {{claims: Claim[]}} Answer
 */

/**
 * Make a claim, whose citations are in order of first use.
 * @param {string} text
 * @param {string} markdown
 * @param {RecordCitation[]} citations
 * @returns {Claim}
 */
export function makeClaim(text, markdown, citations) {
  return { text, markdown, citations: distinctCitations(citations) };
}

/**
 * Cite a range of a passage.
 * @param {Passage} passage
 * @param {import("./units.js").TextRange} range
 * @returns {RecordCitation}
 */
export function citeRange(passage, [start, end]) {
  const { id, url, title, date, language } = passage;
  const quote = readPassage(passage).text.slice(start, end);
  return { id, url, title, quote, date, href: linkToRange(passage, start, end), language };
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
export function citationKey({ id, url, quote }) {
  return JSON.stringify([id, url, quote]);
}
