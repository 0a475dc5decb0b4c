/** Find the terms of a question's words: by the site's forms of each term, else by the nearest form. */

import { RULES } from "./rules.js";

/** @typedef {Map<string, Map<string, string>>} Forms by language, the term of each form of a question's terms */

/**
 * The forms of some of a site's words in one language.
 * @typedef {Object} FormIndex
 * @property {Map<string, string>} termsByForm the terms themselves too
 * @property {Map<string, string[]>} forms the others of each term
 */

/**
 * Index the forms of terms.
 * @param {string[]} terms
 * @param {string[]} forms the others of each term, between spaces
 */
export function indexForms(terms, forms) {
  const others = new Map(terms.map((term, row) => [term, forms[row] ? forms[row].split(" ") : []]));
  const termsByForm = new Map(terms.map((term) => [term, term]));
  // A word may be a term and a form of another one, such as "univers" of "univer".
  for (const [term, own] of others) for (const form of own) termsByForm.set(form, term);
  return { termsByForm, forms: others };
}

/**
 * Return the first letters of a word, which all that may stand for one another begin with.
 * @param {string} word
 */
export function beginningOf(word) {
  return [...word].slice(0, RULES.word_forms.MIN_SHARED_LETTERS).join("");
}

/**
 * Map words, as an index has them, and all forms of the same terms to their terms.
 *
 * A word that is like none of the site's is a term of its own, as one is that a known question has and no page.
 * @param {import("./store.js").Store} store that has loaded the terms of the words
 * @param {string[]} words
 * @param {string} language
 */
export function readForms(store, words, language) {
  /** @type {[string, string][]} */
  const others = [];
  /** @type {[string, string][]} */
  const terms = [];
  for (const word of words) {
    const index = store.formsNear(word, language);
    const isAsked = store.questionTerms.has(word);
    const term = index.termsByForm.get(word) ?? (isAsked ? word : findNearestTerm(index, word));
    terms.push([word, term]);
    for (const form of index.forms.get(term) ?? []) others.push([form, term]);
  }
  return new Map([...others, ...terms]);
}

/**
 * Find the term of the form with the longest beginning in common with a word; else the word. Of
 * equally long beginnings the shortest form counts, then the first.
 * @param {FormIndex} index
 * @param {string} word
 */
function findNearestTerm({ termsByForm }, word) {
  const { MAX_OTHER_LETTERS, MAX_OTHER_TERM_LETTERS, MIN_SHARED_LETTERS } = RULES.word_forms;
  const letters = [...word];
  const least = Math.max(MIN_SHARED_LETTERS, letters.length - MAX_OTHER_LETTERS);
  if (!isAlphabetic(word) || letters.length < least) return word;
  const beginning = beginningOf(word);
  let best = { shared: least - 1, length: Infinity, form: "", term: word };
  for (const [form, term] of termsByForm) {
    if (!form.startsWith(beginning) || !isAlphabetic(form)) continue;
    const other = [...form];
    const differing = other.findIndex((letter, place) => letter !== letters[place]);
    const shared = differing < 0 ? other.length : differing;
    if (shared < least || [...term].length > shared + MAX_OTHER_TERM_LETTERS) continue;
    const isNearer =
      shared > best.shared ||
      (shared === best.shared && (other.length < best.length || (other.length === best.length && form < best.form)));
    if (isNearer) best = { shared, length: other.length, form, term };
  }
  return best.term;
}

/** @param {string} word */
function isAlphabetic(word) {
  return /^\p{L}+$/u.test(word);
}
