/** The line of a passage, some 45 words that have most of the question's, and how sure an answer is; see `keyless.py`. */

import { RULES } from "./rules.js";
import { extractTerms } from "./tokenization.js";
import { listUnits, readPassage } from "./units.js";

/** @import { QuestionReading } from "./question.js" */
/** @import { Scored } from "./rank.js" */
/** @import { Passage, Store } from "./store.js" */
/** @import { TextRange } from "./units.js" */

/**
 * Find the range of a passage's line for a question: it begins where a sentence or a line of text begins.
 * @param {Passage} passage
 * @param {QuestionReading} reading
 */
export function findLine(passage, { idfs, forms }) {
  const { language } = passage;
  const read = readPassage(passage);
  const { text } = read;
  const weights = idfs.get(language) ?? new Map();
  const words = [...text.matchAll(RULES.tokenization.WORD_OR_LETTER_PATTERN)];
  const terms = words.map((word) => readTerms(word, text, language, weights, forms));
  const countBefore = (/** @type {number} */ offset) => words.filter(({ index }) => index < offset).length;
  const units = listUnits(read);
  const ends = units.map(([, end]) => countBefore(end));
  let best = -1;
  /** @type {TextRange} */
  let line = [0, text.length];
  for (const [start] of units) {
    const first = countBefore(start);
    const last = Math.min(chooseEnd(first, ends), words.length);
    const weight = weigh(terms.slice(first, last), weights);
    if (weight <= best + RULES.line.TIE || last <= first) continue;
    const place = ends.indexOf(last);
    const word = words[last - 1];
    best = weight;
    line = [start, place < 0 ? word.index + word[0].length : units[place][1]];
  }
  return line;
}

/**
 * Choose the word before which a line ends that begins at a word: at the end of a unit.
 * @param {number} first
 * @param {number[]} ends
 */
function chooseEnd(first, ends) {
  const { EXTRA_WORDS, LINE_WORDS, MIN_WORDS } = RULES.line;
  const shortest = first + LINE_WORDS;
  const next = ends.find((end) => end >= shortest) ?? Infinity;
  if (next <= shortest + EXTRA_WORDS) return next;
  const before = ends.findLast((end) => end < shortest) ?? 0;
  return before >= first + MIN_WORDS || next === Infinity ? before : shortest;
}

/**
 * Read the question's terms in a word: itself, and its parts where it is in camel case.
 * @param {RegExpMatchArray} word
 * @param {string} text
 * @param {string} language
 * @param {Map<string, number>} weights
 * @param {import("./word_forms.js").Forms} forms
 */
function readTerms(word, text, language, weights, forms) {
  let [written] = word;
  const [letter, ...others] = written;
  if (!others.length && letter > "\x7f") {
    // A script without spaces has pairs of letters for words.
    const start = /** @type {number} */ (word.index);
    written = [...text.slice(start, start + 4)].slice(0, 2).join("");
  } else if (!/[A-Z]/.test(written.slice(letter.length))) {
    const lower = written.toLowerCase();
    const term = forms.get(language)?.get(lower) ?? lower;
    return weights.has(term) ? [term] : [];
  }
  return extractTerms(written, language, forms).filter((term) => weights.has(term));
}

/**
 * @param {string[][]} terms
 * @param {Map<string, number>} weights
 */
function weigh(terms, weights) {
  const seen = new Set();
  let weight = 0;
  for (const term of terms.flat()) {
    weight += /** @type {number} */ (weights.get(term)) * (seen.has(term) ? RULES.line.REPEATED_SHARE : 1);
    seen.add(term);
  }
  return weight;
}

/**
 * Rate passages, best first: low where no section is clearly meant, or where the site lacks a word of the question.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Scored[]} passages
 */
export function ratePassages({ manifest, passageRecords }, { remarks }, passages) {
  const { FIRST_PASSAGES, MANY_PAGES, SURE_ABOVE_FLOOR } = RULES.confidence;
  // Its author says that the section answers this very question.
  if (passages[0].question > RULES.rank.SAME_QUESTION) return "medium";
  if (remarks.some(({ kind }) => kind === "unknown")) return "low";
  const pages = new Set(passages.slice(0, FIRST_PASSAGES).map(({ row }) => passageRecords[row]));
  const best = Math.max(...passages.map(({ base }) => base));
  return pages.size < MANY_PAGES && best >= manifest.profile.floor + SURE_ABOVE_FLOOR ? "medium" : "low";
}
