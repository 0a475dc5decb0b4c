/** The sentences and lines of a passage, and citations of a range of it. */

import { readMarkdown } from "./markdown.js";
import { RULES } from "./rules.js";
import { splitAtSpace, stripRange } from "./tokenization.js";

/** @import { MarkdownText } from "./markdown.js" */
/** @import { Passage } from "./store.js" */

/**
 * @typedef {[start: number, end: number]} TextRange
 *
 * The exact id and url of a retrieved passage, and the words of it that back a claim.
 * @typedef {{id: string, url: string, title: string, quote: string, date: string | null, href: string,
 *   language: string}} Citation
 */

/**
 * Read the Markdown of a passage, once.
 * @param {Passage} passage
 */
export function readPassage(passage) {
  return (passage.read ??= readMarkdown(passage.markdown));
}

/**
 * List where the sentences of a text stand in it: a row is one, and code and labels have none.
 * @param {MarkdownText} passage
 * @returns {TextRange[]}
 */
export function findSentences({ blocks }) {
  return blocks.flatMap((block) => {
    const { kind, text, start } = block;
    if (kind === "code" || kind === "label") return [];
    const ends = kind === "row" ? [] : listSentenceEnds(block);
    const edges = [0, ...ends, text.length];
    const ranges = edges.slice(1).map((end, place) => stripRange(text, edges[place], end));
    return ranges.filter(([first, end]) => first < end).map(([first, end]) => /** @type {TextRange} */ ([start + first, start + end]));
  });
}

/**
 * List where sentences end in a block before its own end.
 * @param {import("./markdown.js").Block} block
 */
function listSentenceEnds({ text, spans }) {
  const { ABBREVIATION, ABBREVIATION_CHARACTERS, END } = RULES.sentences;
  let masked = "";
  // A full stop in code must not look like an end.
  for (const { kind, start, end } of spans) {
    if (kind === "code") masked += text.slice(masked.length, start) + "0".repeat(end - start);
  }
  masked += text.slice(masked.length);
  return [...masked.matchAll(END)].flatMap(({ 0: stop, 1: next, index }) => {
    const before = [...masked.slice(0, index).slice(-2 * ABBREVIATION_CHARACTERS)].slice(-ABBREVIATION_CHARACTERS).join("");
    const isAbbreviation = stop === "." && before.search(ABBREVIATION) >= 0;
    return isAbbreviation || /^\p{Lowercase}/u.test(next ?? "") ? [] : [index + stop.length];
  });
}

/**
 * List the sentences of a passage and, between them, its lines, in order.
 * @param {MarkdownText} passage
 * @returns {TextRange[]}
 */
export function listUnits(passage) {
  const { text } = passage;
  const sentences = findSentences(passage);
  /** @type {TextRange[]} */
  const units = [];
  let last = 0;
  for (const sentence of [...sentences, null]) {
    for (const line of text.slice(last, Math.max(last, sentence?.[0] ?? text.length)).split("\n")) {
      const range = stripRange(text, last, last + line.length);
      if (range[0] < range[1]) units.push(range);
      last += line.length + 1;
    }
    if (!sentence) break;
    units.push(sentence);
    last = sentence[1];
  }
  return units;
}

/**
 * Cite a range of a passage.
 * @param {Passage} passage
 * @param {TextRange} range
 */
export function citeRange(passage, [start, end]) {
  const { id, url, title, date, language } = passage;
  const quote = readPassage(passage).text.slice(start, end);
  return { id, url, title, quote, date, href: linkToRange(passage, start, end), language };
}

/**
 * Add a text fragment (#:~:text=) to the url of a passage, which highlights a range of it: the first and the last words,
 * as many as no other words of the passage equal.
 * @param {Passage} passage
 * @param {number} start
 * @param {number} end
 */
function linkToRange(passage, start, end) {
  const { text } = readPassage(passage);
  const { url } = passage;
  const { BREAK } = RULES.structure;
  const runs = text.slice(start, end).split(BREAK).filter((run) => /[\p{L}\p{N}]/u.test(run)).map(splitAtSpace);
  if (!runs.length) return url;
  const [first, last] = [runs[0], runs[runs.length - 1]];
  const head = chooseWords(first, text, false);
  const tail = chooseWords(last, text.slice(start), true);
  const isOne = runs.length === 1 && first.length <= head.length + tail.length;
  const fragment = (isOne ? [first] : [head, tail]).map(encodeWords).join(",");
  return `${url}${url.includes("#") ? "" : "#"}:~:text=${fragment}`;
}

/**
 * Choose the fewest first or last words, at least four, that a text has once.
 * @param {string[]} words
 * @param {string} text
 * @param {boolean} fromEnd
 */
function chooseWords(words, text, fromEnd) {
  const plain = splitAtSpace(text).join(" ");
  for (let count = RULES.units.MIN_LINK_WORDS; count < words.length; count += 1) {
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
