/** Choose among the statements of a passage, widen a quote to whole sentences, and link to it. */

import { countCodePoints } from "./code_points.js";
import { splitAtSpace, stripSpace, stripSpaceAtEnd, stripSpaceAtStart } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./passage_shards.js").Statement} Statement
 * @typedef {[start: number, end: number]} TextRange
 */

/** Hold the statements of a passage, in order, and answer where each leads. */
export class PassageStatements {
  /** @param {Statement[]} statements */
  constructor(statements) {
    this.statements = statements;
  }

  /**
   * Find the places of the code that follows a statement: one, or one of each tab.
   * @param {number} place
   * @returns {number[]}
   */
  findCodeAfter(place) {
    const places = [];
    for (let following = place + 1; following < this.statements.length; following += 1) {
      const { kind } = this.statements[following];
      if (kind === "code" && (!places.length || this.statements[following - 1].kind === "label")) places.push(following);
      else if (kind !== "label") break;
    }
    return places;
  }

  /**
   * Find the places of the list or table that a statement belongs to.
   * @param {number} place
   * @returns {number[]}
   */
  findGroup(place) {
    const { group } = this.statements[place];
    let first = place;
    let last = place;
    while (group && this.statements[first - 1]?.group === group) first -= 1;
    while (group && this.statements[last + 1]?.group === group) last += 1;
    return Array.from({ length: last + 1 - first }, (_, at) => first + at);
  }

  /**
   * Find the place of the first item or row that a lead-in leads into.
   * @param {number} place
   * @returns {number | null}
   */
  findListAfter(place) {
    const statement = this.statements[place];
    const following = this.statements[place + 1];
    if (!following || !statement.leadsIn) return null;
    return following.group !== statement.group && following.group ? place + 1 : null;
  }

  /**
   * Find the place of the sentence that leads into a statement's list or table.
   * @param {number} place
   * @returns {number | null}
   */
  findLeadIn(place) {
    const before = this.findGroup(place)[0] - 1;
    return this.statements[before]?.leadsIn ? before : null;
  }
}

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
    if (countCodePoints(passage.text.slice(first, last)) > recipe.statements.MAX_WIDENED_SENTENCE) continue;
    if (first < start && start < last) start = first;
    if (first < end && end < last) end = last;
  }
  return [start, end];
}

/**
 * Test whether a range is all of one or more lines of code.
 * @param {Passage} passage
 * @param {number} start
 * @param {number} end
 * @returns {boolean}
 */
export function isLineOfCode(passage, start, end) {
  const overlaps = (/** @type {number} */ first, /** @type {number} */ last) => first < end && start < last;
  const units = listUnits(passage).filter((unit) => overlaps(...unit));
  if (!units.length || units[0][0] !== start || units[units.length - 1][1] !== end) return false;
  const blocks = passage.blocks.filter((block) => overlaps(block.start, block.end));
  return blocks.length > 0 && blocks.every(({ kind }) => kind === "code");
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
function listUnits({ text, sentences }) {
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
 * Add a text fragment (#:~:text=) to the url of a passage, which highlights the statements that a range touches.
 * The url stays as it is where there are none, or where a browser would find equal words before them.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {number} start
 * @param {number} end
 * @returns {string}
 */
export function linkToStatements(recipe, { statements, text, url }, start, end) {
  const touched = statements.filter((each) => each.start < end && start < each.end);
  const [first, last] = [touched[0], touched[touched.length - 1]];
  if (!first || first.isUnlinked) return url;
  const splitRuns = (/** @type {Statement} */ each) =>
    text.slice(each.start, each.end).split(recipe.structure.BREAK).filter((run) => /[\p{L}\p{N}]/u.test(run)).map(splitAtSpace);
  const runs = splitRuns(first);
  const parts = [encodeWords(runs.length ? runs[0].slice(0, first.head || undefined) : [])];
  if (first.prefix) parts.unshift(`${encodeWords(splitAtSpace(text.slice(0, first.start)).slice(-first.prefix))}-`);
  const isOne = first === last && runs.length === 1 && !first.head;
  const isNamed = !last.isEndless && (first === last || !last.prefix);
  if (isNamed && !isOne) parts.push(...splitRuns(last).slice(-1).map((run) => encodeWords(run.slice(-last.tail))));
  return `${url}${url.includes("#") ? "" : "#"}:~:text=${parts.join(",")}`;
}

/**
 * Percent-encode words for a fragment, hyphens too; half of a surrogate pair is no letter.
 * @param {string[]} words
 * @returns {string}
 */
function encodeWords(words) {
  const encoded = encodeURIComponent(words.join(" ").replace(/\p{Surrogate}/gu, "?"));
  return encoded.replace(/[-!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
