/** The sentences and lines of a passage: widen a quote to whole ones, and link to a range. */

import { countCodePoints } from "./code_points.js";
import { splitAtSpace, stripSpace, stripSpaceAtEnd, stripSpaceAtStart } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {[start: number, end: number]} TextRange
 */

/**
 * Extend a range to the whole sentences at its edges, each if it is short.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {number} start
 * @param {number} end
 * @returns {TextRange}
 */
export function widenToSentences(recipe, passage, start, end) {
  for (const [first, last] of listUnits(passage)) {
    if (countCodePoints(passage.text.slice(first, last)) > recipe.units.MAX_WIDENED_SENTENCE) continue;
    if (first < start && start < last) start = first;
    if (first < end && end < last) end = last;
  }
  return [start, end];
}

/**
 * Strip white space from the ends of a range.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {TextRange}
 */
export function stripRange(text, start, end) {
  const part = text.slice(start, end);
  return [end - stripSpaceAtStart(part).length, start + stripSpaceAtEnd(part).length];
}

/**
 * List the sentences of a passage and, between them, its lines, in order.
 * @param {Passage} passage
 * @returns {TextRange[]}
 */
export function listUnits({ text, sentences }) {
  /** @type {TextRange[]} */
  const units = [];
  let last = 0;
  for (const sentence of [...sentences, null]) {
    for (const line of text.slice(last, Math.max(last, sentence?.[0] ?? text.length)).split("\n")) {
      if (stripSpace(line)) units.push(stripRange(text, last, last + line.length));
      last += line.length + 1;
    }
    if (!sentence) break;
    units.push(sentence);
    last = sentence[1];
  }
  return units;
}

/**
 * Add a text fragment (#:~:text=) to the url of a passage, which highlights a range of it: the first and the last words,
 * as many as no other words of the passage equal.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {number} start
 * @param {number} end
 */
export function linkToRange(recipe, { text, url }, start, end) {
  const { BREAK } = recipe.structure;
  const runs = text.slice(start, end).split(BREAK).filter((run) => /[\p{L}\p{N}]/u.test(run)).map(splitAtSpace);
  if (!runs.length) return url;
  const [first, last] = [runs[0], runs[runs.length - 1]];
  const head = chooseWords(recipe, first, text, false);
  const tail = chooseWords(recipe, last, text.slice(start), true);
  const isOne = runs.length === 1 && first.length <= head.length + tail.length;
  const fragment = (isOne ? [first] : [head, tail]).map(encodeWords).join(",");
  return `${url}${url.includes("#") ? "" : "#"}:~:text=${fragment}`;
}

/**
 * Choose the fewest first or last words, at least four, that a text has once.
 * @param {Recipe} recipe
 * @param {string[]} words
 * @param {string} text
 * @param {boolean} fromEnd
 */
function chooseWords({ units }, words, text, fromEnd) {
  const plain = splitAtSpace(text).join(" ");
  for (let count = units.MIN_LINK_WORDS; count < words.length; count += 1) {
    const chosen = fromEnd ? words.slice(-count) : words.slice(0, count);
    if (plain.split(chosen.join(" ")).length === 2) return chosen;
  }
  return words;
}

/**
 * Percent-encode words for a fragment, hyphens too; half of a surrogate pair is no letter.
 * @param {string[]} words
 */
function encodeWords(words) {
  const encoded = encodeURIComponent(words.join(" ").replace(/\p{Surrogate}/gu, "?"));
  return encoded.replace(/[-!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
