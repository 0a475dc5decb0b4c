/** Tokenize text by language into terms: Snowball stems, no English stopwords; count words. */

import { countCodePoints } from "./code_points.js";
import { baseLanguage } from "./languages.js";
import { findTexts, replaceAll } from "./patterns.js";
import { splitAtSpace } from "./white_space.js";

/** @import { Recipe } from "./recipe.js" */

// What is remembered of a language, so that a long session stays small.
const MAX_CACHED_WORDS = 100_000;

/** @type {Map<string, {stemWord(word: string): string}>} */
const stemmers = new Map();
/** @type {WeakMap<Recipe, Map<string, Map<string, string[]>>>} */
const cachedTerms = new WeakMap();

/**
 * Import the stemmers of a site's languages, which terms need.
 * @param {Recipe} recipe
 * @returns {Promise<void>}
 */
export async function loadStemmers(recipe) {
  /** @type {string[]} */
  const algorithms = Object.values(recipe.tokenization.STEMMERS);
  await Promise.all(
    algorithms.map(async (algorithm) => {
      if (stemmers.has(algorithm)) return;
      const { Stemmer } = await import(`./snowball/${algorithm}-stemmer.js`);
      stemmers.set(algorithm, new Stemmer());
    }),
  );
}

/**
 * Stem a word as a stemmer does that counts code points: a pair of surrogates is one private character to it.
 * @param {string} algorithm
 * @param {string} word
 * @returns {string}
 */
function stem(algorithm, word) {
  const stemmer = stemmers.get(algorithm);
  if (!stemmer) throw new Error(`the ${algorithm} stemmer is not loaded`);
  /** @type {string[]} */
  const pairs = [];
  const units = word.replace(/[\ud800-\udbff][\udc00-\udfff]/g, (pair) => String.fromCharCode(0xdfff + pairs.push(pair)));
  const result = stemmer.stemWord(units);
  return pairs.length ? result.replace(/[\ue000-\uf8ff]/g, (unit) => pairs[unit.charCodeAt(0) - 0xe000]) : result;
}

/**
 * List what an index has of a word: itself, its parts in camel case, or its pairs of letters.
 * @param {Recipe} recipe
 * @param {string} word
 * @returns {string[]}
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
 * @returns {string[]}
 */
function pairCharacters(characters) {
  return characters.length === 1 ? characters : characters.slice(1).map((next, at) => characters[at] + next);
}

/**
 * Extract the content terms of a text in order, with repeats: stems without stopwords.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {string} [language]
 * @returns {string[]}
 */
export function extractTerms(recipe, text, language = "en") {
  let byLanguage = cachedTerms.get(recipe);
  if (!byLanguage) cachedTerms.set(recipe, (byLanguage = new Map()));
  let byWord = byLanguage.get(language);
  if (!byWord || byWord.size > MAX_CACHED_WORDS) byLanguage.set(language, (byWord = new Map()));
  const extracted = [];
  for (const word of splitWords(recipe, text.normalize("NFKC"))) {
    let terms = byWord.get(word);
    if (!terms) byWord.set(word, (terms = extractTermsOfWord(recipe, word, language)));
    extracted.push(...terms);
  }
  return extracted;
}

/**
 * Extract the content terms of a word.
 * @param {Recipe} recipe
 * @param {string} word
 * @param {string} language
 * @returns {string[]}
 */
function extractTermsOfWord(recipe, word, language) {
  const { STEMMERS, STOPWORDS } = recipe.tokenization;
  const words = listIndexWords(recipe, word).filter((each) => !language.startsWith("en") || !STOPWORDS.includes(each));
  const algorithm = STEMMERS[baseLanguage(language)];
  return algorithm ? words.map((each) => stem(algorithm, each)) : words;
}

/**
 * Split a text into runs of letters and digits, in their case.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {string[]}
 */
export function splitWords(recipe, text) {
  return findTexts(recipe.tokenization.WORD, text);
}

/**
 * Test whether a word's script divides words by spaces.
 * @param {Recipe} recipe
 * @param {string} word
 * @returns {boolean}
 */
export function isSpaceDelimited(recipe, word) {
  return !recipe.tokenization.UNSPACED_PATTERN.test(word);
}

/**
 * Split a text into lower-case words; in a script without spaces, into letters.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {string[]}
 */
export function splitLowercaseWords(recipe, text) {
  return findTexts(recipe.tokenization.WORD_OR_LETTER_PATTERN, text.toLowerCase());
}

/**
 * Count words; in a script without spaces, two characters count for one.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {number}
 */
export function countWords(recipe, text) {
  let unspaced = 0;
  const spaced = replaceAll(recipe.tokenization.UNSPACED_PATTERN, text, (run) => {
    unspaced += run.length;
    return " ";
  });
  return splitAtSpace(spaced).length + Math.ceil(unspaced / 2);
}

/**
 * Test whether the letters of a text are all of scripts that the site is written in.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {boolean}
 */
export function hasSiteScripts(recipe, text) {
  return recipe.tokenization.SITE_SCRIPTS.test(text);
}
