/** The one formula that ranks passages, whose numbers are a profile's: see `rank.py`. */
import { scoreBm25, selectTopRows, sum } from "./bm25.js";
import { FRAMING_WORDS } from "./question.js";
import { RULES } from "./rules.js";
import { extractTerms, splitLowercaseWords, STOPWORDS } from "./tokenization.js";
import { splitAtSpace } from "./white_space.js";
import { formsIn } from "./word_forms.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./question.js").QuestionReading} QuestionReading
 * @typedef {Map<string, Map<string, number>>} Idfs by language, the idf of each term of a question
 * @typedef {Map<string, { records: number[], frequency: number }>} PhraseIndex
 * @typedef {Object} Signals all but the cosine that counts, of each passage
 * @property {Float32Array} lexical
 * @property {Float32Array} boost
 * @property {Float32Array} page
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
 * @typedef {Object} Ranking the scores of candidates, and which are above the floor
 * @property {number[]} rows
 * @property {Float32Array} dense
 * @property {Float32Array} base
 * @property {Float32Array} score
 * @property {Uint8Array} aboveFloor
 */

// An answer shows two of them.
const LIKELY_TEXTS = 3;
// Words that say nothing about a subject, but for those that turn what is asked around.
const SILENT_WORDS = new Set([...STOPWORDS, ...FRAMING_WORDS]);
for (const word of splitAtSpace(RULES.polar)) SILENT_WORDS.delete(word);

/**
 * Score all but the cosine of every passage: words, names, pages and known questions.
 * @param {Store} store
 * @param {QuestionReading} reading
 */
