/** Suggest questions that sections are known to answer, by the words that a reader has typed so far. */

import { editDistance } from "./question.js";
import { RULES } from "./rules.js";
import { extractWords } from "./tokenization.js";

/** @import { Store } from "./store.js" */

/**
 * The questions of a site by their words.
 * @typedef {Object} SuggestionIndex
 * @property {string[]} texts "" for one that is not suggested
 * @property {Map<string, number[]>} rowsByWord
 * @property {number[]} counts of words
 */

const MAX_SUGGESTIONS = 5;
// Less of what is typed is another subject.
const MIN_COVERED = 0.5;
// What a word counts by how it stands in a question: whole, begun, in another form, misspelled.
const [BEGUN, OTHER_FORM, MISSPELLED] = [0.9, 0.8, 0.7];
// Of questions that cover as much of what is typed, the one that asks for little else comes first.
const OTHER_WORDS_WEIGHT = 0.1;

/**
 * Load and index the questions of a site.
 * @param {Store} store
 */
export async function loadSuggestionIndex(store) {
  const texts = await store.loadSuggestions();
  /** @type {Map<string, number[]>} */
  const rowsByWord = new Map();
  const counts = texts.map((text, row) => {
    const words = new Set(extractWords(text, store.languageOf(store.questionPassages[row])));
    for (const word of words) {
      if (!rowsByWord.has(word)) rowsByWord.set(word, []);
      rowsByWord.get(word)?.push(row);
    }
    return words.size;
  });
  return { texts, rowsByWord, counts };
}

/**
 * Find the questions that go on as a reader has begun, in any order of words: one of each section, best first.
 * @param {Store} store
 * @param {SuggestionIndex} index
 * @param {string} typed
 */
export function findSuggestions(store, { texts, rowsByWord, counts }, typed) {
  const words = [...new Set(store.site.tags.flatMap((tag) => extractWords(typed, tag)))];
  const covered = new Float64Array(texts.length);
  const matched = new Float64Array(texts.length);
  let total = 0;
  for (const word of words) {
    const shares = matchWord(rowsByWord, word);
    const weight = Math.log(1 + texts.length / (shares.size || 1));
    total += weight;
    for (const [row, share] of shares) {
      covered[row] += weight * share;
      matched[row] += 1;
    }
  }
  const rate = (/** @type {number} */ row) => covered[row] / total - OTHER_WORDS_WEIGHT * (1 - matched[row] / counts[row]);
  const rows = [...texts.keys()].filter((row) => texts[row] && covered[row] && covered[row] >= MIN_COVERED * total);
  /** @type {Map<number, string>} */
  const bySection = new Map();
  for (const row of rows.sort((left, right) => rate(right) - rate(left))) {
    const section = store.questionPassages[row];
    if (!bySection.has(section)) bySection.set(section, texts[row]);
  }
  return [...bySection.values()].slice(0, MAX_SUGGESTIONS);
}

/**
 * Match a typed word with those of questions: those that it begins, else its other forms, else near spellings.
 * @param {Map<string, number[]>} rowsByWord
 * @param {string} word
 * @returns {Map<number, number>} what it counts, by question
 */
function matchWord(rowsByWord, word) {
  const { MAX_OTHER_LETTERS, MIN_SHARED_LETTERS } = RULES.word_forms;
  const beginning = word.slice(0, Math.max(MIN_SHARED_LETTERS, word.length - MAX_OTHER_LETTERS));
  const isLong = word.length >= RULES.question.MIN_WORD_LETTERS;
  /** @type {[number, (other: string) => boolean][]} */
  const ways = [
    [BEGUN, (other) => other.startsWith(word)],
    [OTHER_FORM, (other) => isLong && other.startsWith(beginning)],
    [MISSPELLED, (other) => isLong && editDistance(word, other, 1) <= 1],
  ];
  /** @type {Map<number, number>} */
  const shares = new Map();
  for (const [share, isAlike] of ways) {
    const alike = [...rowsByWord].filter(([other]) => isAlike(other));
    for (const [other, rows] of alike) {
      for (const row of rows) shares.set(row, Math.max(shares.get(row) ?? 0, other === word ? 1 : share));
    }
    if (alike.length) break;
  }
  return shares;
}
