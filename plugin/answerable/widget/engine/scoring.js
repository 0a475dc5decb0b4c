/** Score passages by words, cosine, boosts, with a floor: estimate all, score the best exactly. */
import { findFullMatches, scoreBm25, selectTopRows, sum } from "./bm25.js";
import { scoreFreshness, scoreNameBoosts, scorePages, scoreQuestions } from "./boosts.js";
import { extractTerms } from "./tokenization.js";
import { formsIn } from "./word_forms.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./question.js").QuestionReading} QuestionReading
 * @typedef {import("./boosts.js").Idfs} Idfs
 * @typedef {Object} Signals all but the cosine that counts, of each passage
 * @property {Float32Array} lexical
 * @property {Float32Array} boost
 * @property {Uint8Array} isWhole marks those that hold all that a question asks for
 * @property {Float32Array} page
 * @property {Float32Array} fresh
 * @property {Float32Array} weight
 * @property {Float32Array} question
 * @typedef {Object} Candidates rows, rising, and the cosine of each with the question
 * @property {number[]} rows
 * @property {Float32Array} cosines
 * @typedef {Object} Scored a passage and the parts of its score
 * @property {number} row
 * @property {number} score
 * @property {number} base
 * @property {number} lexical
 * @property {number} dense
 * @property {number} boost
 * @property {number} page
 * @property {number} question
 * @property {number} section 0 before sections are scored
 * @property {Set<string>} terms of the question that the retrieval text contains
 * @typedef {Object} Ranking the scores of candidates, and which are above the floor
 * @property {number[]} rows
 * @property {Float32Array} dense
 * @property {Float32Array} base
 * @property {Float32Array} score
 * @property {Uint8Array} aboveFloor
 */

/**
 * Score all but the cosine of every passage: words, names, pages and recency.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @returns {Signals}
 */
export function computeSignals(store, reading) {
  const { history, recency } = store.manifest.profile;
  const lexical = scoreLexical(store, reading.idfs);
  const boosts = scoreNameBoosts(store, reading);
  const pages = scorePages(store, reading, lexical);
  const freshness = reading.asksAboutNow ? scoreFreshness(store).map((fresh) => Math.fround(recency) * fresh) : boosts.map(() => 0);
  const question = scoreQuestions(store, reading);
  const { SAME_QUESTION } = store.recipe.boosts;
  const weights = reading.asksForHistory
    ? store.weights
    : store.weights.map((weight, row) => (store.isHistory[row] ? weight * Math.fround(history) : weight));
  /** @param {Float32Array} values of each record */
  const ofPassages = (values) => lexical.map((_, row) => values[store.passageRecords[row]]);
  return {
    lexical,
    boost: ofPassages(boosts),
    // Its author says that the section answers this very question.
    isWhole: markFullMatches(store, reading).map((whole, row) => whole | Number(question[row] > SAME_QUESTION)),
    page: ofPassages(pages),
    fresh: ofPassages(freshness),
    weight: ofPassages(weights),
    question,
  };
}

/**
 * Score candidates by their cosines and signals, each step in single precision. The floor is
 * compared with the score before boosts; `slack`: by how much one may miss it.
 * @param {Store} store
 * @param {Candidates} candidates
 * @param {Signals} signals
 * @param {number} [slack]
 * @returns {Ranking}
 */
export function scoreRows(store, { rows, cosines }, signals, slack = 0) {
  const { fround } = Math;
  const { profile } = store.manifest;
  const [words, dense, total] = [profile.hybrid, profile.dense, profile.hybrid + profile.dense].map(fround);
  const floor = fround(profile.floor - slack);
  const base = new Float32Array(rows.length);
  const score = new Float32Array(rows.length);
  const aboveFloor = new Uint8Array(rows.length);
  rows.forEach((row, place) => {
    base[place] = fround(fround(words * signals.lexical[row]) + fround(dense * cosines[place])) / total;
    const boosted = fround(fround(base[place] + signals.boost[row]) + signals.page[row]);
    const isKnown = signals.question[row] > store.recipe.boosts.SAME_QUESTION;
    const likeness = fround(fround(profile.questions) * signals.question[row]);
    const questions = isKnown ? store.recipe.scoring.KNOWN_QUESTION_BONUS : likeness;
    score[place] = fround(fround(boosted + signals.fresh[row]) + questions) * signals.weight[row];
    aboveFloor[place] = Number(base[place] >= floor || signals.isWhole[row]);
  });
  return { rows, dense: cosines, base, score, aboveFloor };
}

/**
 * Return the best passages among marked candidates, best first.
 * @param {Ranking} ranking
 * @param {Uint8Array} mask of the candidates
 * @param {number} count
 * @param {Signals} signals
 * @returns {Scored[]}
 */
