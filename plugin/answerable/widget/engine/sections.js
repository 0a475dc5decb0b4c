/** The order of sections, in which passages are shown and listed; see `retrieve.py`. */
import { computeIdfShare, selectBest } from "./bm25.js";
import { rateScore } from "./rank.js";
import { RULES } from "./rules.js";
import { readPassage } from "./units.js";

/** @import { QuestionReading } from "./question.js" */
/** @import { Scored } from "./rank.js" */
/** @import { RetrievalResult } from "./retrieve.js" */
/** @import { Store } from "./store.js" */

/**
 * Order by section score, best first, what is above the floor, and what is a little under it beside such a passage.
 * @param {Store} store
 * @param {RetrievalResult} retrieved
 */
function orderCandidates(store, { passages, siblings, reading }) {
  const pool = selectBest([...passages, ...siblings], RULES.sections.POOL_SIZE, rateScore);
  const { hasCode, passageLengths, passageRecords: records, passageTitles } = store;
  const parts = RULES.sections;
  /** @type {Map<number, number>} */
  const best = new Map();
  for (const { row, score } of pool) best.set(records[row], Math.max(score, best.get(records[row]) ?? score));
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
  return pool
    .map((scored) => ({ ...scored, section: rate(scored) }))
    .sort((left, right) => right.section - left.section);
}

/**
 * Choose the passages that answer a question, best first. What a project was answers only a question that has a word
 * for history.
 * @param {Store} store
 * @param {RetrievalResult} retrieved
 */
export function choosePassages(store, retrieved) {
  return orderCandidates(store, retrieved).filter((scored) => answersQuestion(store, retrieved.reading, scored));
}

/**
 * Tell whether a passage is not of history, or asked for or known to be the answer all the same.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Scored} scored
 */
function answersQuestion({ isHistory, passageRecords }, { asksForHistory }, { question, row }) {
  return !isHistory[passageRecords[row]] || asksForHistory || question > RULES.rank.SAME_QUESTION;
}

/**
 * List the sections that a search finds, best first, no two of the same text: those that answer, then near misses with
 * a word of the question.
 * @param {Store} store
 * @param {RetrievalResult} retrieved
 * @returns {Promise<number[]>} rows
 */
export async function listSections(store, retrieved) {
  const { passageRecords: records, passageUrls: urls } = store;
  const near = retrieved.near.filter(({ lexical }) => lexical > 0);
  /** @type {Map<string, number>} */
  const sections = new Map();
  /** @type {Map<number, number>} */
  const counts = new Map();
  const texts = new Set();
  const ordered = orderCandidates(store, retrieved);
  const answers = (/** @type {Scored} */ scored) => answersQuestion(store, retrieved.reading, scored);
  const candidates = [...ordered.filter(answers), ...ordered.filter((scored) => !answers(scored)), ...near];
  store.prefetch("texts", candidates.slice(0, RULES.retrieve.TOP_K).map(({ row }) => row));
  for (const { row } of candidates) {
    const count = counts.get(records[row]) ?? 0;
    if (sections.has(urls[row]) || count === RULES.sections.SECTIONS_PER_PAGE) continue;
    const passage = /** @type {import("./store.js").Passage} */ ((await store.loadPassages([row])).get(row));
    const { text } = readPassage(passage);
    if (texts.has(text)) continue;
    texts.add(text);
    sections.set(urls[row], row);
    counts.set(records[row], count + 1);
    if (sections.size === RULES.retrieve.TOP_K) break;
  }
  return [...sections.values()];
}
