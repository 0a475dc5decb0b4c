/** Draft a reply that meets the contract, or refuse. */

import { rateAnswer } from "./confidence.js";
import { computeMode, ContractViolation, enforceContract } from "./contract.js";
import { draftExcerpts } from "./extractive.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./contract.js").Answer} Answer
 * @typedef {import("./retrieve.js").RetrievalResult} RetrievalResult
 * @typedef {import("./selection.js").Evidence} Evidence
 *
 * An answer, its confidence in [0, 1], and the reason of a refusal.
 * @typedef {{answer: Answer, confidence: number, reason: "no-evidence" | "declined" | "contract" | null}} Reply
 */

/**
 * Make the reply of a refusal.
 * @param {"no-evidence" | "declined" | "contract"} reason
 * @param {number} [dropped]
 * @returns {Reply}
 */
function refuse(reason, dropped = 0) {
  return { answer: { claims: [], dropped, rules: [] }, confidence: 0, reason };
}

/**
 * Draft an answer that meets the contract, or refuse; no draft without evidence.
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
  const draft = draftExcerpts(store, retrieved.reading.question, evidence, vector);
  onStage("checking");
  let answer;
  try {
    answer = enforceContract(store.recipe, draft, passages);
  } catch (error) {
    // A second draft would be the same.
    if (error instanceof ContractViolation) return refuse("contract");
    throw error;
  }
  if (computeMode(answer) === "not-found") return refuse("declined", answer.dropped);
  return { answer, confidence: rateAnswer(store, answer, retrieved, passages), reason: null };
}
