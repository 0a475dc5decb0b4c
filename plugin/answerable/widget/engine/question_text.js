/** Clean a question, check its length, strip what frames or continues it, find what it asks for. */

import { countCodePoints } from "./code_points.js";
import { findTexts, replaceAll } from "./patterns.js";
import { splitAtSpace, stripSpace } from "./white_space.js";

/** @import { Recipe } from "./recipe.js" */

/**
 * Normalize a question to NFKC, without control characters, with single spaces.
 * @param {string} question
 * @returns {string}
 */
export function cleanQuestion(question) {
  return splitAtSpace(question.normalize("NFKC").replace(/\p{C}/gu, " ")).join(" ");
}

/**
 * Say in one sentence why a cleaned question cannot be answered; null if it can.
 * @param {Recipe} recipe
 * @param {string} cleaned
 * @returns {string | null}
 */
export function findQuestionProblem(recipe, cleaned) {
  const { MAX_QUESTION_CHARACTERS } = recipe.question_text;
  if (!cleaned) return "The question is empty.";
  if (countCodePoints(cleaned) > MAX_QUESTION_CHARACTERS) {
    return `A question has at most ${MAX_QUESTION_CHARACTERS} characters.`;
  }
  return null;
}

/**
 * Remove the frame of a question, such as "what does the author say about".
 *
 * The site and its author, whose names the frames hold, are speakers too.
 * @param {Recipe} recipe
 * @param {string} question
 * @returns {string}
 */
export function stripFrame(recipe, question) {
  const { FRAMES, MAX_SUBJECT_WORDS, OPENING, SAYS_ABOUT } = recipe.question_text;
  let text = question;
  for (const pattern of FRAMES) text = replaceAll(pattern, text, " ");
  text = replaceAll(SAYS_ABOUT, text, "$1");
  if (text === question) return question;
  const words = splitAtSpace(replaceAll(OPENING, stripSpace(text), ""));
  const subject = words.join(" ");
  // In the mean vector of few words a question mark would count like one of them.
  return words.length <= MAX_SUBJECT_WORDS ? subject.replace(/(?<![ ?!.,])[ ?!.,]+$/, "") : subject;
}

/**
 * Remove the words by which a question continues an earlier one, such as "and" or "but".
 * @param {Recipe} recipe
 * @param {string} question
 * @returns {string}
 */
export function stripContinuation(recipe, question) {
  return replaceAll(recipe.question_text.CONTINUES, question, "");
}

/**
 * Test whether a question ends or begins as one about something that was said before.
 * @param {Recipe} recipe
 * @param {string} question
 * @returns {boolean}
 */
export function pointsBack(recipe, question) {
  return recipe.question_text.POINTS_BACK.test(question);
}

/**
 * Test whether a question asks what something is.
 * @param {Recipe} recipe
 * @param {string} question
 * @returns {boolean}
 */
export function asksForDefinition(recipe, question) {
  return recipe.question_text.DEFINITION.test(question);
}

/**
 * Test whether a question names a version, a release or the changelog.
 * @param {Recipe} recipe
 * @param {string} question
 * @param {Set<string>} phrases in it
 * @returns {boolean}
 */
export function asksForHistory({ question_text: { HISTORY_WORDS, VERSION } }, question, phrases) {
  return VERSION.test(question.toLowerCase()) || HISTORY_WORDS.some((/** @type {string} */ word) => phrases.has(word));
}

/**
 * Test whether a question has a word for now in one of the site's languages.
 * @param {Recipe} recipe
 * @param {string} question
 * @param {Set<string>} phrases in it
 * @returns {boolean}
 */
export function asksAboutNow(recipe, question, phrases) {
  const [nowPhrases, substrings] = recipe.question_text.NOW_WORDS;
  return (
    nowPhrases.some((/** @type {string} */ phrase) => phrases.has(phrase)) ||
    substrings.some((/** @type {string} */ words) => question.includes(words))
  );
}

/**
 * Find the options, classes and other names of code in a question, as they are written.
 * @param {Recipe} recipe
 * @param {string} question
 * @returns {Set<string>}
 */
export function findIdentifiers(recipe, question) {
  return new Set(findTexts(recipe.question_text.IDENTIFIER, question));
}
