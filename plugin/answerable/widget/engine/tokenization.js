/** Divide texts as Python does: at white space, and by language into words and terms, without English stopwords. */

import { RULES } from "./rules.js";

// JavaScript's own white space lacks some characters of Python's, and has another one.
const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACES = new RegExp(`[${SPACE}]+`);

/**
 * Split a text at its runs of white space, as `split` does.
 * @param {string} text
 */
export function splitAtSpace(text) {
  return text.split(SPACES).filter(Boolean);
}

/**
 * Strip white space from the ends of a range of a text, as `strip` does.
 * @param {string} text
 * @param {number} [start]
 * @param {number} [end]
 * @returns {[start: number, end: number]}
 */
export function stripRange(text, start = 0, end = text.length) {
  while (start < end && SPACES.test(text[start])) start += 1;
  while (start < end && SPACES.test(text[end - 1])) end -= 1;
  return [start, end];
}

export const STOPWORDS = new Set(splitAtSpace(RULES.stopwords));

/**
 * Lower-case a text and divide its runs of letters and digits by single spaces.
 * @param {string} text
 */
export function normalizePhrase(text) {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");
}

/**
 * List what an index has of a word: itself, its parts in camel case, or its pairs of letters.
 * @param {string} word
 */
function listIndexWords(word) {
  const letters = [...word];
  const pairs = letters.slice(1).map((next, place) => letters[place] + next);
  if (!isSpaceDelimited(word)) return pairs.length ? pairs : letters;
  const parts = word.match(RULES.tokenization.CAMEL_CASE_PART) ?? [];
  const isDivided = parts.length > 1 && parts.length < letters.length / 2;
  return (isDivided ? [word, ...parts] : [word]).map((each) => each.toLowerCase());
}

/**
 * Extract the content words of a text in order, with repeats: in lower case, without stopwords.
 * @param {string} text
 * @param {string} [language]
 */
export function extractWords(text, language = "en") {
  const words = splitWords(text.normalize("NFKC")).flatMap((token) => listIndexWords(token));
  return language.startsWith("en") ? words.filter((word) => !STOPWORDS.has(word)) : words;
}

/**
 * Extract the terms of a text in order, with repeats.
 * @param {string} text
 * @param {string} language
 * @param {import("./word_forms.js").Forms} forms any other word is a term of its own
 */
export function extractTerms(text, language, forms) {
  return extractWords(text, language).map((word) => forms.get(language)?.get(word) ?? word);
}

/**
 * Split a text into runs of letters and digits, in their case.
 * @param {string} text
 * @returns {string[]}
 */
export function splitWords(text) {
  return text.match(RULES.tokenization.WORD) ?? [];
}

/**
 * Test whether a word's script divides words by spaces.
 * @param {string} word
 */
export function isSpaceDelimited(word) {
  return word.search(RULES.tokenization.UNSPACED_PATTERN) < 0;
}

/**
 * Split a text into lower-case words; in a script without spaces, into letters.
 * @param {string} text
 * @returns {string[]}
 */
export function splitLowercaseWords(text) {
  return text.toLowerCase().match(RULES.tokenization.WORD_OR_LETTER_PATTERN) ?? [];
}
