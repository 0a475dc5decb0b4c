/** Recall the answer that is stored for a question of the very same words; see `engine.py`. */

import { hashWords } from "./rank.js";
import { splitLowercaseWords } from "./tokenization.js";
import { citeRange, readPassage } from "./units.js";

/** @import { Store } from "./store.js" */
/** @import { Reply } from "./wire.js" */

/** @typedef {[text: string, markdown: string, quotes: [row: number, quote: string][]]} StoredClaim */

/**
 * Recall a stored answer, which the build has judged by the contract; null where there is none.
 *
 * It quotes the passages as they are: it has no words of theirs.
 * @param {Store} store whose questions have been loaded
 * @param {string} question
 * @returns {Promise<Reply | null>}
 */
export async function recallAnswer(store, question) {
  const key = hashWords(question);
  const wordsOf = (/** @type {string} */ text) => splitLowercaseWords(text).join(" ");
  for (const row of store.questionKeys.keys()) {
    if (store.questionKeys[row] !== key || !store.hasAnswer[row]) continue;
    const place = store.hasAnswer.subarray(0, row).reduce((sum, mark) => sum + mark, 0);
    const [questions, claims] = await Promise.all([store.loadSuggestions(), store.loadAnswer(place)]);
    const stored = questions[row];
    // Many questions share a hash.
    if (wordsOf(stored) !== wordsOf(question)) continue;
    const numbers = claims.flatMap(([, , quotes]) => quotes.map(([number]) => number));
    const passages = await store.loadPassages(numbers);
    const cite = (/** @type {[number, string]} */ [number, quote]) => {
      const passage = passages[numbers.indexOf(number)];
      const start = readPassage(passage).text.indexOf(quote);
      return citeRange(passage, [start, start + quote.length]);
    };
    const cited = claims.map(([text, markdown, quotes]) => ({ text, markdown, citations: quotes.map(cite) }));
    // Its words were reviewed, and its question is the one that was asked.
    return { claims: cited, confidence: "high", reason: null, stored };
  }
  return null;
}
