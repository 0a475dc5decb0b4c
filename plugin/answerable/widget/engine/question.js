/** Reading of a question: its terms, near spellings, and words that the site does not have; see `question.py`. */
import { computeIdfs } from "./bm25.js";
import { RULES } from "./rules.js";
import { extractTerms, extractWords, isSpaceDelimited, normalizePhrase, splitAtSpace, splitWords } from "./tokenization.js";
import { readForms } from "./word_forms.js";

/** @import { Store } from "./store.js" */

/**
 * Normalize a question to NFKC, without control characters, with single spaces.
 * @param {string} question
 */
export function cleanQuestion(question) {
  return splitAtSpace(question.normalize("NFKC").replace(/\p{C}/gu, " ")).join(" ");
}

/**
 * Say in one sentence why a cleaned question cannot be answered; null if it can.
 * @param {string} cleaned
 */
export function findQuestionProblem(cleaned) {
  const { MAX_QUESTION_CHARACTERS } = RULES.question;
  if (!cleaned) return "The question is empty.";
  const isLong = [...cleaned].length > MAX_QUESTION_CHARACTERS;
  return isLong ? `A question has at most ${MAX_QUESTION_CHARACTERS} characters.` : null;
}

/** Words by which people ask, such as "what does the author say about": of the question alone. */
export const FRAMING_WORDS = new Set(splitAtSpace(RULES.framing));

/**
 * @typedef {{ kind: "corrected", from: string, to: string } | { kind: "unknown", word: string }} Remark as the wire's `notes` have it
 * @typedef {Object} QuestionReading
 * @property {string} question with the site's spellings: what is embedded
 * @property {Map<string, string[]>} terms by the site's languages, none where there is nothing to search for
 * @property {Remark[]} remarks
 * @property {Map<string, Map<string, number>>} idfs of each distinct term, by the languages of the passages
 * @property {import("./word_forms.js").Forms} forms
 * @property {Set<string>} phrases its normalized n-grams of the lengths of names
 * @property {boolean} asksForHistory
 */

/** Reads questions with the vocabulary of a site. */
export class QuestionReader {
  #store;
  #wordRank;
  // How many words the phrases have that a question is searched for, single words among them.
  #nameLengths;
  /** @type {Map<string, Set<string>>} by language, of the site and its author, which pages need not contain */
  #siteNameWords;

  /**
   * @param {Store} store
   * @param {(word: string) => number | null} wordRank returns a word's rank in ordinary language, if it has one
   */
  constructor(store, wordRank) {
    this.#store = store;
    this.#wordRank = wordRank;
    const phrases = [store.names, store.aliases, store.themes].flatMap((index) => [...index.keys()]);
    this.#nameLengths = new Set([1, ...phrases.map((phrase) => phrase.split(" ").length)]);
    const { names, tags } = store.site;
    this.#siteNameWords = new Map(tags.map((tag) => [tag, new Set(names.flatMap((name) => extractWords(name, tag)))]));
  }

