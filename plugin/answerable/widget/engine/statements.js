/** Split a passage into statements that can be quoted; widen a quote to its whole sentences. */

import { countCodePoints } from "./code_points.js";
import { findAll, matchAt } from "./patterns.js";
import { countWords } from "./tokenization.js";
import { stripSpace, stripSpaceAtEnd, stripSpaceAtStart } from "./white_space.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./passage_shards.js").Block} Block
 * @typedef {[start: number, end: number]} TextRange
 * @typedef {"sentence" | "item" | "row" | "header" | "code" | "label"} StatementKind
 *
 * A unit that is quoted whole or not at all: `text.slice(start, end)` of a passage; see the Python class.
 * @typedef {Object} Statement
 * @property {StatementKind} kind
 * @property {number} start
 * @property {number} end
 * @property {number} block its place among the passage's blocks
 * @property {number} words
 * @property {number} group the list or table it belongs to, 0 for none
 * @property {number} label the block of the tab's or term's label above it, -1 for none
 * @property {boolean} isPointer
 * @property {boolean} isDangling
 * @property {boolean} leadsIn
 * @property {boolean} isNumbered
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
 * Split a passage into statements, leaving out titles, captions and diagrams.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @returns {PassageStatements}
 */
export function splitStatements(recipe, passage) {
  const lists = new Set(passage.blocks.filter(({ kind }) => kind === "item" || kind === "row").map(({ group }) => group));
  /** @type {Statement[]} */
  const statements = [];
  /** @type {{place: number, block: Block} | null} */
  let label = null;
  passage.blocks.forEach((block, place) => {
    if (block.kind === "label") {
      if (block.detail !== "tab" && block.detail !== "term") return;
      label = { place, block };
      statements.push(describe(recipe, passage.text, "label", block.start, block.end, place, place));
      return;
    }
    if (label && (block.level <= label.block.level || block.group < label.block.group)) label = null;
    for (const [kind, start, end] of splitBlock(recipe, passage, block)) {
      const statement = describe(recipe, passage.text, kind, start, end, place, label?.place ?? -1);
      statement.group = lists.has(block.group) ? block.group : 0;
      statement.isNumbered = kind === "item" && Boolean(block.detail);
      statements.push(statement);
    }
  });
  return new PassageStatements(statements);
}

/**
 * Test whether a statement answers alone: not a pointer, a question or a fragment.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {Statement} statement
 * @returns {boolean}
 */
export function isQuotableAlone({ statements }, text, { kind, start, end, words, isPointer }) {
  if (kind === "code" || kind === "label" || kind === "header" || isPointer) return false;
  if (kind === "sentence" && words < statements.MIN_SENTENCE_WORDS) return false;
  return !endsWithAny(text.slice(start, end), statements.QUESTIONS);
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
  for (const [first, last] of splitUnits(recipe, passage)) {
    if (countCodePoints(passage.text.slice(first, last)) > recipe.statements.MAX_WIDENED_SENTENCE) continue;
    if (first < start && start < last) start = first;
    if (first < end && end < last) end = last;
  }
  return [start, end];
}

/**
 * Test whether a range is all of one or more lines that are in no sentence.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {number} start
 * @param {number} end
 * @returns {boolean}
 */
export function isLineOfCode(recipe, passage, start, end) {
  const overlaps = (/** @type {number} */ first, /** @type {number} */ last) => first < end && start < last;
  const units = splitUnits(recipe, passage).filter((unit) => overlaps(...unit));
  if (!units.length || units[0][0] !== start || units[units.length - 1][1] !== end) return false;
  if (passage.blocks.length) {
    return passage.blocks.every((block) => block.kind === "code" || !overlaps(block.start, block.end));
  }
  const isSentence = (/** @type {TextRange} */ unit) => passage.sentences.some((each) => isEqual(each, unit));
  return passage.sentences.length > 0 && !units.some(isSentence);
}

