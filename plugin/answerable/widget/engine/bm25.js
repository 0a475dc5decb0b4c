/** Compute idfs and BM25 scores of all passages from postings; select the rows that score best. */
import { RULES } from "./rules.js";
import { extractTerms } from "./tokenization.js";

/** @import { Store } from "./store.js" */

/** @typedef {[first: number, end: number]} RowRange */

/**
 * Select the best `count` items, best first; equal ones keep their order.
 * @template {{score: number}} T in single precision
 * @param {T[]} items
 * @param {number} count
 */
export function selectBest(items, count) {
  // Numbers alone are sorted many times faster than items.
  const scores = Float32Array.from(items, ({ score }) => score).sort();
  const least = scores.at(-count) ?? -Infinity;
  const best = items.filter(({ score }) => score >= least);
  return best.sort((left, right) => right.score - left.score).slice(0, count);
}

/**
 * Score passages by BM25, divided by the sum of the idfs: in [0, 1], of each passage of a range.
 * @param {Store} store
 * @param {Map<string, number>} idfs of the query's terms, by `computeIdfs`
 * @param {RowRange} rows the passages that are the corpus
 */
export function scoreBm25(store, idfs, [first, end]) {
  const { K1, B } = RULES.bm25;
  const scores = new Float64Array(end - first);
  const total = sum(idfs.values());
  if (!total) return new Float32Array(scores);
  const lengths = store.passageLengths.subarray(first, end);
  const mean = Math.max(sum(lengths) / lengths.length, 1);
  for (const [term, idf] of idfs) {
    const { passages, counts } = store.postings(term);
    passages.forEach((passage, place) => {
      if (passage < first || passage >= end) return;
      const count = counts[place];
      scores[passage - first] += (idf * count) / (count + K1 * (1 - B + (B * lengths[passage - first]) / mean));
    });
  }
  return new Float32Array(scores.map((score) => score / total));
}

/**
 * Compute the inverse document frequency of each distinct term, ln(1 + (N - df + .5) / (df + .5)); an unknown one has
 * the highest. A term of `names` that no passage of the corpus holds is left out.
 * @param {Store} store
 * @param {Iterable<string>} terms
 * @param {RowRange} rows
 * @param {Set<string>} names
 */
export function computeIdfs(store, terms, [first, end], names) {
  const idfs = new Map();
  for (const term of new Set(terms)) {
    const frequency = store.postings(term).passages.filter((row) => first <= row && row < end).length;
    // With the background passages in N.
    const others = end - first + RULES.bm25.BACKGROUND_PASSAGES - frequency;
    if (frequency || !names.has(term)) idfs.set(term, Math.log(1 + (others + 0.5) / (frequency + 0.5)));
  }
  return idfs;
}

/**
 * Compute the share of the idf of a question's terms that a text holds, 0 without terms.
 * @param {Map<string, number>} weights
 * @param {import("./word_forms.js").Forms} forms
 * @param {string} text
 * @param {string} language
 */
export function computeIdfShare(weights, forms, text, language) {
  const terms = new Set(extractTerms(text, language, forms));
  const shared = [...weights].filter(([term]) => terms.has(term)).map(([, weight]) => weight);
  return sum(shared) / (sum(weights.values()) || 1);
}

/**
 * Add up numbers, in their order.
 * @param {Iterable<number>} values
 */
export function sum(values) {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
