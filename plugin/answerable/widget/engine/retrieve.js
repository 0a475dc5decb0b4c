/** Rank the passages above the floor for a question; add siblings on their pages. */
import { selectTopRows, sum } from "./bm25.js";
import { matchLanguages } from "./languages.js";
import { computeSignals, findPassageCandidates, listTopItems, scoreRows } from "./rank.js";
import { RULES } from "./rules.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./question.js").QuestionReading} QuestionReading
 * @typedef {import("./rank.js").Ranking} Ranking
 * @typedef {import("./rank.js").Scored} Scored
 * @typedef {import("./rank.js").Signals} Signals
 * @typedef {Object} RetrievalResult
 * @property {Scored[]} passages best first
 * @property {Scored[]} siblings other passages of the best pages, a little under the floor
 * @property {Scored[]} near passages a little under the floor, where a search asks for them
 * @property {QuestionReading} reading
 * @property {Float32Array | null} vector of the reading's text, null where nothing was embedded
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
 */
export async function retrieve(store, reading, vector, topK = RULES.retrieve.TOP_K, language = null, near = 0) {
  if (!reading.terms.size) return { passages: [], siblings: [], near: [], reading, vector: null };
  const unit = vector && normalizeQuery(store, vector);
  const readable = markReadable(store, language);
  const signals = computeSignals(store, reading);
  const slack = near && RULES.retrieve.SIBLING_SLACK;
  const ranking = scoreRows(store, await findPassageCandidates(store, unit, signals, readable, slack), signals);
  const listReadable = (/** @type {Uint8Array} */ mask, /** @type {number} */ count) => {
    const eligible = mask.map((isListed, place) => isListed & readable[ranking.rows[place]]);
    return listTopItems(ranking, eligible.includes(1) ? eligible : mask, count, signals);
  };
  const passages = listReadable(ranking.aboveFloor, topK);
  // Typed words alone have no cosines, which the floor is meant for.
  const nearFloor = unit ? Math.fround(store.manifest.profile.floor - RULES.retrieve.SIBLING_SLACK) : 0;
  const isNear = ranking.aboveFloor.map((above, place) => Number(!above && ranking.base[place] >= nearFloor));
  const nearest = listReadable(isNear, near);
  if (!unit) return { passages, siblings: [], near: nearest, reading, vector };
  const siblings = await rankSiblings(store, signals, unit, ranking, passages);
  return { passages, siblings, near: nearest, reading, vector };
}

/**
 * Scale an embedded question to length 1.
 * @param {Store} store
 * @param {Float32Array} vector
 */
export function normalizeQuery(store, vector) {
  const truncated = vector.subarray(0, store.manifest.dimensions);
  const norm = Math.fround(Math.sqrt(sum([...truncated].map((value) => value * value))));
  return truncated.map((value) => value / Math.max(norm, RULES.retrieve.TINY));
}

/**
 * Score the passages beside the best ones on their pages that have a word of the question.
 * @param {Store} store
 * @param {Signals} signals
 * @param {Float32Array} unit
 * @param {Ranking} ranking
 * @param {Scored[]} best
 */
async function rankSiblings(store, signals, unit, ranking, best) {
  const { SIBLING_PAGES, MAX_SIBLINGS, SIBLING_SLACK } = RULES.retrieve;
  const records = store.passageRecords;
  const pages = [...new Set(best.map(({ row }) => records[row]))].slice(0, SIBLING_PAGES);
  const beside = Uint8Array.from(signals.lexical, (_, row) => Number(signals.lexical[row] > 0 && pages.includes(records[row])));
  ranking.rows.forEach((row, place) => {
    if (ranking.aboveFloor[place]) beside[row] = 0;
  });
  const rows = selectTopRows(signals.lexical, MAX_SIBLINGS, beside).sort((left, right) => left - right);
  const scored = scoreRows(store, { rows, cosines: await store.loadCosines(unit, rows) }, signals);
  const floor = Math.fround(store.manifest.profile.floor - SIBLING_SLACK);
  const isNear = scored.aboveFloor.map((_, place) => Number(scored.base[place] >= floor));
  return listTopItems(scored, isNear, MAX_SIBLINGS, signals);
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
