/** Find the only word of a site near a misspelled one: by edits, or by a space too many. */
import { countCodePoints } from "./code_points.js";
import { extractTerms } from "./tokenization.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {Object} SpellingIndex the site's words and, parallel, how many letters each has and which, as bits
 * @property {Set<string>} words
 * @property {string[]} texts
 * @property {Uint16Array} lengths
 * @property {Int32Array} letters
 */

/**
 * Test whether a lower-case word is long enough to be recognized when misspelled.
 * @param {Store} store
 * @param {string} word
 * @returns {boolean}
 */
export function mayBeMisspelled({ recipe }, word) {
  return countCodePoints(word) >= recipe.misspellings.MIN_WORD_LETTERS && /^\p{L}+$/u.test(word);
}

/**
 * Find the site's only spelling near a lower-case word; null if there is none or several. Spellings
 * of one stem count as one; a word is never split in two.
 * @param {Store} store
 * @param {string} word
 * @returns {Promise<string | null>}
 */
export async function findNearSpelling(store, word) {
  const { TWO_EDITS_FROM_LETTERS } = store.recipe.misspellings;
  const index = await indexSpellings(store);
  for (let maxEdits = 1; maxEdits <= (countCodePoints(word) < TWO_EDITS_FROM_LETTERS ? 1 : 2); maxEdits += 1) {
    const near = findWithinEdits(index, word, maxEdits);
    if (!near.length) continue;
    const { recipe, site } = store;
    const stems = new Set(near.map((other) => site.tags.flatMap((tag) => extractTerms(recipe, other, tag)).join(" ")));
    return stems.size === 1 ? near[0] : null;
  }
  return null;
}

/**
 * Find the site's word that two neighbors make together, such as "web hook"; else null.
 * @param {Store} store
 * @param {string} first
 * @param {string} second
 * @returns {Promise<string | null>}
 */
export async function findJoinedSpelling(store, first, second) {
  return (await indexSpellings(store)).words.has(first + second) ? first + second : null;
}

/**
 * Find the words at a distance of at most so many edits. Of two edits neither may replace a letter,
 * and the first letter has to be right.
 * @param {SpellingIndex} index
 * @param {string} word
 * @param {number} maxEdits
 * @returns {string[]}
 */
function findWithinEdits({ texts, lengths, letters }, word, maxEdits) {
  const length = countCodePoints(word);
  const bits = letterBits(word);
  const [initial] = word;
  return texts.filter(
    (other, row) =>
      Math.abs(lengths[row] - length) <= maxEdits &&
      countBits(letters[row] ^ bits) <= 2 * maxEdits &&
      (maxEdits === 1 || other.startsWith(initial)) &&
      editDistance(word, other, maxEdits, maxEdits) <= maxEdits,
  );
}

/**
 * Count the edits between two words, optimal string alignment; `maxEdits + 1` where there are more.
 * @param {string} first
 * @param {string} second
 * @param {number} maxEdits
 * @param {number} [replacing] the edits that a replaced letter counts for
 * @returns {number}
 */
export function editDistance(first, second, maxEdits, replacing = 1) {
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
      let edits = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (isSame ? 0 : replacing));
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

/** @type {WeakMap<Store, SpellingIndex>} */
const spellings = new WeakMap();

/**
 * Index the site's words, once for each store.
 * @param {Store} store
 * @returns {Promise<SpellingIndex>}
 */
async function indexSpellings(store) {
  let index = spellings.get(store);
  if (!index) {
    const texts = await store.loadWords();
    index = {
      words: new Set(texts),
      texts,
      lengths: Uint16Array.from(texts, countCodePoints),
      letters: Int32Array.from(texts, letterBits),
    };
    spellings.set(store, index);
  }
  return index;
}

/**
 * Mark the letters of a word, by the last five bits of their code points.
 * @param {string} word
 * @returns {number}
 */
function letterBits(word) {
  let bits = 0;
  for (const letter of word) bits |= 1 << (/** @type {number} */ (letter.codePointAt(0)) & 31);
  return bits;
}

/**
 * Count the bits of a number of 32.
 * @param {number} bits
 * @returns {number}
 */
function countBits(bits) {
  let count = 0;
  for (let left = bits; left; left &= left - 1) count += 1;
  return count;
}
