/** Tokenize text by language into terms: Snowball stems, no English stopwords; count words. */

import { countCodePoints } from "./code_points.js";
import { baseLanguage } from "./languages.js";
import { findAll, replaceAll } from "./patterns.js";
import { splitAtSpace } from "./white_space.js";

/** @import { Recipe } from "./recipe.js" */

// What is remembered of a language, so that a long session stays small.
const MAX_CACHED_STEMS = 200_000;

/** @type {Map<string, {stemWord(word: string): string}>} */
const stemmers = new Map();
/** @type {Map<string, Map<string, string>>} */
const cachedStems = new Map();
/** @type {WeakMap<Recipe, Set<string>>} */
const stopwords = new WeakMap();

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
 * Stem a word by an algorithm.
 * @param {string} algorithm
 * @param {string} word
 * @returns {string}
 */
function stem(algorithm, word) {
  let stems = cachedStems.get(algorithm);
  if (!stems || stems.size >= MAX_CACHED_STEMS) cachedStems.set(algorithm, (stems = new Map()));
  let result = stems.get(word);
  if (result === undefined) stems.set(word, (result = stemCodePoints(algorithm, word)));
  return result;
}

/**
 * Stem a word as a stemmer does that counts code points: a pair of surrogates is one private character to it.
 * @param {string} algorithm
 * @param {string} word
 * @returns {string}
 */
function stemCodePoints(algorithm, word) {
  const stemmer = stemmers.get(algorithm);
  if (!stemmer) throw new Error(`the ${algorithm} stemmer is not loaded`);
  /** @type {string[]} */
  const pairs = [];
  const units = word.replace(/[\ud800-\udbff][\udc00-\udfff]/g, (pair) => String.fromCharCode(0xdfff + pairs.push(pair)));
  const result = stemmer.stemWord(units);
  return pairs.length ? result.replace(/[\ue000-\uf8ff]/g, (unit) => pairs[unit.charCodeAt(0) - 0xe000]) : result;
}

/**
 * List the words that an index has of a text, with pairs of letters and parts in camel case.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {string[]}
 */
function listIndexWords(recipe, text) {
  const { WORD, CAMEL_CASE_PART } = recipe.tokenization;
  const words = [];
  for (const [word] of findAll(WORD, text.normalize("NFKC"))) {
    if (!isSpaceDelimited(recipe, word)) {
      words.push(...pairCharacters([...word]));
      continue;
    }
    words.push(word.toLowerCase());
    const parts = findAll(CAMEL_CASE_PART, word);
    if (parts.length > 1 && parts.length < countCodePoints(word) / 2) {
      words.push(...parts.map(([part]) => part.toLowerCase()));
    }
  }
  return words;
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
  const { STEMMERS, STOPWORDS } = recipe.tokenization;
  let stop = stopwords.get(recipe);
  if (!stop) stopwords.set(recipe, (stop = new Set(STOPWORDS)));
  let words = listIndexWords(recipe, text);
  if (language.startsWith("en")) words = words.filter((word) => !stop.has(word));
  const algorithm = STEMMERS[baseLanguage(language)];
  return algorithm ? words.map((word) => stem(algorithm, word)) : words;
}

/**
 * Split a text into runs of letters and digits, in their case.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {string[]}
 */
export function splitWords(recipe, text) {
  return findAll(recipe.tokenization.WORD, text).map(([word]) => word);
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
  return findAll(recipe.tokenization.WORD_OR_LETTER_PATTERN, text.toLowerCase()).map(([word]) => word);
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
