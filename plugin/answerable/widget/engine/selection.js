/** Choice among retrieved passages: section scores, duplicates, and the evidence of each page. */
import { computeIdfShare, matchTerms } from "./bm25.js";
import { countCodePoints } from "./code_points.js";
import { namesSite } from "./question.js";
import { extractTerms, splitLowercaseWords, splitWords } from "./tokenization.js";
import { formsIn } from "./word_forms.js";

/**
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./question.js").QuestionReading} QuestionReading
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./retrieve.js").RetrievalResult} RetrievalResult
 * @typedef {import("./scoring.js").Scored} Scored
 * @typedef {import("./store.js").Store} Store
 */

/**
 * Order a pool by section score, best first, and add the section scores.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Scored[]} pool
 * @returns {Scored[]}
 */
function orderBySection(store, reading, pool) {
  const { hasCode, passageLengths, passageRecords: records, passageTitles, passageUrls, recipe } = store;
  const parts = recipe.selection;
  const words = new Set(splitLowercaseWords(recipe, reading.question));
  /** @type {Map<number, number>} */
  const best = new Map();
  for (const { row, score } of pool) best.set(records[row], Math.max(score, best.get(records[row]) ?? score));
  const rate = (/** @type {Scored} */ { base, question, row }) => {
    const language = store.languageOf(row);
    const heading = passageTitles[row].split(recipe.structure.TITLE_SEPARATOR).at(-1) ?? "";
    const weights = reading.idfs.get(language) ?? new Map();
    const share = computeIdfShare(recipe, weights, formsIn(reading.forms, language), heading, language);
    const length = parts.LENGTH_WEIGHT * Math.log(1 + passageLengths[row]);
    const introduction = reading.asksForDefinition ? scoreIntroduction(store, reading, row, heading) : 0;
    const form = introduction || (hasCode[row] ? parts.CODE_BONUS : 0) + length;
    const [, name] = parts.MEMBER.exec(passageUrls[row]) ?? [];
    const isNamed = name !== undefined && splitLowercaseWords(recipe, name).every((word) => words.has(word));
    const member = name === undefined ? 0 : isNamed ? parts.MEMBER_WEIGHT : -parts.MEMBER_WEIGHT;
    const same = question > recipe.boosts.SAME_QUESTION ? parts.SAME_QUESTION_BONUS : 0;
    const asked = form + member + same + parts.QUESTION_WEIGHT * question;
    const page = parts.PAGE_WEIGHT * (best.get(records[row]) ?? 0);
    return page + parts.OWN_WEIGHT * base + parts.HEADING_WEIGHT * share + asked;
  };
  return pool
    .map((scored) => ({ ...scored, section: rate(scored) }))
    .sort((left, right) => right.section - left.section);
}

/**
 * Score a passage that introduces what a definition is asked of: the first one of its page, or of a
 * section whose heading is no more than that.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {number} row
 * @param {string} heading
 * @returns {number}
 */
function scoreIntroduction(store, reading, row, heading) {
  const { passageIds, passageRecords: records, recipe, recordIds, titleTerms } = store;
  const { HOME_BONUS, INTRODUCTION_BONUS, WINDOW_SUFFIX } = recipe.selection;
  const language = store.languageOf(row);
  const terms = new Set(reading.terms.get(language) ?? []);
  if (!terms.size || WINDOW_SUFFIX.test(passageIds[row])) return 0;
  const isFirst = !row || records[row - 1] !== records[row];
  const isHome = isFirst && isHomeRecord(recipe, recordIds[records[row]], language);
  if (isHome && namesSite(store, reading, language)) return HOME_BONUS;
  const isTitled = [...terms].every((term) => titleTerms.get(term)?.records.includes(records[row]));
  const own = new Set(extractTerms(recipe, heading, language, formsIn(reading.forms, language)));
  const isWhole = splitWords(recipe, heading).length <= terms.size && own.size === terms.size;
  const isHeaded = isWhole && [...own].every((term) => terms.has(term));
  return isHeaded || (isFirst && isTitled) ? INTRODUCTION_BONUS : 0;
}

