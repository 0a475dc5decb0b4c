/** Serialize a reply as the JSON body of a response, with an answer of [n] citation markers. */

import { codePointOffset } from "./code_points.js";
import { bucketConfidence } from "./confidence.js";
import { citationKey, computeMode, listCitations } from "./contract.js";
import { stripSpace, stripSpaceAtEnd } from "./white_space.js";
import { buildClaimBlocks } from "./wire_blocks.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./contract.js").RecordCitation} RecordCitation
 * @typedef {import("./draft_loop.js").Reply} Reply
 */

/**
 * Serialize the body of an answer: claims by the numbers of their citations.
 * @param {Reply} reply
 * @param {Store} store
 * @param {string} requestId
 * @param {import("./question.js").Remark[]} remarks on the question's words
 * @returns {Record<string, any>}
 */
export function serializeAnswer({ answer, confidence, reason }, store, requestId, remarks) {
  const { manifest, recipe, site } = store;
  const citations = listCitations(answer);
  const numbers = new Map(citations.map((citation, at) => [citationKey(citation), at + 1]));
  const claims = answer.claims.map((claim) => {
    /** @type {{text: string, citations: number[], blocks?: any[]}} */
    const row = {
      text: claim.text,
      citations: claim.citations.map((each) => /** @type {number} */ (numbers.get(citationKey(each)))),
    };
    const blocks = buildClaimBlocks(recipe, claim);
    if (blocks) row.blocks = blocks;
    return row;
  });
  const parts = claims.map(({ text, citations: numbered }) => insertClaimMarkers(text, numbered));
  return {
    mode: computeMode(answer),
    answer: stripSpaceAtEnd(parts.map((part) => (part.endsWith("\n") ? part : `${part} `)).join("")),
    claims,
    routes: [],
    citations: citations.map((citation, at) => serializeCitation(citation, at + 1, store)),
    confidence: bucketConfidence(recipe, confidence),
    reason,
    dropped: answer.dropped,
    // A refusal shows no results for another spelling, and an answer needed no earlier question.
    notes: remarks.filter(({ kind }) => kind !== (answer.claims.length ? "follow-up" : "corrected")),
    site_url: site.url,
    bundle: manifest.id,
    built_at: manifest.built_at,
    request_id: requestId,
  };
}

/**
 * Return the absolute form of a url, which is complete or begins at the root; null without a base.
 * Only joined: the URL class would write other characters too.
 * @param {string} url
 * @param {string | null} base
 * @returns {string | null}
 */
function joinUrl(url, base) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) return url;
  const [origin] = base?.match(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i) ?? [null];
  return origin && origin + url;
}

/**
 * Insert the markers of a claim; one of several lines has them in a line of their own.
 * @param {string} text
 * @param {number[]} numbers
 * @returns {string}
 */
function insertClaimMarkers(text, numbers) {
  const markers = numbers.map((number) => `[${number}]`).join("");
  const body = stripSpaceAtEnd(text);
  if (stripSpace(text).includes("\n")) return `${body}\n${markers}\n`;
  if (/(?:\.\.|[…!?:])$/.test(body)) return `${body} ${markers}`;
  // Before a sentence's period, where a reader expects them.
  return `${body.endsWith(".") ? body.slice(0, -1) : body} ${markers}.`;
}

/**
 * @param {RecordCitation} citation
 * @param {number} n
 * @param {Store} store
 * @returns {Record<string, any>}
 */
function serializeCitation({ passage, id, url, title, quote, start, date, href, language }, n, { site }) {
  const absolute = joinUrl(url, site.url);
  return {
    n,
    kind: "record",
    id,
    url,
    title,
    date,
    // Of a site in one language no reader needs to know it.
    language: site.languages.length > 1 ? language : null,
    quote,
    start: codePointOffset(passage.text, start),
    href: href || url,
    ...(absolute && { absolute_url: absolute }),
  };
}
