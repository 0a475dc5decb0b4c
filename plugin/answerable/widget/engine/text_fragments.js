/** Add a text fragment (#:~:text=) to a url, by which a browser finds and highlights a quote. */

import { countCodePoints } from "./code_points.js";
import { findAll } from "./patterns.js";
import { stripRange } from "./statements.js";
import { splitAtSpace } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {[start: number, end: number]} TextRange
 *
 * The words of a term in a text, and the words around them that make it unique.
 * @typedef {{start: number, end: number, prefix: number, suffix: number}} FragmentTerm
 */

/**
 * Add a text fragment for a quote to the url of the passage that it is from.
 * Returns the url as it is where the quote is not in the text, has no word, or equals words before it.
 * @param {Recipe} recipe
 * @param {string} url
 * @param {string} quote
 * @param {string} text
 * @param {number} [start] from where the quote is searched
 * @returns {string}
 */
export function linkToQuote(recipe, url, quote, text, start = 0) {
  const at = quote ? text.indexOf(quote, start) : -1;
  if (at < 0) return url;
  const end = moveToWordEdge(recipe, text, at + quote.length, 1);
  const terms = chooseTerms(recipe, text, moveToWordEdge(recipe, text, at, -1), end);
  let directive;
  try {
    directive = terms.flatMap((term) => encodeTerm(text, term)).join(",");
  } catch (error) {
    // Half of a pair of surrogates has no UTF-8.
    if (error instanceof URIError) return url;
    throw error;
  }
  return directive ? `${url}${url.includes("#") ? "" : "#"}:~:text=${directive}` : url;
}

/**
 * Choose one term, or the first and last words of what is long or broken; none if not found.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {FragmentTerm[]}
 */
function chooseTerms(recipe, text, start, end) {
  const { EDGE_WORDS } = recipe.text_fragments;
  const pieces = splitRuns(recipe, text)
    .map((run) => ({ run, part: stripRange(text, Math.max(run[0], start), Math.min(run[1], end)) }))
    .filter(({ part }) => /[\p{L}\p{N}]/u.test(text.slice(...part)));
  if (!pieces.length) return [];
  const { run, part } = pieces[0];
  const { run: lastRun, part: lastPart } = pieces[pieces.length - 1];
  const [first, stop] = part;
  const [begin, last] = lastPart;
  if (run === lastRun && isShort(recipe, text, first, last)) {
    const term = chooseUniqueTerm(recipe, text, [[first, last]], run);
    return term ? [term] : [];
  }
  const ends = findWordEnds(recipe, text, first, stop, EDGE_WORDS);
  const head = chooseUniqueTerm(recipe, text, ends.map((each) => [first, each]), [run[0], first]);
  if (!head) return [];
  const starts = findWordStarts(recipe, text, Math.max(begin, head.end), last, EDGE_WORDS);
  const tails = starts.map((each) => /** @type {TextRange} */ ([each, last]));
  const tail = chooseUniqueTerm(recipe, text, tails, [last, lastRun[1]], head.end);
  return tail ? [head, tail] : [];
}

/**
 * Choose the first range whose words occur once after an offset, else the last with context.
 * Null if equal words come first.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {TextRange[]} ranges
 * @param {TextRange} room where the words around a range may be from
 * @param {number} [since]
 * @returns {FragmentTerm | null}
 */
function chooseUniqueTerm(recipe, text, ranges, room, since = 0) {
  let term = null;
  for (term of listTermCandidates(recipe, text, ranges, room)) {
    if (isOnce(recipe, text.slice(since), text.slice(term.prefix, term.suffix))) return term;
  }
  const isFirst = term && isOnce(recipe, text.slice(since, term.suffix), text.slice(term.prefix, term.suffix));
  return isFirst ? term : null;
}

/**
 * List ranges alone, then the last one with ever more words before it, after it and both.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {TextRange[]} ranges
 * @param {TextRange} room
 * @returns {Generator<FragmentTerm>}
 */
function* listTermCandidates(recipe, text, ranges, room) {
  for (const [start, end] of ranges) yield { start, end, prefix: start, suffix: end };
  if (!ranges.length) return;
  const { CONTEXT_WORDS } = recipe.text_fragments;
  const [start, end] = ranges[ranges.length - 1];
  const before = findWordStarts(recipe, text, room[0], start, CONTEXT_WORDS);
  const after = findWordEnds(recipe, text, end, room[1], CONTEXT_WORDS);
  if (!before.length) before.push(start);
  if (!after.length) after.push(end);
  for (let n = 0; n < Math.max(before.length, after.length); n += 1) {
    const edge = { prefix: before[Math.min(n, before.length - 1)], suffix: after[Math.min(n, after.length - 1)] };
    for (const context of [{ ...edge, suffix: end }, { ...edge, prefix: start }, edge]) {
      if (context.prefix !== start || context.suffix !== end) yield { start, end, ...context };
    }
  }
}

/**
 * Encode a term as the comma-separated parts of a directive.
 * @param {string} text
 * @param {FragmentTerm} term
 * @returns {string[]}
 */
function encodeTerm(text, { start, end, prefix, suffix }) {
  const parts = [percentEncode(text.slice(start, end))];
  if (prefix < start) parts.unshift(`${percentEncode(text.slice(prefix, start))}-`);
  if (suffix > end) parts.push(`-${percentEncode(text.slice(end, suffix))}`);
  return parts;
}

/**
 * Percent-encode words for a directive, hyphens too.
 * @param {string} words
 * @returns {string}
 */
