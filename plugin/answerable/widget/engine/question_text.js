/** Clean a question, check its length, strip phrases that frame its subject, detect follow-ups. */

import { countCodePoints } from "./code_points.js";
import { replaceAll } from "./patterns.js";
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
 * Test whether a question makes sense only after another one, such as "and on Windows?".
 * @param {Recipe} recipe
 * @param {string} question
 * @param {number} contentWords
 * @returns {boolean}
 */
export function isFollowUp(recipe, question, contentWords) {
  const { CONTINUES, MAX_SUBJECT_WORDS, POINTS_BACK } = recipe.question_text;
  if (CONTINUES.test(question)) return contentWords <= MAX_SUBJECT_WORDS;
  return contentWords === 0 && POINTS_BACK.test(question);
}