  /**
   * Read a cleaned question.
   * @param {string} question
   * @returns {Promise<QuestionReading>}
   */
  async read(question) {
    await this.#loadWords(question);
    const [spelled, corrections] = await this.#correctSpelling(question);
    if (corrections.length) await this.#loadWords(spelled);
    const terms = this.#listTerms(spelled);
    const phrase = normalizePhrase(spelled);
    const { languages, tags } = this.#store.site;
    const weigh = (/** @type {import("./core_file.js").LanguageRows} */ { tag, first, end }) =>
      computeIdfs(this.#store, terms.get(tag) ?? [], [first, end], this.#nameWordsIn(tag));
    return {
      question: spelled,
      terms,
      remarks: terms.size ? [...corrections, ...this.#remarkUnknownWords(spelled)] : [],
      idfs: new Map(languages.map((rows) => [rows.tag, weigh(rows)])),
      forms: new Map(tags.map((tag) => [tag, readForms(this.#store, extractWords(spelled, tag), tag)])),
      phrases: new Set(splitNgrams(phrase.split(" "), this.#nameLengths)),
      // A version alone is no word for what was released or changed.
      asksForHistory: RULES.history.some((/** @type {string} */ words) => ` ${phrase} `.includes(` ${words} `)),
    };
  }

  /**
   * Drop the weights of words that the site does not have, so that the others weigh all.
   *
   * Of a reading to search by: an answer has to be of the whole question.
   * @param {QuestionReading} reading
   * @returns {QuestionReading}
   */
  dropUnknownWords(reading) {
    const words = splitWords(reading.question);
    const missing = this.#findUnknownWords(words);
    const text = words.filter((word) => !missing.has(word.toLowerCase())).join(" ");
    /** @type {QuestionReading["idfs"]} */
    const idfs = new Map();
    for (const [tag, weights] of reading.idfs) {
      // A word that pages of another language have still counts against one without it.
      const ownTerms = new Set(extractTerms(text, tag, reading.forms));
      idfs.set(tag, new Map([...weights].filter(([term]) => this.#isIndexed(term) || ownTerms.has(term))));
    }
    return { ...reading, idfs };
  }

  /**
   * Load what a question reads of a site's words, for `readForms`.
   * @param {string} question
   */
  async #loadWords(question) {
    // A word in camel case has other parts than in lower case, in which an unknown word is looked up.
    const texts = [question, question.toLowerCase()];
    const words = this.#store.site.tags.flatMap((tag) => texts.flatMap((text) => extractWords(text, tag)));
    const asWritten = splitWords(question).map((word) => word.toLowerCase());
    await this.#store.loadTerms([...words, ...asWritten]);
  }

  /**
   * Extract a question's terms by the languages of the site that have any. A term counts if it is in a script that the
   * site's pages use; words by which people ask count only where there are no others.
   * @param {string} question
   */
  #listTerms(question) {
    /** @type {Map<string, string[]>} */
    const terms = new Map();
    for (const tag of this.#store.site.tags) {
      const words = extractWords(question, tag);
      const subject = words.filter((word) => !FRAMING_WORDS.has(word));
      const forms = readForms(this.#store, words, tag);
      const known = (subject.length ? subject : words).map((word) => forms.get(word) ?? word);
      const readable = known.filter((term) => this.#store.letters.test(term));
      if (readable.length) terms.set(tag, readable);
    }
    return terms;
  }

  /** @param {string} term */
  #isIndexed(term) {
    return this.#store.postings(term).passages.length > 0;
  }

  /** @param {string} tag */
  #nameWordsIn(tag) {
    return this.#siteNameWords.get(tag) ?? new Set();
  }

  /**
   * Replace the words that neither site nor language has by near spellings of the site's.
   * @param {string} question
   * @returns {Promise<[question: string, remarks: Remark[]]>}
   */
  async #correctSpelling(question) {
    const words = splitWords(question);
    const missing = this.#findUnknownWords(words);
    /** @type {Map<string, string>} */
    const corrections = new Map();
    for (const word of words) {
      const lower = word.toLowerCase();
      const isUnlikeAll = missing.has(lower);
      // Capitals inside a word make a name, such as gRPC, which no near word stands for.
      if (word.slice(1) !== lower.slice(1) || FRAMING_WORDS.has(lower)) continue;
      // A shorter word has too many neighbors.
      const mayBeMisspelled = [...lower].length >= RULES.question.MIN_WORD_LETTERS && /^\p{L}+$/u.test(lower);
      if (!mayBeMisspelled || !(isUnlikeAll || this.#isNewForm(lower)) || this.#wordRank(lower) !== null) continue;
      const near = await this.#findNearSpelling(lower);
      // Another ending makes another form of a word, and stands for it already.
      if (near !== null && (isUnlikeAll || [...near].pop() === [...lower].pop())) corrections.set(word, near);
    }
    let corrected = question;
    for (const [word, near] of corrections) {
      corrected = corrected.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`, "gu"), near);
    }
    return [corrected, [...corrections].map(([from, to]) => ({ kind: "corrected", from, to }))];
  }

  /**
   * Find the site's spelling near a lower-case word; null if there is none. Of two edits neither may replace a letter,
   * and the first letter has to be right, as in a word of four letters. Of spellings of several terms the clearly most
   * frequent one counts; a word is never split in two.
   * @param {string} word
   */
  async #findNearSpelling(word) {
    const { CLEARLY_MORE, MIN_WORD_LETTERS, TWO_EDITS_FROM_LETTERS } = RULES.question;
    const store = this.#store;
    const words = await store.loadWords();
    const [initial, ...others] = word;
    const length = 1 + others.length;
    for (const maxEdits of length < TWO_EDITS_FROM_LETTERS ? [1] : [1, 2]) {
      const isInitialFree = maxEdits === 1 && length > MIN_WORD_LETTERS;
      const likely = isInitialFree ? words : words.filter((other) => other.startsWith(initial));
      const near = likely.filter((other) => editDistance(word, other, maxEdits) <= maxEdits);
      if (!near.length) continue;
      await store.loadTerms(near);
      const forms = store.site.tags.map((tag) => readForms(store, near, tag));
      /** @type {Map<string, {count: number, word: string}>} */
      const counts = new Map();
      for (const other of near) {
        const terms = forms.map((own) => own.get(other) ?? other);
        const count = Math.max(...terms.map((term) => store.postings(term).passages.length));
        if (!counts.has(terms.join(" "))) counts.set(terms.join(" "), { count, word: other });
      }
      const [most, second] = [...counts.values()].sort((left, right) => right.count - left.count);
      return most.count >= CLEARLY_MORE * (second?.count ?? 0) ? most.word : null;
    }
    return null;
  }

  /**
   * True if a content word is written as no page has it, nor a name of the site.
   * @param {string} word whose terms have been loaded
   */
  #isNewForm(word) {
    const { site, questionTerms } = this.#store;
    return !site.tags.some(
      (tag) =>
        !extractWords(word, tag).length ||
        this.#store.formsNear(word, tag).termsByForm.has(word) ||
        questionTerms.has(word) ||
        this.#nameWordsIn(tag).has(word),
    );
  }

  /**
   * Remark each content word that no passage has, unless it is an ordinary word.
   * @param {string} text
   * @returns {Remark[]}
   */
  #remarkUnknownWords(text) {
    const { ORDINARY_RANK } = RULES.question;
    const words = [...new Set(splitWords(text))];
    const missing = this.#findUnknownWords(words);
    const isOrdinary = (/** @type {string} */ lower) => (this.#wordRank(lower) || ORDINARY_RANK) < ORDINARY_RANK;
    const unknown = words.filter((word) => missing.has(word.toLowerCase()) && !isOrdinary(word.toLowerCase()));
    return unknown.map((word) => ({ kind: "unknown", word }));
  }

  /**
   * Find the words, in lower case, that no passage or known question has and no name. A word in camel case
   * counts as a whole, whatever its parts are; framing words are not what a question is about.
   * @param {string[]} words
   */
  #findUnknownWords(words) {
    const { site, questionTerms } = this.#store;
    const isKnown = (/** @type {string} */ term, /** @type {string} */ tag) =>
      this.#isIndexed(term) || questionTerms.has(term) || this.#nameWordsIn(tag).has(term);
    const asked = words.filter(isSpaceDelimited).map((word) => word.toLowerCase());
    const unknown = asked.filter((word) => {
      if (FRAMING_WORDS.has(word)) return false;
      const terms = site.tags.map((tag) => [...readForms(this.#store, extractWords(word, tag), tag).values()]);
      return terms.flat().length > 0 && !terms.some((own, place) => own.some((term) => isKnown(term, site.tags[place])));
    });
    return new Set(unknown);
  }
}

/**
 * List the n-grams of some words, of each of the lengths.
 * @param {string[]} words
 * @param {Iterable<number>} lengths
 */
function splitNgrams(words, lengths) {
  return Array.from(lengths).flatMap((length) =>
    words.slice(length - 1).map((_, start) => words.slice(start, start + length).join(" ")),
  );
}

/**
 * Count the edits between two words, optimal string alignment; `maxEdits + 1` where there are more. A replaced letter
 * counts for all the edits that there may be.
 * @param {string} first
 * @param {string} second
 * @param {number} maxEdits
 */
export function editDistance(first, second, maxEdits) {
  const [left, right] = [[...first], [...second]];
  if (Math.abs(left.length - right.length) > maxEdits) return maxEdits + 1;
  /** @type {number[]} */
  let before = [];
  let row = [...right.keys(), right.length];
  for (let i = 1; i <= left.length; i += 1) {
    const above = row;
    row = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const isSame = left[i - 1] === right[j - 1];
      let edits = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (isSame ? 0 : maxEdits));
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        edits = Math.min(edits, before[j - 2] + 1);
      }
      row.push(edits);
    }
    if (Math.min(...row) > maxEdits) return maxEdits + 1;
    before = above;
  }
  return row[right.length];
}
