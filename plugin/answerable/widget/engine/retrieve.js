/** Rank the passages above the floor for a question; add siblings on their pages. */
import { selectBest, sum } from "./bm25.js";
import { matchLanguages } from "./languages.js";
import { Ranker, rateScore } from "./rank.js";
import { RULES } from "./rules.js";

/** @import { QuestionReading } from "./question.js" */
/** @import { Scored } from "./rank.js" */
/** @import { Store } from "./store.js" */

/**
 * @typedef {Object} RetrievalResult
 * @property {Scored[]} passages best first
 * @property {Scored[]} siblings other passages of the best pages, a little under the floor
 * @property {Scored[]} near passages a little under the floor, where a search asks for them
 * @property {QuestionReading} reading
 */

/**
 * Rank the passages for a question; one without content terms retrieves nothing.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Float32Array | null} vector of the reading's text; its length does not matter. With null all cosines are 0,
 *   no siblings are added, and neither vectors nor texts are loaded
 * @param {number} [topK]
 * @param {string | null} [language] of the question: passages in it, if any is above the floor, leave out all others
 * @param {number} [near] how many passages a little under the floor are returned too
 * @returns {Promise<RetrievalResult>}
 */
export async function retrieve(store, reading, vector, topK = RULES.retrieve.TOP_K, language = null, near = 0) {
  if (!reading.terms.size) return { passages: [], siblings: [], near: [], reading };
  const { SIBLING_SLACK, MAX_SIBLINGS } = RULES.retrieve;
  const unit = vector && normalizeQuery(store, vector);
  const readable = markReadable(store, language);
  const ranker = new Ranker(store, reading);
  const scored = await ranker.scoreCandidates(unit, readable, near && SIBLING_SLACK);
  const selectReadable = (/** @type {Scored[]} */ listed, /** @type {number} */ count) => {
    const eligible = listed.filter(({ row }) => readable[row]);
    return selectBest(eligible.length ? eligible : listed, count, rateScore);
  };
  const above = scored.filter((each) => each.isAboveFloor);
  const passages = selectReadable(above, topK);
  const nearFloor = Math.fround(store.manifest.profile.floor - SIBLING_SLACK);
  // Typed words alone have no cosines, which the floor is meant for.
  const under = scored.filter(({ base, isAboveFloor }) => !isAboveFloor && base >= (unit ? nearFloor : 0));
  const nearest = selectReadable(under, near);
  if (!unit) return { passages, siblings: [], near: nearest, reading };
  const beside = ranker.selectBeside(passages, new Set(above.map(({ row }) => row)));
  const others = ranker.scoreRows(beside, await store.loadCosines(unit, beside));
  const siblings = selectBest(others.filter(({ base }) => base >= nearFloor), MAX_SIBLINGS, rateScore);
  return { passages, siblings, near: nearest, reading };
}

/**
 * Scale an embedded question to length 1.
 * @param {Store} store
 * @param {Float32Array} vector
 */
function normalizeQuery(store, vector) {
  const truncated = vector.subarray(0, store.manifest.dimensions);
  const norm = Math.fround(Math.sqrt(sum([...truncated].map((value) => value * value))));
  return truncated.map((value) => value / Math.max(norm, RULES.retrieve.TINY));
}

/**
 * Mark the passages in a language that the asker can read; none if none is known.
 * @param {Store} store
 * @param {string | null} language
 */
function markReadable({ site, passageRecords }, language) {
  const readable = new Uint8Array(passageRecords.length);
  const tags = matchLanguages(language, site.tags);
  for (const { tag, first, end } of site.languages) if (tags.includes(tag)) readable.fill(1, first, end);
  return readable;
}
