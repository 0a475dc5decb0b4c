/** Rank the passages for a question, and order the sections in which they are shown and listed; see `retrieve.py`. */
import { computeIdfShare, selectBest, sum } from "./bm25.js";
import { matchLanguages } from "./languages.js";
import { Ranker } from "./rank.js";
import { RULES } from "./rules.js";
import { readPassage } from "./units.js";

/** @import { QuestionReading } from "./question.js" */
/** @import { Scored } from "./rank.js" */
/** @import { Passage, Store } from "./store.js" */

/**
 * What was found for a question.
 * @typedef {Object} RetrievalResult
 * @property {Scored[]} answers passages that answer it, in the order of sections, best first
 * @property {Scored[]} history passages that tell what a project was, where the question does not ask for that
 * @property {Scored[]} near passages a little under the floor, where a search asks for them
 * @property {QuestionReading} reading
 */

/**
 * Retrieve the passages for a question; one without content terms retrieves nothing.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Float32Array | null} vector of the reading's text; its length does not matter. With null all cosines are 0,
 *   no siblings are added, and neither vectors nor texts are loaded
 * @param {number} topK
 * @param {string | null} language of the question: passages in it, if any is above the floor, leave out all others
 * @param {number} near how many passages a little under the floor are returned too
 * @returns {Promise<RetrievalResult>}
 */
export async function retrieve(store, reading, vector, topK, language, near) {
  if (!reading.terms.size) return { answers: [], history: [], near: [], reading };
  const { SIBLING_SLACK, MAX_SIBLINGS } = RULES.retrieve;
  const unit = vector && normalizeQuery(store, vector);
  const tags = matchLanguages(language, store.site.tags);
  const listReadable = (/** @type {Scored[]} */ listed) => listed.filter(({ row }) => tags.includes(store.languageOf(row)));
  const select = (/** @type {Scored[]} */ listed, /** @type {number} */ count) => {
    const readable = listReadable(listed);
    return selectBest(readable.length ? readable : listed, count);
  };
  const ranker = new Ranker(store, reading);
  const scored = await ranker.scoreCandidates(unit, listReadable, near && SIBLING_SLACK);
  const above = scored.filter((each) => each.isAboveFloor);
  const passages = select(above, topK);
  const nearFloor = Math.fround(store.manifest.profile.floor - SIBLING_SLACK);
  // Typed words alone have no cosines, which the floor is meant for.
  const under = scored.filter(({ base, isAboveFloor }) => !isAboveFloor && base >= (unit ? nearFloor : 0));
  /** @type {Scored[]} */
  let siblings = [];
  if (unit) {
    const beside = ranker.selectBeside(passages, new Set(above.map(({ row }) => row)));
    const others = ranker.scoreRows(beside, await store.loadCosines(unit, beside));
    siblings = selectBest(others.filter(({ base }) => base >= nearFloor), MAX_SIBLINGS);
  }
  const ordered = orderSections(store, reading, selectBest([...passages, ...siblings], RULES.sections.POOL_SIZE));
  const answersQuestion = (/** @type {Scored} */ { question, row }) =>
    !store.isHistory[store.passageRecords[row]] || reading.asksForHistory || question > RULES.rank.SAME_QUESTION;
  return {
    answers: ordered.filter(answersQuestion),
    history: ordered.filter((each) => !answersQuestion(each)),
    near: select(under, near),
    reading,
  };
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
 * Order a pool by section score, best first.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Scored[]} pool best first
 */
function orderSections(store, reading, pool) {
  const { hasCode, passageLengths, passageRecords: records, passageTitles } = store;
  const parts = RULES.sections;
  /** @type {Map<number, number>} */
  const best = new Map();
  for (const { row, score } of pool) if (!best.has(records[row])) best.set(records[row], score);
  const rate = (/** @type {Scored} */ { base, question, row }) => {
    const language = store.languageOf(row);
    const heading = passageTitles[row].split(RULES.structure.TITLE_SEPARATOR).at(-1) ?? "";
    const weights = reading.idfs.get(language) ?? new Map();
    const share = computeIdfShare(weights, reading.forms, heading, language);
    let score = parts.PAGE_WEIGHT * (best.get(records[row]) ?? 0) + parts.OWN_WEIGHT * base;
    score += parts.HEADING_WEIGHT * share + parts.QUESTION_WEIGHT * question;
    score += parts.LENGTH_WEIGHT * Math.log(1 + passageLengths[row]);
    score += hasCode[row] ? parts.CODE_BONUS : 0;
    return score + (question > RULES.rank.SAME_QUESTION ? parts.SAME_QUESTION_BONUS : 0);
  };
  const rated = pool.map((scored) => ({ ...scored, section: rate(scored) }));
  return rated.sort((left, right) => right.section - left.section);
}

/**
 * List the sections that a search finds, best first, no two of the same text: those that answer, then near misses with
 * a word of the question.
 * @param {Store} store
 * @param {RetrievalResult} retrieved
 */
export async function listSections(store, { answers, history, near }) {
  const { passageRecords: records, passageUrls: urls } = store;
  /** @type {Map<string, Passage>} by url */
  const sections = new Map();
  /** @type {Map<number, number>} */
  const counts = new Map();
  const texts = new Set();
  const candidates = [...answers, ...history, ...near.filter(({ lexical }) => lexical > 0)];
  store.prefetch("texts", candidates.slice(0, RULES.retrieve.TOP_K).map(({ row }) => row));
  for (const { row } of candidates) {
    const count = counts.get(records[row]) ?? 0;
    if (sections.has(urls[row]) || count === RULES.sections.SECTIONS_PER_PAGE) continue;
    const [passage] = await store.loadPassages([row]);
    const { text } = readPassage(passage);
    if (texts.has(text)) continue;
    texts.add(text);
    sections.set(urls[row], passage);
    counts.set(records[row], count + 1);
    if (sections.size === RULES.retrieve.TOP_K) break;
  }
  return [...sections.values()];
}