/**
 * Test whether a page is the first one of a site, or of one of its languages.
 * @param {Recipe} recipe
 * @param {string} record
 * @param {string} language
 * @returns {boolean}
 */
function isHomeRecord({ selection: { HOME_RECORDS } }, record, language) {
  const path = record.startsWith(`${language}/`) ? record.slice(language.length + 1) : record;
  return HOME_RECORDS.includes(path.endsWith(`.${language}`) ? path.slice(0, -language.length - 1) : path);
}

/**
 * @typedef {{ scored: Scored, rule: string | null }} SelectionDecision a candidate and the rule that drops it
 * @typedef {Object} Evidence all that an answerer may see, best first, and how the question was read
 * @property {Passage[]} passages
 * @property {number[]} sectionScores
 * @property {Set<string>[]} terms of the question that each passage's retrieval text holds
 * @property {Map<string, Map<string, number>>} idfs
 * @property {import("./word_forms.js").Forms} forms
 * @property {Float32Array | null} vector of the question, null if its frame is not in it
 */

/**
 * Order the passages of a pool and their siblings by sections.
 * @param {Store} store
 * @param {RetrievalResult} retrieved
 * @returns {RetrievalResult}
 */
export function arrangePool(store, retrieved) {
  const { reading } = retrieved;
  const pool = [...retrieved.passages, ...retrieved.siblings]
    .sort((left, right) => right.score - left.score)
    .slice(0, store.recipe.selection.POOL_SIZE);
  const ordered = orderBySection(store, reading, pool);
  const terms = new Set([...reading.idfs.values()].flatMap((weights) => [...weights.keys()]));
  const termsByRow = matchTerms(store, terms, ordered.map(({ row }) => row));
  const passages = ordered.map((scored, place) => ({ ...scored, terms: termsByRow[place] }));
  return { ...retrieved, passages, siblings: [] };
}

/**
 * Select at most eight passages of a pool, in its order. The first of near-duplicates stays, and of
 * one page as many as the profile says; where one page clearly leads, one passage of another.
 * @param {Store} store
 * @param {RetrievalResult} retrieved
 * @returns {Promise<Evidence>}
 */
export async function selectEvidence(store, { passages: pool, reading, vector }) {
  /** @type {Map<number, Passage>} */
  let texts = new Map();
  let decisions = decidePassages(store, pool, texts);
  // Each round loads what would be selected if no text repeated another one.
  for (;;) {
    const rows = decisions.filter(({ rule }) => rule === null).map(({ scored }) => scored.row);
    if (rows.every((row) => texts.has(row))) break;
    store.prefetch("statements", rows);
    texts = new Map([...texts, ...(await store.loadPassages(rows.filter((row) => !texts.has(row))))]);
    decisions = decidePassages(store, pool, texts);
  }
  const selected = applyClearWinner(store, decisions).filter(({ rule }) => rule === null);
  return {
    passages: selected.map(({ scored }) => /** @type {Passage} */ (texts.get(scored.row))),
    sectionScores: selected.map(({ scored }) => scored.section),
    terms: selected.map(({ scored }) => scored.terms),
    idfs: reading.idfs,
    forms: reading.forms,
    vector: reading.text === reading.question ? vector : null,
  };
}

/**
 * Decide for each passage of a pool, best first, which rule drops it. One whose text is not loaded
 * yet repeats none.
 * @param {Store} store
 * @param {Scored[]} pool
 * @param {Map<number, Passage>} texts
 * @returns {SelectionDecision[]}
 */
