/** The one formula that ranks passages, whose numbers are a profile's: see `rank.py`. */
import { scoreBm25, selectBest, sum } from "./bm25.js";
import { memoize } from "./memoize.js";
import { FRAMING_WORDS } from "./question.js";
import { RULES } from "./rules.js";
import { extractTerms, splitLowercaseWords, STOPWORDS } from "./tokenization.js";
import { splitAtSpace } from "./white_space.js";
import { formsIn } from "./word_forms.js";

/** @import { Phrase } from "./core_file.js" */
/** @import { QuestionReading } from "./question.js" */
/** @import { Store } from "./store.js" */

/**
 * All but the cosine that counts, of each passage.
 * @typedef {Record<"lexical" | "boost" | "page" | "weight" | "question", Float32Array>} Signals
 *
 * A passage and its score, before boosts too, and what sections are rated by.
 * @typedef {{row: number, score: number, base: number, lexical: number, question: number, isAboveFloor: boolean}} Scored
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
 * Score some passages by their cosines and signals, each step in single precision. The floor is
 * compared with the score before boosts; `slack`: by how much one may miss it.
 * @param {Store} store
 * @param {number[]} rows
 * @param {Float32Array} cosines
 * @param {Signals} signals
 * @param {number} [slack]
 * @returns {Scored[]} in the order of rows
 */
export function scoreRows(store, rows, cosines, signals, slack = 0) {
  const { fround } = Math;
  const { profile } = store.manifest;
  const [words, dense, total] = [profile.hybrid, profile.dense, profile.hybrid + profile.dense].map(fround);
  const { KNOWN_QUESTION_BONUS, SAME_QUESTION } = RULES.rank;
  const floor = fround(profile.floor - slack);
  return rows.map((row, place) => {
    const [lexical, question, boost] = [signals.lexical[row], signals.question[row], signals.boost[row]];
    const base = fround(fround(fround(words * lexical) + fround(dense * cosines[place])) / total);
    const boosted = fround(fround(base + boost) + signals.page[row]);
    const isKnown = question > SAME_QUESTION;
    const questions = isKnown ? KNOWN_QUESTION_BONUS : fround(fround(profile.questions) * question);
    const score = fround(fround(boosted + questions) * signals.weight[row]);
    const floored = fround(base + fround(fround(profile.floored_boost) * boost));
    return { row, score, base, lexical, question, isAboveFloor: floored >= floor || isKnown };
  });
}

/**
 * Score the passages that may come first, of which the estimate of all tells. Among them are the best that the asker
 * can read.
 * @param {Store} store
 * @param {Float32Array | null} unit the question, of length 1; with null all passages are scored
 * @param {Signals} signals
 * @param {Uint8Array} readable
 * @param {number} slack by how much one may miss the floor
 */
export async function scoreCandidates(store, unit, signals, readable, slack) {
  const { CANDIDATES, ESTIMATE_SLACK } = RULES.vectors;
  let rows = [...store.passageRecords.keys()];
  if (!unit) return scoreRows(store, rows, new Float32Array(rows.length), signals);
  if (rows.length > CANDIDATES) {
    const estimates = store.estimateCosines(unit);
    const estimated = scoreRows(store, rows, estimates, signals, ESTIMATE_SLACK + slack).filter((each) => each.isAboveFloor);
    const eligible = estimated.filter(({ row }) => readable[row]);
    // Near misses have places of their own, else many passages above the floor would leave none for them.
    const nearUnder = slack ? store.manifest.profile.floor + ESTIMATE_SLACK : -Infinity;
    const near = estimated.filter(({ base }) => base < nearUnder);
    const best = [estimated, eligible, near].flatMap((each) => selectBest(each, CANDIDATES, rateScore));
    rows = [...new Set(best.map(({ row }) => row))].sort((left, right) => left - right);
    prefetchLikely(store, estimated, signals);
  }
  return scoreRows(store, rows, await store.loadCosines(unit, rows), signals);
}

/**
 * Return the score by which passages are ranked.
 * @param {Scored} scored
 */
export function rateScore({ score }) {
  return score;
}

/**
 * Begin to load the texts of the best passages by the estimate, and the vectors that those beside them are likely to be
 * scored by, so that they do not wait for the vectors of the best.
 * @param {Store} store
 * @param {Scored[]} estimated above the floor
 * @param {Signals} signals
 */
function prefetchLikely(store, estimated, signals) {
  const best = selectBest(estimated, RULES.retrieve.MAX_SIBLINGS, rateScore);
  store.prefetch("texts", best.slice(0, LIKELY_TEXTS).map(({ row }) => row));
  store.prefetch("codes", selectBeside(store, best, signals));
}

/**
 * Select passages that have words of a question, on the pages of the best ones.
 * @param {Store} store
 * @param {Scored[]} best
 * @param {Signals} signals
 * @param {Set<number>} [ranked] the rows that are left out
 */
export function selectBeside({ passageRecords: records }, best, { lexical }, ranked = new Set()) {
  const { MAX_SIBLINGS, SIBLING_PAGES } = RULES.retrieve;
  const pages = [...new Set(best.map(({ row }) => records[row]))].slice(0, SIBLING_PAGES);
  const beside = [...lexical.keys()].filter((row) => lexical[row] > 0 && pages.includes(records[row]) && !ranked.has(row));
  return selectBest(beside, MAX_SIBLINGS, (row) => lexical[row]).sort((left, right) => left - right);
}

/**
 * Score every passage by BM25; each language is a corpus of its own.
 * @param {Store} store
 * @param {QuestionReading["idfs"]} idfs
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
  const own = listRecordsByLanguage(store);
  const isOwn = (/** @type {string} */ tag, /** @type {number} */ row) => own.get(tag)?.has(row) ?? false;
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
  const { OTHER_QUESTION, SAME_QUESTION } = RULES.rank;
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
    best[passages[row]] = Math.max(best[passages[row]], isSame ? 1 : Math.min(cosine, OTHER_QUESTION));
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
 * @param {Map<string, Phrase>} names
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
 * @param {Map<string, Phrase>} index of the terms of texts, such as titles
 * @param {ArrayLike<number>} norms of their idf vectors
 * @param {QuestionReading["idfs"]} idfs
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
      const own = listRecordsByLanguage(store).get(language);
      for (const row of records) if (own?.has(row)) shares[row] = Math.max(shares[row], share);
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

/** List the records that have passages in each language. */
const listRecordsByLanguage = memoize((/** @type {Store} */ { site, passageRecords }) => {
  return new Map(site.languages.map(({ tag, first, end }) => [tag, new Set(passageRecords.subarray(first, end))]));
});