export function computeSignals(store, reading) {
  const { history } = store.manifest.profile;
  const lexical = scoreLexical(store, reading.idfs);
  const boosts = scoreNameBoosts(store, reading);
  const pages = scorePages(store, reading, lexical);
  const question = scoreQuestions(store, reading);
  const weights = reading.asksForHistory
    ? store.weights
    : store.weights.map((weight, row) => (store.isHistory[row] ? weight * Math.fround(history) : weight));
  /** @param {Float32Array} values of each record */
  const ofPassages = (values) => lexical.map((_, row) => values[store.passageRecords[row]]);
  return {
    lexical,
    boost: ofPassages(boosts),
    page: ofPassages(pages),
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
 */
export function scoreRows(store, { rows, cosines }, signals, slack = 0) {
  const { fround } = Math;
  const { profile } = store.manifest;
  const [words, dense, total] = [profile.hybrid, profile.dense, profile.hybrid + profile.dense].map(fround);
  const { KNOWN_QUESTION_BONUS, LIKE_QUESTION, SAME_QUESTION } = RULES.rank;
  const floor = fround(profile.floor - slack);
  const base = new Float32Array(rows.length);
  const score = new Float32Array(rows.length);
  const aboveFloor = new Uint8Array(rows.length);
  rows.forEach((row, place) => {
    base[place] = fround(fround(words * signals.lexical[row]) + fround(dense * cosines[place])) / total;
    const boosted = fround(fround(base[place] + signals.boost[row]) + signals.page[row]);
    const isKnown = signals.question[row] > SAME_QUESTION;
    const likeness = fround(fround(profile.questions) * signals.question[row]);
    const questions = isKnown ? KNOWN_QUESTION_BONUS : likeness;
    score[place] = fround(boosted + questions) * signals.weight[row];
    const floored = fround(base[place] + fround(fround(profile.floored_boost) * signals.boost[row]));
    aboveFloor[place] = Number(floored >= floor || signals.question[row] >= fround(LIKE_QUESTION));
  });
  return { rows, dense: cosines, base, score, aboveFloor };
}

/**
 * Return the best passages among marked candidates, best first.
 * @param {Ranking} ranking
 * @param {Uint8Array} mask of the candidates
 * @param {number} count
 * @param {Signals} signals
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
 */
export async function findPassageCandidates(store, unit, signals, readable, slack = 0) {
  const { CANDIDATES, ESTIMATE_SLACK } = RULES.vectors;
  let rows = [...store.passageRecords.keys()];
  if (!unit) return { rows, cosines: new Float32Array(rows.length) };
  if (rows.length > CANDIDATES) {
    // Near misses have places of their own, else many passages above the floor would leave none for them.
    const nearUnder = slack ? store.manifest.profile.floor + ESTIMATE_SLACK : -Infinity;
    const estimated = scoreRows(store, { rows, cosines: store.estimateCosines(unit) }, signals, ESTIMATE_SLACK + slack);
    rows = selectCandidates(estimated, readable, CANDIDATES, nearUnder);
    prefetchLikely(store, estimated, signals);
  }
  return { rows, cosines: await store.loadCosines(unit, rows) };
}

/**
 * Begin to load the texts of the best passages by the estimate, and the vectors that those beside them are likely to be
 * scored by, so that they do not wait for the vectors of the best.
 * @param {Store} store
 * @param {Ranking} estimated of all passages
 * @param {Signals} signals
 */
function prefetchLikely(store, { score, aboveFloor }, { lexical }) {
  const { MAX_SIBLINGS, SIBLING_PAGES } = RULES.retrieve;
  const records = store.passageRecords;
  const best = selectTopRows(score, MAX_SIBLINGS, aboveFloor);
  store.prefetch("texts", best.slice(0, LIKELY_TEXTS));
  const pages = new Set([...new Set(best.map((row) => records[row]))].slice(0, SIBLING_PAGES));
  const beside = Uint8Array.from(lexical, (value, row) => Number(value > 0 && pages.has(records[row])));
  store.prefetch("codes", selectTopRows(lexical, MAX_SIBLINGS, beside));
}

/**
 * Select the best places of a ranking above the floor, of those that the asker can read, and of near misses, rising.
 * @param {Ranking} ranking
 * @param {Uint8Array} readable
 * @param {number} count of each
 * @param {number} nearUnder the score under which a passage is a near miss
 */
function selectCandidates({ rows, base, score, aboveFloor }, readable, count, nearUnder) {
  const eligible = aboveFloor.map((above, place) => above & readable[rows[place]]);
  const near = aboveFloor.map((above, place) => Number(above && base[place] < nearUnder));
  const best = [aboveFloor, eligible, near].flatMap((mask) => selectTopRows(score, count, mask));
  return [...new Set(best)].sort((left, right) => left - right);
}

/**
 * Score every passage by BM25; each language is a corpus of its own.
 * @param {Store} store
 * @param {Idfs} idfs
 */
function scoreLexical(store, idfs) {
  const scores = new Float32Array(store.passageRecords.length);
  for (const { tag, first, end } of store.site.languages) {
    scores.set(scoreBm25(store, idfs.get(tag) ?? new Map(), [first, end]), first);
  }
  return scores;
}

/**
 * Score the authored names in a question for each record that bears them: the boost of its best
 * alias and that of its best theme.
 * @param {Store} store
 * @param {QuestionReading} reading
 */
export function scoreNameBoosts(store, { phrases }) {
  const { name_boost: nameBoost, theme_boost: themeBoost, title_boost: titleBoost } = store.manifest.profile;
  const titles = findBestBoosts(store, store.names, phrases, titleBoost);
  const themes = findBestBoosts(store, store.themes, phrases, themeBoost);
  const aliases = findBestBoosts(store, store.aliases, phrases, nameBoost);
  return aliases.map((boost, row) => Math.max(boost, titles[row]) + themes[row]);
}

/**
 * Score every record's title and words against a question.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Float32Array} lexical of each passage
 */
export function scorePages(store, reading, lexical) {
  const { title_cosine: cosine, title_share: share, page_words: words } = store.manifest.profile;
  const shares = computeTitleShares(store, reading);
  const averages = averageBestPassages(store, lexical);
  const own = new Map([...reading.idfs.keys()].map((tag) => [tag, listRecordsInLanguage(store, tag)]));
  const isOwn = (/** @type {string} */ tag, /** @type {number} */ row) => Boolean(own.get(tag)?.has(row));
  const cosines = computeCosines(store.titleTerms, store.titleNorms, reading.idfs, isOwn);
  return new Float32Array(
    cosines.map((each, row) => cosine * each + share * shares[row] + words * averages[row]),
  );
}

/**
 * Score the best question that each passage's section is known to answer; 1 is for the very same words.
 * @param {Store} store
 * @param {QuestionReading} reading
 */
export function scoreQuestions(store, { idfs, question }) {
  const { OTHER_QUESTION, SAME_QUESTION, STALE_QUESTION } = RULES.rank;
  const key = hashWords(question);
  const { passageSections: sections, questionPassages: passages } = store;
  const ranges = new Map(store.site.languages.map((rows) => [rows.tag, rows]));
  const isOwn = (/** @type {string} */ tag, /** @type {number} */ row) => {
    const { first, end } = ranges.get(tag) ?? { first: 0, end: 0 };
    return first <= passages[row] && passages[row] < end;
  };
  const best = new Float64Array(sections.length);
  computeCosines(store.questionTerms, store.questionNorms, idfs, isOwn).forEach((cosine, row) => {
    const isSame = cosine > SAME_QUESTION && store.questionKeys[row] === key;
    const nearest = store.questionKeys[row] ? OTHER_QUESTION : STALE_QUESTION;
    best[passages[row]] = Math.max(best[passages[row]], isSame ? 1 : Math.min(cosine, nearest));
  });
  return Float32Array.from(sections, (first) => best[first]);
}

/**
 * Hash the words of a question in lower case, in their order, but for those by which people ask; above 0.
 * @param {string} question
 */
export function hashWords(question) {
  const words = splitLowercaseWords(question).filter((word) => !SILENT_WORDS.has(word));
  let key = 0;
  for (const character of words.join(" ") || question) {
    key = (31 * key + /** @type {number} */ (character.codePointAt(0))) % RULES.rank.KEY_MODULUS;
  }
  return key + 1;
}

/**
 * Reduce a boost by the number of records that a phrase occurs in: 1 for a phrase of one record,
 * falling linearly to 0 at half of the records.
 * @param {number} frequency
 * @param {number} records
 */
export function fadeCommonPhrase(frequency, records) {
  return Math.max(0, 1 - (2 * Math.max(0, frequency - 1)) / Math.max(records, 2));
}

/**
 * Find the best boost of each record among the names in a question.
 * @param {Store} store
 * @param {PhraseIndex} names
 * @param {Set<string>} phrases of the question
 * @param {number} boost
 */
function findBestBoosts(store, names, phrases, boost) {
  const records = store.weights.length;
  const best = new Float32Array(records);
  for (const phrase of phrases) {
    const { frequency, records: rows } = names.get(phrase) ?? { frequency: 0, records: [] };
    const fade = 1 - store.manifest.profile.theme_fade * (1 - fadeCommonPhrase(frequency, records));
    for (const row of rows) best[row] = Math.max(best[row], boost * fade);
  }
  return best;
}

/**
 * Compute the cosine of the idf vectors of a question's distinct terms and each short text's.
 * @param {PhraseIndex} index of the terms of texts, such as titles
 * @param {ArrayLike<number>} norms of their idf vectors
 * @param {Idfs} idfs
 * @param {(language: string, row: number) => boolean} isOwn whether a text is in a language
 */
function computeCosines(index, norms, idfs, isOwn) {
  const products = new Float64Array(norms.length);
  for (const [language, weights] of idfs) {
    const norm = Math.sqrt(sum([...weights.values()].map((weight) => weight ** 2)));
    for (const [term, weight] of weights) {
      for (const row of index.get(term)?.records ?? []) {
        if (isOwn(language, row)) products[row] += weight ** 2 / norm;
      }
    }
  }
  return products.map((product, row) => (norms[row] > 0 ? product / norms[row] : 0));
}

/**
 * Compute each record's share of the question's idf, by the best of its titles and file names that
 * the question contains as a whole phrase.
 * @param {Store} store
 * @param {QuestionReading} reading
 */
function computeTitleShares(store, { forms, idfs, phrases }) {
  const shares = new Float64Array(store.weights.length);
  for (const phrase of phrases) {
    const records = store.names.get(phrase)?.records;
    if (!records) continue;
    for (const [language, weights] of idfs) {
      const terms = [...new Set(extractTerms(phrase, language, formsIn(forms, language)))];
      const share = sum(terms.map((term) => weights.get(term) ?? 0)) / (sum(weights.values()) || 1);
      const own = listRecordsInLanguage(store, language);
      for (const row of records) if (own.has(row)) shares[row] = Math.max(shares[row], share);
    }
  }
  return shares;
}

/**
 * Average the lexical scores of each record's three best passages; a missing one counts 0.
 * @param {Store} store
 * @param {Float32Array} lexical
 */
function averageBestPassages(store, lexical) {
  const { BEST_PASSAGES } = RULES.rank;
  /** @type {Map<number, number[]>} */
  const byRecord = new Map();
  lexical.forEach((score, row) => {
    const record = store.passageRecords[row];
    if (!score) return;
    if (!byRecord.has(record)) byRecord.set(record, []);
    byRecord.get(record)?.push(score);
  });
  const averages = new Float64Array(store.weights.length);
  for (const [record, scores] of byRecord) {
    scores.sort((left, right) => right - left);
    averages[record] = sum(scores.slice(0, BEST_PASSAGES)) / BEST_PASSAGES;
  }
  return averages;
}

/** @type {WeakMap<Store, Map<string, Set<number>>>} */
const recordsByLanguage = new WeakMap();

/**
 * List the records that have passages in a language.
 * @param {Store} store
 * @param {string} language
 */
function listRecordsInLanguage(store, language) {
  let records = recordsByLanguage.get(store);
  if (!records) {
    records = new Map(
      store.site.languages.map(({ tag, first, end }) => [tag, new Set(store.passageRecords.subarray(first, end))]),
    );
    recordsByLanguage.set(store, records);
  }
  return records.get(language) ?? new Set();
}
