/** Compute confidence: how far the best score is above its floor, less if no one section answers. */

import { computeIdfShare } from "./bm25.js";
import { matchesStart } from "./patterns.js";
import { splitLowercaseWords } from "./tokenization.js";
import { formsIn } from "./word_forms.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./contract.js").Answer} Answer
 * @typedef {import("./retrieve.js").RetrievalResult} RetrievalResult
 */

/**
 * Compute the confidence in an answer that has a source, in [0, 1).
 * @param {Store} store
 * @param {Answer} answer
 * @param {RetrievalResult} retrieved
 * @param {Passage[]} passages of the evidence
 * @returns {number}
 */
export function rateAnswer(store, answer, retrieved, passages) {
  const { profile } = store.manifest;
  const { recipe } = store;
  const { reading } = retrieved;
  const [{ citations }] = answer.claims;
  const passage = /** @type {Passage} */ (passages.find(({ id }) => id === citations[0].id));
  const weights = reading.idfs.get(passage.language) ?? new Map();
  const forms = formsIn(reading.forms, passage.language);
  const quotes = citations.map(({ quote }) => quote).join("\n");
  const best =
    passage.language.startsWith("en")
      ? // Neither its page nor its date says how near a passage comes to the question.
        Math.max(...retrieved.passages.map(({ base }) => base))
      : computeIdfShare(recipe, weights, forms, `${passage.title}\n${quotes}`, passage.language);
  const isSure =
    !reading.remarks.some(({ kind }) => kind === "unknown") &&
    new Set(answer.claims.flatMap((claim) => claim.citations.map(({ id }) => id))).size === 1 &&
    isDirectAnswer(recipe, reading.question, weights, forms, passage, quotes);
  const { INDIRECT_ANSWER_FACTOR, MEDIUM_CONFIDENCE } = recipe.confidence;
  const confidence = (isSure ? 1 : INDIRECT_ANSWER_FACTOR) * computeConfidence(recipe, best - profile.floor);
  const [scored] = [...retrieved.passages, ...retrieved.siblings].filter(({ row }) => row === passage.row);
  // Its author says that the section answers this very question.
  return scored.question > recipe.boosts.SAME_QUESTION ? Math.max(confidence, MEDIUM_CONFIDENCE) : confidence;
}

/**
 * Map the distance of the best score from its floor to [0, 1), rising.
 * @param {Recipe} recipe
 * @param {number} distance
 * @returns {number}
 */
export function computeConfidence({ confidence }, distance) {
  return 1 - Math.exp(-Math.max(0, distance) / confidence.CONFIDENCE_SCALE);
}

/**
 * Name the bucket of a confidence, which is all that is published of it.
 * @param {Recipe} recipe
 * @param {number} value
 * @returns {"high" | "medium" | "low"}
 */
export function bucketConfidence({ confidence }, value) {
  if (value >= confidence.HIGH_CONFIDENCE) return "high";
  return value >= confidence.MEDIUM_CONFIDENCE ? "medium" : "low";
}

/**
 * Test whether an excerpt contains nearly all of a question, and its headings half of it.
 * The excerpt must also have the question's polarity, and code or steps if the question asks how.
 * @param {Recipe} recipe
 * @param {string} question
 * @param {Map<string, number>} weights the idf of the question's terms
 * @param {Map<string, string>} forms the term of each of their forms
 * @param {Passage} passage
 * @param {string} excerpt
 * @returns {boolean}
 */
export function isDirectAnswer(recipe, question, weights, forms, passage, excerpt) {
  const { HOW, MIN_EXCERPT_SHARE, MIN_HEADING_SHARE } = recipe.confidence;
  const { language, title } = passage;
  const shown = `${title}\n${excerpt}`;
  if (computeIdfShare(recipe, weights, forms, shown, language) < MIN_EXCERPT_SHARE) return false;
  if (computeIdfShare(recipe, weights, forms, title, language) < MIN_HEADING_SHARE) return false;
  if (!hasSamePolarity(recipe, question, shown)) return false;
  const isStepOrCode = (/** @type {{kind: string}} */ { kind }) => ["code", "item", "row"].includes(kind);
  return !matchesStart(HOW, question) || passage.blocks.some(isStepOrCode) || passage.spans.some(({ kind }) => kind === "code");
}

/**
 * Test that a text does not negate a question or use the antonyms of its words.
 * @param {Recipe} recipe
 * @param {string} question
 * @param {string} text
 * @returns {boolean}
 */
export function hasSamePolarity(recipe, question, text) {
  const { NEGATION, OPPOSITES } = recipe.confidence;
  if (NEGATION.test(question) && !NEGATION.test(text)) return false;
  const questionWords = new Set(splitLowercaseWords(recipe, question));
  const textWords = new Set(splitLowercaseWords(recipe, text));
  const isOpposed = (/** @type {string[]} */ own, /** @type {string[]} */ other) => {
    const hasAny = (/** @type {Set<string>} */ words, /** @type {string[]} */ of) => of.some((each) => words.has(each));
    return hasAny(questionWords, own) && !hasAny(questionWords, other) && hasAny(textWords, other) && !hasAny(textWords, own);
  };
  return !OPPOSITES.some((/** @type {string[][]} */ [one, other]) => isOpposed(one, other) || isOpposed(other, one));
}
