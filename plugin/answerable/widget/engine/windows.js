/** Join the windows of a section, which repeat some words of one another. */

import { countCodePoints } from "./code_points.js";
import { readMarkdown } from "./markdown.js";
import { findSentences } from "./units.js";
import { stripSpace, stripSpaceAtEnd } from "./white_space.js";

/**
 * @typedef {import("./markdown.js").MarkdownText} MarkdownText
 * @typedef {import("./recipe.js").Recipe} Recipe
 */

const FENCE = /^ *\x60{3,}/;
// What stands before the words of an item.
const MARKER = /^ *(?:(?:-|-?[0-9]{1,9}\.) +)?/;
const DEFINITION = /^( *): {3}/;

/**
 * Join windows into the Markdown of their section.
 * @param {Recipe} recipe
 * @param {import("./store.js").Passage[]} windows
 */
export function joinWindows(recipe, [{ markdown: first }, ...others]) {
  let joined = first;
  let before = readMarkdown(first);
  for (const { markdown } of others) {
    const window = readMarkdown(markdown);
    const start = findNewWords(recipe, before.text, window);
    const rest = cutBefore(markdown, window, start);
    const isInCode = window.blocks.some((block) => block.kind === "code" && block.start < start && start < block.end);
    const [opening] = rest.split("\n", 1);
    const closing = joined.slice(joined.lastIndexOf("\n") + 1);
    if (isInCode && closing === FENCE.exec(opening)?.[0]) {
      joined = joined.slice(0, -closing.length) + rest.slice(opening.length + 1);
    } else if (rest) {
      const [last, next] = [before.blocks[before.blocks.length - 1], readMarkdown(rest).blocks[0]];
      const isNextLine = last.kind === next.kind && (next.kind === "item" || (next.kind === "row" && next.detail === ""));
      joined += (isNextLine ? "\n" : "\n\n") + rest;
    }
    before = window;
  }
  return joined;
}

/**
 * Find where a window goes on after the words, and the column names, that it repeats of the one before it.
 * @param {Recipe} recipe
 * @param {string} before
 * @param {MarkdownText} window
 */
function findNewWords(recipe, before, window) {
  const { blocks, text } = window;
  const [header, first] = blocks;
  const isRepeated = first && header.detail === "header" && before.split("\n").includes(header.text);
  const begin = isRepeated ? first.start : 0;
  const lines = Array.from(text.matchAll(/\n/g), ({ index }) => index + 1);
  const sentences = findSentences(recipe, window).map(([start]) => start);
  const ends = new Set([...sentences, ...blocks.map(({ start }) => start), ...lines, text.length]);
  for (const end of [...ends].sort((one, other) => other - one)) {
    const overlap = stripSpaceAtEnd(text.slice(begin, end));
    if (!before.endsWith(overlap) || countCodePoints(overlap) < recipe.wire.MIN_OVERLAP) continue;
    if (!stripSpace(before.slice(0, before.length - overlap.length).slice(-1))) return begin + overlap.length;
  }
  return begin;
}

/**
 * Cut off what stands before an offset of a window's plain text.
 * @param {string} markdown
 * @param {MarkdownText} window
 * @param {number} start
 */
function cutBefore(markdown, { blocks }, start) {
  const block = blocks.find(({ end }) => end > start);
  if (!block) return "";
  const lines = markdown.split("\n").slice(block.line);
  const before = block.text.slice(0, Math.max(0, start - block.start));
  if (!before) return [lines[0].replace(DEFINITION, "$1    "), ...lines.slice(1)].join("\n");
  if (block.kind === "code") {
    const code = block.text.slice(before.length).replace(/^\n+/, "");
    const count = block.text.split("\n").length - code.split("\n").length;
    return [lines[0].replace(/ title=.*/, ""), ...lines.slice(1 + count)].join("\n");
  }
  const rest = stripSpace(block.text.slice(before.length));
  const count = block.text.split("\n").length;
  const [source, after] = [lines.slice(0, count), lines.slice(count)].map((each) => each.join("\n"));
  const [marker] = /** @type {RegExpExecArray} */ (MARKER.exec(source));
  for (const { index } of source.matchAll(/(?<=[ \n])[^ \n]/g)) {
    const cut = marker + source.slice(index);
    if (readMarkdown(cut).text === rest) return after ? `${cut}\n${after}` : cut;
  }
  return lines.join("\n");
}
