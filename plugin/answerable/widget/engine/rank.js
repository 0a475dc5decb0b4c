/** The one formula that ranks passages, whose numbers are a profile's: see `rank.py`. */
import { scoreBm25, selectBest, sum } from "./bm25.js";
import { FRAMING_WORDS } from "./question.js";
import { RULES } from "./rules.js";
import { extractTerms, splitAtSpace, splitLowercaseWords, STOPWORDS } from "./tokenization.js";

/** @import { Phrases } from "./core_file.js" */
/** @import { QuestionReading } from "./question.js" */
/** @import { Store } from "./store.js" */

/**
 * A passage and its score, before boosts too, and what sections are rated by.
 * @typedef {{row: number, score: number, base: number, lexical: number, question: number, isAboveFloor: boolean}} Scored
 */

// An answer shows two of them.
const LIKELY_TEXTS = 3;
// Words that say nothing about a subject, but for those that turn what is asked around.
const SILENT_WORDS = new Set([...STOPWORDS, ...FRAMING_WORDS]);
for (const word of splitAtSpace(RULES.polar)) SILENT_WORDS.delete(word);

/** Ranks passages for a question: by words, names, pages and known questions, and by cosines. */
export class Ranker {
  #store;
  #reading;

  /**
   * @param {Store} store
   * @param {QuestionReading} reading
   */
  constructor(store, reading) {
    this.#store = store;
    this.#reading = reading;
    const { history } = store.manifest.profile;
    // All but the cosine that counts, of each passage.
    this.lexical = this.#scoreLexical();
    this.question = this.#scoreQuestions();
    const weights = reading.asksForHistory
      ? store.weights
      : store.weights.map((weight, row) => (store.isHistory[row] ? weight * Math.fround(history) : weight));
    const ofPassages = (/** @type {Float32Array} */ ofRecords) =>
      this.lexical.map((_, row) => ofRecords[store.passageRecords[row]]);
    this.weight = ofPassages(weights);
    this.boost = ofPassages(this.#scoreNameBoosts());
    this.page = ofPassages(this.#scorePages());
  }

  /**
   * Score some passages by their cosines, each step in single precision. The floor is compared with the score before
   * boosts; `slack`: by how much one may miss it.
   * @param {number[]} rows
   * @param {Float32Array} cosines
   * @param {number} [slack]
   * @returns {Scored[]} in the order of rows
   */
  scoreRows(rows, cosines, slack = 0) {
    const { fround } = Math;
    const { profile } = this.#store.manifest;
    const [words, dense, total] = [profile.hybrid, profile.dense, profile.hybrid + profile.dense].map(fround);
    const { KNOWN_QUESTION_BONUS, LIKE_QUESTION, SAME_QUESTION } = RULES.rank;
    const floor = fround(profile.floor - slack);
    return rows.map((row, place) => {
      const [lexical, question, boost] = [this.lexical[row], this.question[row], this.boost[row]];
      const base = fround(fround(fround(words * lexical) + fround(dense * cosines[place])) / total);
      const boosted = fround(fround(base + boost) + this.page[row]);
      const isKnown = question > SAME_QUESTION;
      const questions = isKnown ? KNOWN_QUESTION_BONUS : fround(fround(profile.questions) * question);
      const score = fround(fround(boosted + questions) * this.weight[row]);
      const floored = fround(base + fround(fround(profile.floored_boost) * boost));
      return { row, score, base, lexical, question, isAboveFloor: floored >= floor || question >= fround(LIKE_QUESTION) };
    });
  }

  /**
   * Score exactly the passages that the estimate says may come first. Among them are the best that the asker can read.
   * @param {Float32Array | null} unit the question, of length 1; with null all passages are scored
   * @param {(scored: Scored[]) => Scored[]} listReadable
   * @param {number} slack by how much one may miss the floor
   */
  async scoreCandidates(unit, listReadable, slack) {
    const { CANDIDATES, ESTIMATE_SLACK, FEW_PASSAGES } = RULES.vectors;
    const store = this.#store;
    let rows = [...store.passageRecords.keys()];
    if (!unit) return this.scoreRows(rows, new Float32Array(rows.length));
    if (rows.length > FEW_PASSAGES) {
      const scored = this.scoreRows(rows, store.estimateCosines(unit), ESTIMATE_SLACK + slack);
      const estimated = scored.filter((each) => each.isAboveFloor);
      // Near misses have places of their own, else many passages above the floor would leave none for them.
      const nearUnder = slack ? store.manifest.profile.floor + ESTIMATE_SLACK : -Infinity;
      const near = estimated.filter(({ base }) => base < nearUnder);
      const best = [estimated, listReadable(estimated), near].flatMap((each) => selectBest(each, CANDIDATES));
      rows = [...new Set(best.map(({ row }) => row))].sort((left, right) => left - right);
      // The texts of the best, and the vectors that those beside them are scored by, need not wait for these vectors.
      const likely = selectBest(estimated, RULES.retrieve.MAX_SIBLINGS);
      store.prefetch("texts", likely.slice(0, LIKELY_TEXTS).map(({ row }) => row));
      store.prefetch("codes", this.selectBeside(likely));
    }
    return this.scoreRows(rows, await store.loadCosines(unit, rows));
  }

  /**
   * Select passages that have words of a question, on the pages of the best ones.
   * @param {Scored[]} best
   * @param {Set<number>} [ranked] the rows that are left out
   */
  selectBeside(best, ranked = new Set()) {
    const { MAX_SIBLINGS, SIBLING_PAGES } = RULES.retrieve;
    const { lexical } = this;
    const { passageRecords: records } = this.#store;
    const pages = [...new Set(best.map(({ row }) => records[row]))].slice(0, SIBLING_PAGES);
    const beside = [...lexical.keys()].filter((row) => lexical[row] > 0 && pages.includes(records[row]) && !ranked.has(row));
    const likely = selectBest(beside.map((row) => ({ row, score: lexical[row] })), MAX_SIBLINGS);
    return likely.map(({ row }) => row).sort((left, right) => left - right);
  }

  /** Score every passage by BM25; each language is a corpus of its own. */
  #scoreLexical() {
    const { passageRecords, site } = this.#store;
    const scores = new Float32Array(passageRecords.length);
    for (const { tag, first, end } of site.languages) {
      scores.set(scoreBm25(this.#store, this.#reading.idfs.get(tag) ?? new Map(), [first, end]), first);
    }
    return scores;
  }

  /**
   * Score the authored names in the question for each record that bears them: the boost of its best alias and that of
   * its best theme.
   */
  #scoreNameBoosts() {
    const { aliases, manifest, names, themes } = this.#store;
    const titles = this.#findBestBoosts(names, manifest.profile.title_boost);
    const best = this.#findBestBoosts(aliases, manifest.profile.name_boost);
    const ofThemes = this.#findBestBoosts(themes, manifest.profile.theme_boost);
    return best.map((boost, row) => Math.max(boost, titles[row]) + ofThemes[row]);
  }

  /**
   * Find the best boost of each record among the names in the question. A phrase of many records is worth less, down to
   * nothing at half of them.
   * @param {Phrases} names
   * @param {number} boost
   */
  #findBestBoosts(names, boost) {
    const { manifest, weights } = this.#store;
    const best = new Float32Array(weights.length);
    for (const phrase of this.#reading.phrases) {
      const { frequency, records } = names.get(phrase) ?? { frequency: 0, records: [] };
      const rarity = Math.max(0, 1 - (2 * Math.max(0, frequency - 1)) / Math.max(weights.length, 2));
      const fade = 1 - manifest.profile.theme_fade * (1 - rarity);
      for (const row of records) best[row] = Math.max(best[row], boost * fade);
    }
    return best;
  }

  /** Score every record's title and words against the question. */
  #scorePages() {
    const { manifest, recordLanguages, titleNorms, titleTerms } = this.#store;
    const { title_cosine: cosine, title_share: share, page_words: words } = manifest.profile;
    const shares = this.#computeTitleShares();
    const averages = this.#averageBestPassages();
    const cosines = this.#computeCosines(titleTerms, titleNorms, (row) => recordLanguages[row]);
    return new Float32Array(cosines.map((each, row) => cosine * each + share * shares[row] + words * averages[row]));
  }