export function listTopItems({ rows, dense, base, score }, mask, count, { lexical, boost, page, question }) {
  return selectTopRows(score, count, mask).map((place) => {
    const row = rows[place];
    return {
      row,
      score: score[place],
      base: base[place],
      lexical: lexical[row],
      dense: dense[place],
      boost: boost[row],
      page: page[row],
      question: question[row],
      section: 0,
      terms: new Set(),
    };
  });
}

/**
 * Find the passages that may come first by the estimate of all, and score them exactly. Among them
 * are the best that the asker can read.
 * @param {Store} store
 * @param {Float32Array | null} unit the question, of length 1; with null all passages are candidates
 * @param {Signals} signals
 * @param {Uint8Array} readable
 * @param {number} [slack] by how much one may miss the floor
 * @returns {Promise<Candidates>}
 */
export async function findPassageCandidates(store, unit, signals, readable, slack = 0) {
  const { EXACT_PASSAGES, CANDIDATES, ESTIMATE_SLACK } = store.recipe.vectors;
  const { SCALAR_POOL } = store.recipe.vectors;
  let rows = [...store.passageRecords.keys()];
  if (!unit) return { rows, cosines: new Float32Array(rows.length) };
  if (rows.length > EXACT_PASSAGES) {
    const estimated = scoreRows(store, { rows, cosines: await store.loadEstimates(unit) }, signals, ESTIMATE_SLACK + slack);
    // Those with all that a question asks for are above the floor with a low score too.
    const whole = selectTopRows(estimated.score, SCALAR_POOL, signals.isWhole);
    rows = [...new Set([...selectCandidates(estimated, readable, CANDIDATES), ...whole])];
    rows.sort((left, right) => left - right);
    prefetchSiblings(store, estimated, signals);
  }
  const cosines = await store.loadCosines(unit, rows);
  const places = selectCandidates(scoreRows(store, { rows, cosines }, signals, slack), readable, SCALAR_POOL);
  return { rows: places.map((place) => rows[place]), cosines: Float32Array.from(places, (place) => cosines[place]) };
}

/**
 * Begin to load the vectors that passages beside the best ones are likely to be scored by, so that they do not wait
 * for those of the best.
 * @param {Store} store
 * @param {Ranking} estimated of all passages
 * @param {Signals} signals
 */
function prefetchSiblings(store, { score, aboveFloor }, { lexical }) {
  const { MAX_SIBLINGS, SIBLING_PAGES } = store.recipe.retrieve;
  const records = store.passageRecords;
  const best = selectTopRows(score, MAX_SIBLINGS, aboveFloor).map((row) => records[row]);
  const pages = new Set([...new Set(best)].slice(0, SIBLING_PAGES));
  const beside = Uint8Array.from(lexical, (value, row) => Number(value > 0 && pages.has(records[row])));
  store.prefetch("codes", selectTopRows(lexical, MAX_SIBLINGS, beside));
}

/**
 * Select the best places of a ranking above the floor, and of those that the asker can read, rising.
 * @param {Ranking} ranking
 * @param {Uint8Array} readable
 * @param {number} count of either
 * @returns {number[]}
 */
function selectCandidates({ rows, score, aboveFloor }, readable, count) {
  const eligible = aboveFloor.map((above, place) => above & readable[rows[place]]);
  const best = [aboveFloor, eligible].flatMap((mask) => selectTopRows(score, count, mask));
  return [...new Set(best)].sort((left, right) => left - right);
}

/**
 * Mark the passages with all terms of a question, or of the names of code that are its subject.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @returns {Uint8Array}
 */
function markFullMatches(store, { question, identifiers, idfs, forms }) {
  const isWhole = new Uint8Array(store.passageRecords.length);
  const { recipe, site } = store;
  const names = [...identifiers].join(" ");
  for (const { tag, first, end } of site.languages) {
    const weights = idfs.get(tag) ?? new Map();
    // In lower case, so that "MongoDB" counts once and not with its parts.
    const [words, named] = [question, names].map((text) => {
      return new Set(extractTerms(recipe, text.toLowerCase(), tag, formsIn(forms, tag)).filter((term) => weights.has(term)));
    });
    const add = (/** @type {Set<string>} */ own) => sum([...own].map((term) => weights.get(term)));
    const isSubject = named.size && add(named) >= recipe.scoring.MIN_IDENTIFIER_SHARE * add(words);
    const terms = isSubject ? named : new Set(weights.keys());
    if (terms.size) isWhole.set(findFullMatches(store, terms, [first, end]), first);
  }
  return isWhole;
}

/**
 * Score every passage by BM25; each language is a corpus of its own.
 * @param {Store} store
 * @param {Idfs} idfs
 * @returns {Float32Array}
 */
function scoreLexical(store, idfs) {
  const scores = new Float32Array(store.passageRecords.length);
  for (const { tag, first, end } of store.site.languages) {
    scores.set(scoreBm25(store, idfs.get(tag) ?? new Map(), [first, end]), first);
  }
  return scores;
}
