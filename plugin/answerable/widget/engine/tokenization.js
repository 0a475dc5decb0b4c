/** Tokenize text by language into words and terms, without English stopwords. */

import { findTexts } from "./patterns.js";
import { RULES } from "./rules.js";
import { splitAtSpace } from "./white_space.js";

export const STOPWORDS = new Set(splitAtSpace(RULES.stopwords));

/**
 * List what an index has of a word: itself, its parts in camel case, or its pairs of letters.
 * @param {string} word
 */
function listIndexWords(word) {
  if (!isSpaceDelimited(word)) return pairCharacters([...word]);
  const parts = findTexts(RULES.tokenization.CAMEL_CASE_PART, word);
  const isDivided = parts.length > 1 && parts.length < [...word].length / 2;
  return (isDivided ? [word, ...parts] : [word]).map((each) => each.toLowerCase());
}

/**
 * Pair each character of a word with the next one.
 * @param {string[]} characters
 */
function pairCharacters(characters) {
  return characters.length === 1 ? characters : characters.slice(1).map((next, at) => characters[at] + next);
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
 */
export function splitWords(text) {
  return findTexts(RULES.tokenization.WORD, text);
}

/**
 * Test whether a word's script divides words by spaces.
 * @param {string} word
 */
export function isSpaceDelimited(word) {
  return !RULES.tokenization.UNSPACED_PATTERN.test(word);
}

/**
 * Split a text into lower-case words; in a script without spaces, into letters.
 * @param {string} text
 */
export function splitLowercaseWords(text) {
  return findTexts(RULES.tokenization.WORD_OR_LETTER_PATTERN, text.toLowerCase());
}
