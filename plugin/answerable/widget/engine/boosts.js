/** Score boosts of pages: by names, themes, titles, best passages and newness. */
import { sum } from "./bm25.js";
import { extractTerms, splitLowercaseWords } from "./tokenization.js";
import { formsIn } from "./word_forms.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./question.js").QuestionReading} QuestionReading
 * @typedef {Map<string, Map<string, number>>} Idfs by language, the idf of each term of a question
 * @typedef {Map<string, { records: number[], frequency: number }>} PhraseIndex
 */

const DAY_MILLISECONDS = 86_400_000;

/**
 * Score the authored names in a question for each record that bears them: the boost of its best
 * alias and that of its best theme.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @returns {Float32Array}
 */
export function scoreNameBoosts(store, { phrases }) {
  const { name_boost: nameBoost, theme_boost: themeBoost } = store.manifest.profile;
  const themes = findBestBoosts(store, store.themes, phrases, themeBoost);
  return findBestBoosts(store, store.aliases, phrases, nameBoost).map((boost, row) => boost + themes[row]);
}

/**
 * Score every record's title and words against a question.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Float32Array} lexical of each passage
 * @returns {Float32Array}
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
 * @returns {Float32Array}
 */
export function scoreQuestions(store, { idfs, question }) {
  const { OTHER_QUESTION, SAME_QUESTION } = store.recipe.boosts;
  const key = hashWords(store.recipe, question);
  const { passageSections: sections, questionPassages: passages } = store;
  const ranges = new Map(store.site.languages.map((rows) => [rows.tag, rows]));
  const isOwn = (/** @type {string} */ tag, /** @type {number} */ row) => {
    const { first, end } = ranges.get(tag) ?? { first: 0, end: 0 };
    return first <= passages[row] && passages[row] < end;
  };
  const best = new Float64Array(sections.length);
  computeCosines(store.questionTerms, store.questionNorms, idfs, isOwn).forEach((cosine, row) => {
    const isSame = cosine > SAME_QUESTION && store.questionKeys[row] === key;
    best[passages[row]] = Math.max(best[passages[row]], isSame ? 1 : Math.min(cosine, OTHER_QUESTION));
  });
  return Float32Array.from(sections, (first) => best[first]);
}

/**
 * Hash the words of a question in lower case, in their order; above 0.
 * @param {import("./recipe.js").Recipe} recipe
 * @param {string} question
 * @returns {number}
 */
export function hashWords(recipe, question) {
  let key = 0;
  for (const character of splitLowercaseWords(recipe, question).join(" ")) {
    key = (31 * key + /** @type {number} */ (character.codePointAt(0))) % recipe.boosts.KEY_MODULUS;
  }
  return key + 1;
}

/**
 * Score how new each record is: 1 for the newest date, half of it a year before; 0 without a date.
 * @param {Store} store
 * @returns {Float32Array}
 */
export function scoreFreshness(store) {
  const days = store.dates.map((date) => (date ? Date.parse(date) / DAY_MILLISECONDS : -Infinity));
  const newest = days.reduce((best, day) => Math.max(best, day), Number.MIN_SAFE_INTEGER);
  return Float32Array.from(days, (day) => 0.5 ** ((newest - day) / store.recipe.boosts.HALF_LIFE_DAYS));
}

/**
 * Reduce a boost by the number of records that a phrase occurs in: 1 for a phrase of one record,
 * falling linearly to 0 at half of the records.
 * @param {number} frequency
 * @param {number} records
 * @returns {number}
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
 * @returns {Float32Array}
 */
function findBestBoosts(store, names, phrases, boost) {
  const records = store.weights.length;
  const best = new Float32Array(records);
  for (const phrase of phrases) {
    const { frequency, records: rows } = names.get(phrase) ?? { frequency: 0, records: [] };
    const fade = store.manifest.profile.theme_fade ? fadeCommonPhrase(frequency, records) : 1;
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
 * @returns {Float64Array}
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
 * @returns {Float64Array}
 */
function computeTitleShares(store, { forms, idfs, phrases }) {
  const shares = new Float64Array(store.weights.length);
  for (const phrase of phrases) {
    const records = store.names.get(phrase)?.records;
    if (!records) continue;
    for (const [language, weights] of idfs) {
      const terms = [...new Set(extractTerms(store.recipe, phrase, language, formsIn(forms, language)))];
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
 * @returns {Float64Array}
 */
function averageBestPassages(store, lexical) {
  const { BEST_PASSAGES } = store.recipe.boosts;
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
 * @returns {Set<number>}
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