function percentEncode(words) {
  const encoded = encodeURIComponent(splitAtSpace(words).join(" "));
  return encoded.replace(/[-!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Find where the last words of a part of a text begin, for each count without a repeat.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {number[]} counts
 * @returns {number[]}
 */
function findWordStarts(recipe, text, start, end, counts) {
  const words = findAll(recipe.text_fragments.WORD, text, start, end).map(({ index }) => Number(index));
  if (!words.length) return [];
  const starts = new Set(counts.map((count) => words[words.length - Math.min(count, words.length)]));
  return [...starts].filter((at) => isShort(recipe, text, at, end));
}

/**
 * Find where the first words of a part of a text end, for each count without a repeat.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {number[]} counts
 * @returns {number[]}
 */
function findWordEnds(recipe, text, start, end, counts) {
  const matches = findAll(recipe.text_fragments.WORD, text, start, end);
  const words = matches.map((match) => Number(match.index) + match[0].length);
  if (!words.length) return [];
  const ends = new Set(counts.map((count) => words[Math.min(count, words.length) - 1]));
  return [...ends].filter((at) => isShort(recipe, text, start, at));
}

/**
 * Test whether a range is not too long for a term.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {boolean}
 */
function isShort({ text_fragments }, text, start, end) {
  return countCodePoints(text.slice(start, end)) <= text_fragments.MAX_TERM_CHARACTERS;
}

/**
 * Split a text at its breaks into runs.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {TextRange[]}
 */
function splitRuns(recipe, text) {
  /** @type {TextRange[]} */
  const runs = [];
  let start = 0;
  for (const match of findAll(recipe.text_fragments.BREAK, text)) {
    runs.push([start, Number(match.index)]);
    start = Number(match.index) + match[0].length;
  }
  return [...runs, [start, text.length]];
}

/**
 * Move an offset in a direction until it is not inside a word.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {number} at
 * @param {1 | -1} step
 * @returns {number}
 */
function moveToWordEdge(recipe, text, at, step) {
  while (0 < at && at < text.length && isInsideWord(recipe, text, at)) {
    at += step * (step > 0 ? characterAt(text, at) : characterBefore(text, at)).length;
  }
  return at;
}

/**
 * Test whether an offset is between two characters of a word, of which one may be a point or a quote mark.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {number} at
 * @returns {boolean}
 */
function isInsideWord({ text_fragments }, text, at) {
  const before = characterBefore(text, at);
  const after = characterAt(text, at);
  const isMiddle = (/** @type {string} */ character) => text_fragments.MID_WORD.includes(character);
  if (isWordCharacter(before) && isWordCharacter(after)) return true;
  if (isMiddle(after)) return isWordCharacter(before) && isWordCharacter(characterAt(text, at + 1));
  return isMiddle(before) && isWordCharacter(characterBefore(text, at - 1)) && isWordCharacter(after);
}

/**
 * Test whether a character makes one word with its neighbor: also U+200D in emoji.
 * @param {string} character
 * @returns {boolean}
 */
function isWordCharacter(character) {
  return /[\p{L}\p{N}\p{M}_\u200d]/u.test(character);
}

/**
 * Return the character that begins at an offset, "" at the end.
 * @param {string} text
 * @param {number} at
 * @returns {string}
 */
function characterAt(text, at) {
  return at < text.length ? String.fromCodePoint(/** @type {number} */ (text.codePointAt(at))) : "";
}

/**
 * Return the character that ends at an offset, "" at the start.
 * @param {string} text
 * @param {number} at
 * @returns {string}
 */
function characterBefore(text, at) {
  if (at <= 0) return "";
  const pair = at > 1 ? characterAt(text, at - 2) : "";
  return pair.length === 2 ? pair : text[at - 1];
}

/**
 * Test whether a browser finds words once in a text: whole, without case or accents.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {string} words
 * @returns {boolean}
 */
function isOnce(recipe, text, words) {
  const haystack = foldLikeBrowser(recipe, text);
  const needle = foldLikeBrowser(recipe, words);
  let count = 0;
  let at = haystack.indexOf(needle);
  while (at >= 0 && count < 2) {
    if (!cutsAsciiWord(haystack, at) && !cutsAsciiWord(haystack, at + needle.length)) count += 1;
    at = haystack.indexOf(needle, at + 1);
  }
  return count === 1;
}

/**
 * Test whether an offset is inside an ASCII word; other scripts may have no spaces.
 * @param {string} text
 * @param {number} at
 * @returns {boolean}
 */
function cutsAsciiWord(text, at) {
  return at > 0 && /^[A-Za-z0-9]{2}$/.test(text.slice(at - 1, at + 1));
}

const MAX_FOLDED_TEXTS = 64;
/** @type {Map<string, string>} */
const foldedTexts = new Map();

/**
 * Fold case by upper letters, and drop all marks.
 * @param {Recipe} recipe
 * @param {string} text
 * @returns {string}
 */
function foldLikeBrowser({ text_fragments }, text) {
  let folded = foldedTexts.get(text);
  if (folded === undefined) {
    const plain = text.normalize("NFKD").replace(/[‘-‟«»]/g, (mark) => text_fragments.QUOTE_MARKS[mark] ?? mark);
    folded = splitAtSpace(plain.replace(/\p{M}+/gu, "").toUpperCase()).join(" ");
    if (foldedTexts.size >= MAX_FOLDED_TEXTS) foldedTexts.clear();
    foldedTexts.set(text, folded);
  }
  return folded;
}
