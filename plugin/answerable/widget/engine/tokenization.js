/** Tokenize text by language into words and terms, without English stopwords. */

import { countCodePoints } from "./code_points.js";
import { findTexts } from "./patterns.js";
import { splitAtSpace } from "./white_space.js";

/** @import { Recipe } from "./recipe.js" */

/** @type {WeakMap<Recipe, Map<string, Set<string>>>} */
const listsByRecipe = new WeakMap();

/**
 * Read a list of words of the rules, once.
 * @param {Recipe} recipe
 * @param {"stopwords" | "framing" | "polar"} name
 * @returns {Set<string>}
 */
export function readWordList(recipe, name) {
  let lists = listsByRecipe.get(recipe);
  if (!lists) listsByRecipe.set(recipe, (lists = new Map()));
  let words = lists.get(name);
  if (!words) lists.set(name, (words = new Set(splitAtSpace(String(recipe[name])))));
  return words;
}

/**
 * List what an index has of a word: itself, its parts in camel case, or its pairs of letters.
 * @param {Recipe} recipe
 * @param {string} word
 */
function listIndexWords(recipe, word) {
  if (!isSpaceDelimited(recipe, word)) return pairCharacters([...word]);
  const parts = findTexts(recipe.tokenization.CAMEL_CASE_PART, word);
  const isDivided = parts.length > 1 && parts.length < countCodePoints(word) / 2;
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
 * @param {Recipe} recipe
 * @param {string} text
 * @param {string} [language]
 */
export function extractWords(recipe, text, language = "en") {
  const words = splitWords(recipe, text.normalize("NFKC")).flatMap((token) => listIndexWords(recipe, token));
  const stopwords = language.startsWith("en") ? readWordList(recipe, "stopwords") : null;
  return stopwords ? words.filter((word) => !stopwords.has(word)) : words;
}

/**
 * Extract the terms of a text in order, with repeats.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {string} language
 * @param {Map<string, string>} termsByForm the terms of some forms of words; any other word is a term of its own
 */
export function extractTerms(recipe, text, language, termsByForm) {
  return extractWords(recipe, text, language).map((word) => termsByForm.get(word) ?? word);
}

/**
 * Split a text into runs of letters and digits, in their case.
 * @param {Recipe} recipe
 * @param {string} text
 */
export function splitWords(recipe, text) {
  return findTexts(recipe.tokenization.WORD, text);
}

/**
 * Test whether a word's script divides words by spaces.
 * @param {Recipe} recipe
 * @param {string} word
 */
export function isSpaceDelimited(recipe, word) {
  return !recipe.tokenization.UNSPACED_PATTERN.test(word);
}

/**
 * Split a text into lower-case words; in a script without spaces, into letters.
 * @param {Recipe} recipe
 * @param {string} text
 */
export function splitLowercaseWords(recipe, text) {
  return findTexts(recipe.tokenization.WORD_OR_LETTER_PATTERN, text.toLowerCase());
}

/**
 * Test whether the letters of a text are all of scripts that the site is written in.
 * @param {Recipe} recipe
 * @param {string} text
 */
export function hasSiteScripts(recipe, text) {
  return recipe.tokenization.SITE_SCRIPTS.test(text);
}
