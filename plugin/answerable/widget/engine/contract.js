/** Enforce the answer contract: refuse a bad shape, resolve references, drop ungrounded claims. */

import { chooseQuotations, locateQuote } from "./grounding.js";
import { sanitizeText } from "./sanitization.js";
import { linkToStatements, widenToSentences } from "./statements.js";
import { stripSpace } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./grounding.js").Quotation} Quotation
 *
 * The exact id and url of a retrieved passage and the words of it that back a claim; `start` is in units.
 * @typedef {{passage: Passage, id: string, url: string, title: string, quote: string, start: number, date: string | null,
 *   href: string, language: string}} RecordCitation
 * @typedef {{text: string, citations: RecordCitation[]}} Claim
 * @typedef {{claims: Claim[], dropped: number, rules: string[]}} Answer
 * @typedef {{text: string, evidence: {source: string, quote: string}[]}} DraftClaim
 */

/** Say which rule of the contract a draft breaks, so that none of it may be shown. */
export class ContractViolation extends Error {}

/**
 * Validate and ground a draft of claims against the passages it was written from.
 * ContractViolation for a wrong shape and for a source that was never retrieved. A claim against a rule is
 * dropped and counted.
 * @param {Recipe} recipe
 * @param {any} draft
 * @param {Passage[]} passages
 * @returns {Answer}
 */
export function enforceContract(recipe, draft, passages) {
  const { MAX_ANSWER_CLAIMS } = recipe.contract;
  const draftClaims = validateDraft(recipe, draft);
  const grounded = draftClaims.slice(0, MAX_ANSWER_CLAIMS).map((claim) => groundClaim(recipe, claim, passages));
  const rules = grounded.filter((each) => typeof each === "string");
  for (let extra = draftClaims.length - MAX_ANSWER_CLAIMS; extra > 0; extra -= 1) rules.push("too-many");
  return { claims: grounded.filter((each) => typeof each !== "string"), dropped: rules.length, rules };
}

/**
 * Compute the mode that the citations of an answer imply; it is stored nowhere.
 * @param {Answer} answer
 * @returns {"partial" | "not-found"}
 */
export function computeMode({ claims }) {
  return claims.length ? "partial" : "not-found";
}

/**
 * List every distinct citation in order of first use.
 * @param {Answer} answer
 * @returns {RecordCitation[]}
 */
export function listCitations({ claims }) {
  return distinctCitations(claims.flatMap(({ citations }) => citations));
}

/**
 * @param {RecordCitation[]} citations
 * @returns {RecordCitation[]}
 */
function distinctCitations(citations) {
  return [...new Map(citations.map((each) => [citationKey(each), each])).values()];
}

/**
 * Return what tells a citation from others.
 * @param {RecordCitation} citation
 * @returns {string}
 */
export function citationKey({ id, url, quote, start }) {
  return JSON.stringify([id, url, quote, start]);
}

/**
 * Validate the shape of a draft; return its claims, sanitized.
 * @param {Recipe} recipe
 * @param {any} draft
 * @returns {DraftClaim[]}
 */
function validateDraft(recipe, draft) {
  return requireList(draft?.claims).map((claim) => {
    const evidence = requireList(claim?.evidence);
    if (!evidence.length) throw new ContractViolation("a claim has no evidence");
    return {
      // Without the characters that could change how a reader sees it, a text may be empty.
      text: requireText(sanitizeText(recipe, requireText(claim.text))),
      evidence: evidence.map((item) => ({ source: requireText(item?.source), quote: requireText(item?.quote) })),
    };
  });
}

/**
 * @param {any} value
 * @returns {any[]}
 */
function requireList(value) {
  if (!Array.isArray(value)) throw new ContractViolation("a list is missing in the draft");
  return value;
}

/**
 * @param {any} value
 * @returns {string}
 */
function requireText(value) {
  if (typeof value !== "string" || !stripSpace(value)) throw new ContractViolation("a text is missing in the draft");
  return value;
}

/**
 * Resolve a reference to a retrieved passage: a position such as "s1", else an id, else a url.
 * @param {string} reference
 * @param {Passage[]} passages
 * @returns {Passage}
 */
function resolveReference(reference, passages) {
  const passage =
    passages.find((_, at) => reference === `s${at + 1}`) ??
    passages.find(({ id }) => reference === id) ??
    passages.find(({ url }) => reference === url);
  if (!passage) throw new ContractViolation("a source was never retrieved");
  return passage;
}

/**
 * Ground one claim, or name the rule that drops it.
 * @param {Recipe} recipe
 * @param {DraftClaim} claim
 * @param {Passage[]} passages
 * @returns {Claim | string}
 */
function groundClaim(recipe, { text, evidence }, passages) {
  const located = evidence.map(({ source, quote }) =>
    locateQuote(recipe, quote, resolveReference(stripSpace(source), passages)),
  );
  const quotations = chooseQuotations(recipe, text, located);
  if (typeof quotations === "string") return quotations;
  return { text, citations: distinctCitations(quotations.map((each) => citeQuotation(recipe, each))) };
}

/**
 * Cite the whole sentences of a quote where they are short, so that no "not" is cut off.
 * @param {Recipe} recipe
 * @param {Quotation} quotation
 * @returns {RecordCitation}
 */
function citeQuotation(recipe, { passage, start, end }) {
  const [first, last] = widenToSentences(recipe, passage, start, end);
  const { id, url, title, date, language, text } = passage;
  const quote = text.slice(first, last);
  const href = linkToStatements(recipe, passage, first, last);
  return { passage, id, url, title, quote, start: first, date, href, language };
}