/**
 * Strip white space from the ends of a range; an empty one where there is nothing else.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {TextRange}
 */
export function stripRange(text, start, end) {
  const part = text.slice(start, end);
  const first = start + part.length - stripSpaceAtStart(part).length;
  return [first, Math.max(start, end - part.length + stripSpaceAtEnd(part).length)];
}

/**
 * List the kind and the offsets of each statement of a block; a long item is sentences.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {Block} block
 * @returns {[StatementKind, number, number][]}
 */
function splitBlock(recipe, { text, sentences }, { kind, start, end, detail }) {
  const { MAX_ITEM_WORDS } = recipe.statements;
  const { DIAGRAM_LANGUAGE, RECORDING_LANGUAGE } = recipe.structure;
  if (kind === "code") {
    return detail === DIAGRAM_LANGUAGE || detail === RECORDING_LANGUAGE ? [] : [["code", start, end]];
  }
  if (kind === "row") return [[detail === "header" ? "header" : "row", start, end]];
  if (kind === "item" && countWords(recipe, text.slice(start, end)) <= MAX_ITEM_WORDS) return [["item", start, end]];
  return sentences
    .filter(([first, last]) => start <= first && last <= end)
    .map(([first, last]) => ["sentence", first, last]);
}

/**
 * Describe one statement by its words: where it leads, and whether it stands alone.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {StatementKind} kind
 * @param {number} start
 * @param {number} end
 * @param {number} block
 * @param {number} label
 * @returns {Statement}
 */
function describe(recipe, text, kind, start, end, block, label) {
  const { DANGLING, LEAD_INS, MAX_POINTER_WORDS, POINTER } = recipe.statements;
  const part = text.slice(start, end);
  const words = countWords(recipe, part);
  const isProse = kind === "sentence" || kind === "item";
  return {
    kind,
    start,
    end,
    block,
    words,
    group: 0,
    label,
    isPointer: isProse && words <= MAX_POINTER_WORDS && matchAt(POINTER, part) !== null,
    isDangling: isProse && matchAt(DANGLING, part) !== null,
    leadsIn: isProse && endsWithAny(part, LEAD_INS),
    isNumbered: false,
  };
}

/** @type {WeakMap<Passage, TextRange[]>} */
const unitsByPassage = new WeakMap();

/**
 * Split a text into its sentences and, between them, its lines, in order.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @returns {TextRange[]}
 */
function splitUnits(recipe, passage) {
  let units = unitsByPassage.get(passage);
  if (units) return units;
  const { text, sentences } = passage;
  units = [...sentences];
  let last = 0;
  for (const [start, end] of [...sentences, [text.length, text.length]]) {
    units.push(...splitLines(recipe, text, last, start));
    last = end;
  }
  units.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  units = units.filter((unit, at, all) => !at || !isEqual(unit, all[at - 1]));
  unitsByPassage.set(passage, units);
  return units;
}

/**
 * Split a part of a text that has no sentences, dropping the white space between its lines.
 * @param {Recipe} recipe
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {TextRange[]}
 */
function splitLines(recipe, text, start, end) {
  const cuts = [start];
  for (const match of findAll(recipe.statements.SENTENCE_ENDS, text, start, end)) {
    const at = Number(match.index);
    cuts.push(at, at + match[0].length);
  }
  cuts.push(end);
  const lines = [];
  for (let at = 0; at < cuts.length; at += 2) {
    if (stripSpace(text.slice(cuts[at], cuts[at + 1]))) lines.push(stripRange(text, cuts[at], cuts[at + 1]));
  }
  return lines;
}

/**
 * @param {string} text
 * @param {string[]} endings
 */
function endsWithAny(text, endings) {
  return endings.some((ending) => text.endsWith(ending));
}

/**
 * @param {TextRange} one
 * @param {TextRange} other
 */
function isEqual(one, other) {
  return one[0] === other[0] && one[1] === other[1];
}
