/** Replies as they travel: claims of Markdown, citations and notes. */
import { stripRange } from "./tokenization.js";

/** @import { Remark } from "./question.js" */
/** @import { Store } from "./store.js" */
/** @import { Citation } from "./units.js" */

/**
 * A whole passage, or what the build has judged: as text, as Markdown, and what it is from.
 * @typedef {{text: string, markdown: string, citations: Citation[]}} Claim
 *
 * An answer, its confidence, and the reason of a refusal; of a stored answer the words of its question, and what would
 * be answered without it.
 * @typedef {{claims: Claim[], confidence: "high" | "medium" | "low", reason: "no-evidence" | null, stored?: string,
 *   excerpts?: Reply | null}} Reply
 */

/**
 * Serialize the body of an answer: claims by the numbers of their citations, in order of first use.
 * @param {Reply} reply
 * @param {Store} store
 * @param {Remark[]} remarks on the question's words
 * @returns {Record<string, any>}
 */
export function serializeAnswer({ claims, confidence, reason, stored, excerpts }, store, remarks) {
  const { manifest, site } = store;
  const nameCitation = (/** @type {Citation} */ { id, url, quote }) => JSON.stringify([id, url, quote]);
  const citations = new Map(claims.flatMap((claim) => claim.citations).map((each) => [nameCitation(each), each]));
  const names = [...citations.keys()];
  const numbered = claims.map(({ text, markdown, citations: cited }) => {
    return { text, markdown, citations: [...new Set(cited.map((each) => names.indexOf(nameCitation(each)) + 1))] };
  });
  const parts = numbered.map(({ text, citations: numbers }) => insertClaimMarkers(text, numbers));
  return {
    mode: claims.length ? "partial" : "not-found",
    answer: parts.map((part) => (part.endsWith("\n") ? part : `${part} `)).join("").trimEnd(),
    claims: numbered.map(({ text: _, ...claim }) => claim),
    routes: [],
    citations: [...citations.values()].map((citation, at) => serializeCitation(citation, at + 1, store)),
    confidence,
    // No model is called here: only a stored answer has been written, and none is stored in part.
    written: Boolean(stored),
    complete: Boolean(stored),
    fallback: false,
    reason,
    // Nothing that it does not quote is ever drafted.
    dropped: 0,
    // A refusal shows no results for another spelling.
    notes: remarks.filter(({ kind }) => claims.length || kind !== "corrected"),
    site_url: site.url,
    bundle: manifest.id,
    built_at: manifest.built_at,
    ...(stored && {
      stored: true,
      question: stored,
      // The answer's notes stand before both.
      excerpts: excerpts ? serializeAnswer(excerpts, store, []) : null,
    }),
  };
}

/**
 * Add the absolute form of a row's url, which is complete or begins at the root, as `absolute_url`; none without a base.
 * Only joined: the URL class would write other characters too.
 * @template {{url: string}} T
 * @param {T} row
 * @param {string | null} base
 * @returns {T & {absolute_url?: string}}
 */
export function addAbsoluteUrl(row, base) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(row.url)) return { ...row, absolute_url: row.url };
  const [origin] = base?.match(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i) ?? [null];
  return origin ? { ...row, absolute_url: origin + row.url } : row;
}

/**
 * Insert the markers of a claim; one of several lines has them in a line of their own.
 * @param {string} text
 * @param {number[]} numbers
 */
function insertClaimMarkers(text, numbers) {
  const markers = numbers.map((number) => `[${number}]`).join("");
  const [start, end] = stripRange(text);
  const body = text.slice(0, end);
  if (body.includes("\n", start)) return `${body}\n${markers}\n`;
  if (/(?:\.\.|[…!?:])$/.test(body)) return `${body} ${markers}`;
  // Before a sentence's period, where a reader expects them.
  return `${body.endsWith(".") ? body.slice(0, -1) : body} ${markers}.`;
}

/**
 * @param {Citation} citation
 * @param {number} n
 * @param {Store} store
 */
function serializeCitation({ id, url, title, quote, date, href, language }, n, { site }) {
  const row = {
    n,
    kind: "record",
    id,
    url,
    title,
    date,
    // Of a site in one language no reader needs to know it.
    language: site.languages.length > 1 ? language : null,
    quote,
    href: href || url,
  };
  return addAbsoluteUrl(row, site.url);
}