  /** Score the best question that each passage's section is known to answer; 1 is for the very same words. */
  #scoreQuestions() {
    const { OTHER_QUESTION, SAME_QUESTION, STALE_QUESTION } = RULES.rank;
    const key = hashWords(this.#reading.question);
    const { passageSections: sections, questionKeys, questionNorms, questionPassages: passages, questionTerms } = this.#store;
    const languageOf = (/** @type {number} */ row) => this.#store.languageOf(passages[row]);
    const best = new Float64Array(sections.length);
    this.#computeCosines(questionTerms, questionNorms, languageOf).forEach((cosine, row) => {
      const isSame = cosine > SAME_QUESTION && questionKeys[row] === key;
      const nearest = questionKeys[row] ? OTHER_QUESTION : STALE_QUESTION;
      best[passages[row]] = Math.max(best[passages[row]], isSame ? 1 : Math.min(cosine, nearest));
    });
    return Float32Array.from(sections, (first) => best[first]);
  }

  /**
   * Compute the cosine of the idf vectors of the question's distinct terms and each short text's.
   * @param {Phrases} index of the terms of texts, such as titles
   * @param {ArrayLike<number>} norms of their idf vectors
   * @param {(row: number) => string} languageOf a text
   */
  #computeCosines(index, norms, languageOf) {
    const products = new Float64Array(norms.length);
    for (const [language, weights] of this.#reading.idfs) {
      const norm = Math.sqrt(sum([...weights.values()].map((weight) => weight ** 2)));
      for (const [term, weight] of weights) {
        for (const row of index.get(term)?.records ?? []) {
          if (languageOf(row) === language) products[row] += weight ** 2 / norm;
        }
      }
    }
    return products.map((product, row) => (norms[row] > 0 ? product / norms[row] : 0));
  }

  /**
   * Compute each record's share of the question's idf, by the best of its titles and file names that
   * the question contains as a whole phrase.
   */
  #computeTitleShares() {
    const { forms, idfs, phrases } = this.#reading;
    const { names, recordLanguages, weights: records } = this.#store;
    const shares = new Float64Array(records.length);
    for (const phrase of phrases) {
      const rows = names.get(phrase)?.records;
      if (!rows) continue;
      for (const [language, weights] of idfs) {
        const terms = [...new Set(extractTerms(phrase, language, forms))];
        const share = sum(terms.map((term) => weights.get(term) ?? 0)) / (sum(weights.values()) || 1);
        for (const row of rows) if (recordLanguages[row] === language) shares[row] = Math.max(shares[row], share);
      }
    }
    return shares;
  }

  /** Average the lexical scores of each record's three best passages; a missing one counts 0. */
  #averageBestPassages() {
    const { BEST_PASSAGES } = RULES.rank;
    const { passageRecords, weights } = this.#store;
    /** @type {number[][]} */
    const byRecord = [];
    this.lexical.forEach((score, row) => {
      if (score) (byRecord[passageRecords[row]] ??= []).push(score);
    });
    const averages = new Float64Array(weights.length);
    byRecord.forEach((scores, record) => {
      scores.sort((left, right) => right - left);
      averages[record] = sum(scores.slice(0, BEST_PASSAGES)) / BEST_PASSAGES;
    });
    return averages;
  }
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
