/** Draft a reply, or refuse. */

import { rateAnswer } from "./confidence.js";
import { draftExcerpts } from "./extractive.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./contract.js").Answer} Answer
 * @typedef {import("./retrieve.js").RetrievalResult} RetrievalResult
 * @typedef {import("./selection.js").Evidence} Evidence
 *
 * An answer, its confidence in [0, 1], and the reason of a refusal; of a stored answer the words of its question, and
 * what would be answered without it.
 * @typedef {{answer: Answer, confidence: number, reason: "no-evidence" | "declined" | null, stored?: string,
 *   excerpts?: Reply | null}} Reply
 */

/**
 * Make the reply of a refusal.
 * @param {"no-evidence" | "declined"} reason
 * @returns {Reply}
 */
function refuse(reason) {
  return { answer: { claims: [] }, confidence: 0, reason };
}

/**
 * Draft an answer, or refuse; no draft without evidence.
 * @param {Store} store
 * @param {RetrievalResult} retrieved
 * @param {Evidence} evidence
 * @param {Float32Array | null} vector of the question
 * @param {(stage: "writing" | "checking") => void} onStage
 * @returns {Reply}
 */
export function draftReply(store, retrieved, evidence, vector, onStage) {
  const { passages } = evidence;
  if (!passages.length || !vector) return refuse("no-evidence");
  onStage("writing");
  const claims = draftExcerpts(store, retrieved.reading.question, evidence, vector);
  if (!claims.length) return refuse("declined");
  onStage("checking");
  return { answer: { claims }, confidence: rateAnswer(store, { claims }, retrieved, passages), reason: null };
}
