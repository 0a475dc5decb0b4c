/** Select evidence from a pool: up to 8 passages, no near-duplicates, limited length. */
import { matchTerms } from "./bm25.js";
import { countCodePoints } from "./code_points.js";
import { orderBySection } from "./section_scores.js";
import { splitLowercaseWords } from "./tokenization.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./scoring.js").Scored} Scored
 * @typedef {import("./retrieve.js").RetrievalResult} RetrievalResult
 * @typedef {{ scored: Scored, rule: string | null }} SelectionDecision a candidate and the rule that drops it
 * @typedef {Object} Evidence all that an answerer may see, best first, and how the question was read
 * @property {Passage[]} passages
 * @property {number[]} sectionScores
 * @property {Set<string>[]} terms of the question that each passage's retrieval text holds
 * @property {Map<string, Map<string, number>>} idfs
 * @property {Float32Array | null} vector of the question, null if its frame is not in it
 */

/**
 * Order the passages of a pool and their siblings by sections.
 * @param {Store} store
 * @param {RetrievalResult} retrieved
 * @returns {Promise<RetrievalResult>}
 */
export async function arrangePool(store, retrieved) {
  const { reading } = retrieved;
  const pool = [...retrieved.passages, ...retrieved.siblings]
    .sort((left, right) => right.score - left.score)
    .slice(0, store.recipe.selection.POOL_SIZE);
  const ordered = await orderBySection(store, reading, pool);
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
    texts = new Map([...texts, ...(await store.loadPassages(rows.filter((row) => !texts.has(row))))]);
    decisions = decidePassages(store, pool, texts);
  }
  const selected = applyClearWinner(store, decisions).filter(({ rule }) => rule === null);
  return {
    passages: selected.map(({ scored }) => /** @type {Passage} */ (texts.get(scored.row))),
    sectionScores: selected.map(({ scored }) => scored.section),
    terms: selected.map(({ scored }) => scored.terms),
    idfs: reading.idfs,
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
  return pool.map((scored) => {
    const record = store.passageRecords[scored.row];
    const count = byRecord.get(record) ?? 0;
    if (selected.length === store.recipe.retrieve.TOP_K) return { scored, rule: "eight-above" };
    if (count === perRecord) return { scored, rule: "enough-of-its-record" };
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