function decidePassages(store, pool, texts) {
  const perRecord = store.manifest.profile.passages_per_page;
  /** @type {Set<string>[]} */
  const selected = [];
  const byRecord = new Map();
  const ofRecord = (/** @type {Scored} */ { row }) => store.passageRecords[row];
  const rising = [...pool].sort((left, right) => right.base - left.base).reverse();
  const bestOfPages = new Map(rising.map((scored) => [ofRecord(scored), scored.row]));
  return pool.map((scored) => {
    const record = ofRecord(scored);
    const count = byRecord.get(record) ?? 0;
    if (selected.length === store.recipe.retrieve.TOP_K) return { scored, rule: "eight-above" };
    if (count >= perRecord && scored.row !== bestOfPages.get(record)) return { scored, rule: "enough-of-its-record" };
    const text = texts.get(scored.row)?.text;
    const shingles = text === undefined ? new Set() : splitShingles(store, text);
    if (shingles.size && selected.some((own) => isNearDuplicate(store, shingles, own))) {
      return { scored, rule: "near-duplicate" };
    }
    selected.push(shingles);
    byRecord.set(record, count + 1);
    return { scored, rule: null };
  });
}

/**
 * Fit evidence to a budget in characters of text, title and context. Whole passages are dropped,
 * lowest first; a record's best passage and its context count against the total only.
 * @param {Store} store
 * @param {Evidence} evidence
 * @returns {Evidence}
 */
export function fitBudget(store, evidence) {
  const { MAX_EVIDENCE_CHARACTERS, MAX_RECORD_CHARACTERS } = store.recipe.selection;
  let used = 0;
  const byRecord = new Map();
  const fits = evidence.passages.map(({ record, row, title, text }) => {
    const length = countCodePoints(title);
    const size = countCodePoints(text) + length;
    const share = byRecord.get(record) ?? 0;
    const context = share ? 0 : length + store.contextLengths[store.passageRecords[row]];
    if (used + size + context > MAX_EVIDENCE_CHARACTERS) return false;
    if (share && share + size > MAX_RECORD_CHARACTERS) return false;
    used += size + context;
    byRecord.set(record, share + size);
    return true;
  });
  /**
   * @template T
   * @param {T[]} values
   */
  const fitting = (values) => values.filter((_, place) => fits[place]);
  const { passages, sectionScores, terms } = evidence;
  return {
    ...evidence,
    passages: fitting(passages),
    sectionScores: fitting(sectionScores),
    terms: fitting(terms),
  };
}

/**
 * Drop all but the best passage of other records where the best record clearly leads.
 * @param {Store} store
 * @param {SelectionDecision[]} decisions
 * @returns {SelectionDecision[]}
 */
function applyClearWinner({ passageRecords, recipe }, decisions) {
  const others = decisions.filter(
    ({ scored, rule }) => rule === null && passageRecords[scored.row] !== passageRecords[decisions[0].scored.row],
  );
  if (!others.length || decisions[0].scored.score - others[0].scored.score < recipe.selection.WINNER_MARGIN) {
    return decisions;
  }
  const dropped = new Set(others.slice(1));
  return decisions.map((each) => (dropped.has(each) ? { ...each, rule: "clear-winner" } : each));
}

/**
 * Split a text into its shingles of three words; a shorter one is one shingle.
 * @param {Store} store
 * @param {string} text
 * @returns {Set<string>}
 */
function splitShingles({ recipe }, text) {
  const words = splitLowercaseWords(recipe, text);
  const count = recipe.selection.SHINGLE_WORDS;
  const shingles = new Set([words.slice(0, count).join(" ")]);
  for (let start = 1; start <= words.length - count; start += 1) {
    shingles.add(words.slice(start, start + count).join(" "));
  }
  return shingles;
}

/**
 * Test whether a text repeats the other one, or only a part of it.
 * @param {Store} store
 * @param {Set<string>} shingles
 * @param {Set<string>} other
 * @returns {boolean}
 */
function isNearDuplicate({ recipe }, shingles, other) {
  const common = [...shingles].filter((each) => other.has(each)).length;
  return (
    common === shingles.size ||
    common >= recipe.selection.DUPLICATE_SHARE * (shingles.size + other.size - common)
  );
}
