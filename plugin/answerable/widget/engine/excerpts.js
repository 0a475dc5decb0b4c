/** Excerpts: the statements, code, list or rows of a passage that a reader would copy. */
import { countCodePoints } from "./code_points.js";
import { countVisibleCharacters, foldWords, isVisible } from "./normalization.js";
import { matchesStart, matchesAll } from "./patterns.js";
import { isLineOfCode, PassageStatements, stripRange } from "./statements.js";
import { countWords, extractTerms } from "./tokenization.js";
import { isSpace, stripSpace, stripSpaceAtEnd } from "./white_space.js";

/**
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./passage_shards.js").Statement} Statement
 * @typedef {import("./statements.js").TextRange} TextRange
 */

/**
 * Choose the [start, end] of the run of lines with most of the weight of some terms.
 * All of the code where it is short enough. Of equal runs the longest and then the first.
 * @param {Recipe} recipe
 * @param {string} code
 * @param {Map<string, number>} weights
 * @param {number} maxLines
 * @param {number} maxCharacters
 * @param {Map<string, string>} [forms] the term of each form of the question's terms
 * @returns {[start: number, end: number]}
 */
export function cutCode(recipe, code, weights, maxLines, maxCharacters, forms = new Map()) {
  const { AFTER_BLANK, AT_MARGIN, BEFORE_BLANK, CODE_LANGUAGE, IMPORT_LINE_SHARE, LINE_BONUS, REPEATED_TERM_SHARE } =
    recipe.excerpts;
  const lines = code.split("\n");
  if (lines.length <= maxLines && countCodePoints(code) <= maxCharacters) return [0, code.length];
  // In code points, as limits are.
  const offsets = [0];
  for (const line of lines) offsets.push(offsets[offsets.length - 1] + countCodePoints(line) + 1);
  const readTerms = (/** @type {string} */ line) => new Set(extractTerms(recipe, line, CODE_LANGUAGE, forms));
  const lineTerms = lines.map((line) => [...readTerms(line)].filter((term) => weights.has(term)));
  const shares = markImports(recipe, lines).map((isImport) => (isImport ? IMPORT_LINE_SHARE : 1));
  let best = -1;
  let range = [0, 0];
  lines.forEach((line, first) => {
    if (!stripSpace(line)) return;
    const followsBlank = first === 0 || !stripSpace(lines[first - 1]);
    const opening = shares[first] * ((followsBlank ? AFTER_BLANK : 0) + (isSpace(line[0]) ? 0 : AT_MARGIN));
    const covered = new Set();
    let weight = 0;
    for (let last = first; last < Math.min(first + maxLines, lines.length); last += 1) {
      if (last > first && offsets[last + 1] - offsets[first] > maxCharacters) break;
      let own = 0;
      let repeated = 0;
      for (const term of lineTerms[last]) {
        const value = /** @type {number} */ (weights.get(term));
        if (covered.has(term)) repeated += value;
        else own += value;
      }
      weight += shares[last] * (own + REPEATED_TERM_SHARE * repeated);
      if (shares[last] === 1) for (const term of lineTerms[last]) covered.add(term);
      if (!stripSpace(lines[last])) continue;
      const isEdge = last + 1 === lines.length || !stripSpace(lines[last + 1]);
      const score = weight + opening + (isEdge ? BEFORE_BLANK : 0) + LINE_BONUS * (last - first);
      if (score > best) {
        best = score;
        range = [first, last];
      }
    }
  });
  const [first, last] = [offsets[range[0]], offsets[range[1] + 1] - 1];
  const start = toUnits(code, first);
  if (last - first <= maxCharacters) return [start, toUnits(code, last)];
  // A line that is longer than that, such as a signature, is cut between words.
  const limit = toUnits(code, first + maxCharacters);
  const space = code.lastIndexOf(" ", limit);
  return [start, space > start && stripSpace(code.slice(start, space)) ? space : limit];
}

/**
 * Extend the end of a cut to the end of its part of the code, if that is near.
 * A part ends at a blank line or at the end. Of a longer one, lines are added up to the last one
 * that closes a bracket, holds a term that no line above has or follows a line that leads into it.
 * @param {Recipe} recipe
 * @param {string} code
 * @param {number} end of the cut
 * @param {Map<string, number>} weights of the terms
 * @param {number} maxLines that may be added
 * @param {number} maxCharacters
 * @param {Map<string, string>} [forms] see `cutCode`
 * @returns {number}
 */
export function completeCode(recipe, code, end, weights, maxLines, maxCharacters, forms = new Map()) {
  const { BLANK_LINE, CLOSING, CODE_LANGUAGE, LEADS_ON } = recipe.excerpts;
  const rest = code.slice(end);
  const part = stripSpaceAtEnd(rest.slice(0, BLANK_LINE.exec(rest)?.index));
  const lines = part.split("\n");
  if (lines.length - 1 <= maxLines && countCodePoints(part) <= maxCharacters) return end + part.length;
  // The line itself is cut.
  if (lines[0]) return end;
  let size = 0;
  let added = end;
  let at = end;
  const readTerms = (/** @type {string} */ text) => extractTerms(recipe, text, CODE_LANGUAGE, forms);
  const above = new Set(readTerms(code.slice(0, end)));
  const isMissing = (/** @type {string} */ term) => weights.has(term) && !above.has(term);
  let before = code.slice(code.lastIndexOf("\n", end - 1) + 1, end);
  for (const line of lines.slice(1, maxLines + 1)) {
    const leadsOn = added === at && matchesStart(LEADS_ON, before);
    size += countCodePoints(line) + 1;
    if (size > maxCharacters) break;
    at += line.length + 1;
    if (leadsOn || matchesStart(CLOSING, line) || readTerms(line).some(isMissing)) added = at;
    before = line;
  }
  return added;
}

/**
 * Mark the lines that import names, up to the bracket that ends a list of them.
 * @param {Recipe} recipe
 * @param {string[]} lines
 * @returns {boolean[]}
 */
function markImports(recipe, lines) {
  const { CLOSING, IMPORT } = recipe.excerpts;
  let isOpen = false;
  return lines.map((line) => {
    const isImport = isOpen || matchesStart(IMPORT, line);
    isOpen = isImport && (isOpen || /[({]$/.test(stripSpaceAtEnd(line))) && !(isOpen && matchesStart(CLOSING, line));
    return isImport;
  });
}

/**
 * Convert an offset in code points to units.
 * @param {string} code
 * @param {number} offset
 * @returns {number}
 */
function toUnits(code, offset) {
  return code.length === countCodePoints(code) ? offset : [...code].slice(0, offset).join("").length;
}

/**
 * @typedef {{words: number, lines: number, visible: number}} ExcerptBudget
 *
 * Ranges of one passage, in order; `text` has dots between them; `statements` are the texts of those in it.
 * @typedef {{ranges: TextRange[], text: string, statements: string[], visible: number}} Excerpt
 */

/**
 * Cut an excerpt from a passage; null where it states nothing.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {number[]} supports how well each statement supports an answer, in [0, 1]
 * @param {Map<string, number>} weights of the question's terms, which choose the lines of code
 * @param {ExcerptBudget} budget
 * @param {Set<string>} excluded texts of statements that are shown already: only labels and column names are repeated
 * @param {Map<string, string>} [forms] the term of each form of the question's terms
 * @returns {Excerpt | null}
 */
export function cutExcerpt(recipe, passage, supports, weights, budget, excluded, forms = new Map()) {
  const selection = new StatementSelection(recipe, passage, supports, weights, budget, excluded, forms);
  selection.run();
  const statements = [...selection.selectedRanges.keys()].map((place) => selection.textOf(passage.statements[place]));
  const selected = [...selection.selectedRanges.values()];
  selected.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const ranges = mergeRanges(passage.text, selected).filter((range) => isQuotable(recipe, passage, range));
  return ranges.length ? joinParts(passage, ranges, statements) : null;
}

/**
 * Test whether a range is whole words, and three of them at least unless it is whole.
 * That is code, column names, or all of its passage.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {TextRange} range
 * @returns {boolean}
 */
export function isQuotable(recipe, passage, range) {
  const { CODE_LIKE, MIN_QUOTE_WORDS } = recipe.grounding;
  const { blocks, spans, text } = passage;
  const [start, end] = stripRange(text, ...range);
  const quote = text.slice(start, end);
  const edges = [text.slice(Math.max(start - 1, 0), start + 1), text.slice(end - 1, end + 1)];
  const folded = foldWords(recipe, quote);
  const words = folded.filter((word) => isVisible(recipe, word));
  if (!words.length || edges.some((edge) => matchesAll(recipe.quotes.WITHIN_WORD, edge))) return false;
  const isPlace = (/** @type {{start: number, end: number}} */ each) => each.start === start && each.end === end;
  return (
    countWords(recipe, words.join(" ")) >= MIN_QUOTE_WORDS ||
    spans.some((span) => span.kind === "code" && isPlace(span)) ||
    blocks.some((block) => block.detail === "header" && isPlace(block)) ||
    words.some((word) => matchesAll(CODE_LIKE, word)) ||
    text.includes(`\`${words.join(" ")}\``) ||
    isLineOfCode(passage, start, end) ||
    folded.join(" ") === foldWords(recipe, text).join(" ")
  );
}

/**
 * Merge ranges that only white space divides.
 * @param {string} text
 * @param {TextRange[]} ranges
 * @returns {TextRange[]}
 */
function mergeRanges(text, ranges) {
  /** @type {TextRange[]} */
  const merged = [];
  for (const [start, end] of ranges) {
    const last = merged[merged.length - 1];
    // A slice that ends before it begins is empty in both languages.
    if (last && !stripSpace(text.slice(last[1], start))) last[1] = end;
    else merged.push([start, end]);
  }
  return merged;
}

/**
 * Join the ranges of a passage into an excerpt, with dots between them.
 * @param {Passage} passage
 * @param {TextRange[]} ranges
 * @param {string[]} statements
 * @returns {Excerpt}
 */
function joinParts(passage, ranges, statements) {
  const parts = ranges.map((range) => passage.text.slice(...range));
  let text = parts[0];
  for (let at = 1; at < parts.length; at += 1) {
    const isInline = !passage.text.slice(ranges[at - 1][1], ranges[at][0]).includes("\n");
    text += (isInline ? " … " : "\n…\n") + parts[at];
  }
  return { ranges, text, statements, visible: countVisibleCharacters(text) };
}

/** Select statements one by one while there is room for them, each with what it needs. */
class StatementSelection {
  /** @type {Map<number, TextRange>} the range of each selected statement, by its place */
  selectedRanges = new Map();
  /** @type {Map<number, number>} the block of the selected tab, by its tab set */
  tabs = new Map();

  /**
   * @param {Recipe} recipe
   * @param {Passage} passage
   * @param {number[]} supports
   * @param {Map<string, number>} weights
   * @param {ExcerptBudget} budget
   * @param {Set<string>} excluded
   * @param {Map<string, string>} forms
   */
  constructor(recipe, passage, supports, weights, budget, excluded, forms) {
    this.recipe = recipe;
    this.constants = recipe.excerpts;
    this.passage = passage;
    this.reading = new PassageStatements(passage.statements);
    this.statements = passage.statements;
    this.weights = weights;
    this.forms = forms;
    this.wordsLeft = budget.words;
    this.linesLeft = budget.lines;
    this.visibleLeft = budget.visible;
    /** @type {Set<number>} the places that are shown already */
    this.excluded = new Set();
    this.statements.forEach((statement, place) => {
      const isRepeated = ["label", "header"].includes(statement.kind);
      if (!isRepeated && excluded.has(this.textOf(statement))) this.excluded.add(place);
    });
    /** @type {Set<number>} the places that may still be selected */
    this.selectable = new Set();
    this.statements.forEach((statement, place) => {
      if (statement.isBare || this.excluded.has(place)) return;
      const leadsNowhere = statement.leadsIn && this.reading.findListAfter(place) === null && !this.findCode(place).length;
      if (!leadsNowhere) this.selectable.add(place);
    });
    this.supports = this.raiseSupports(supports);
  }

  /** Select the best statement, and then others while there is room for them. */
  run() {
    const { MIN_APART_SHARE, MIN_NEIGHBOR_SHARE } = this.constants;
    /** @type {number | null} */
    let best = null;
    while (this.selectable.size && this.wordsLeft > 0) {
      let place = -1;
      let value = -Infinity;
      // Of equal values the first place, and the set is in the order of places.
      for (const each of this.selectable) {
        const own = this.computeValue(each);
        const share = this.isNear(each) ? MIN_NEIGHBOR_SHARE : MIN_APART_SHARE;
        if ((best === null || own >= best * share) && own > value) [place, value] = [each, own];
      }
      if (place < 0) break;
      this.selectable.delete(place);
      if (best !== null && this.statements[place].words > this.wordsLeft) continue;
      if (this.addWithContext(place) && best === null) best = value;
    }
    this.addBridges();
  }

  /** Select a short sentence or item that alone lies between two selected statements. */
  addBridges() {
    this.statements.forEach(({ kind, words, isPointer, leadsIn }, place) => {
      const isBetween = this.selectedRanges.has(place - 1) && this.selectedRanges.has(place + 1);
      const isShort = (kind === "sentence" || kind === "item") && words <= this.constants.MAX_BRIDGE_WORDS;
      if (isBetween && isShort && !isPointer && !leadsIn && !this.isOtherTab(place)) this.add(place);
    });
  }

  /**
   * Raise the support of statements before code, and of the first one.
   * @param {number[]} supports
   * @returns {number[]}
   */
  raiseSupports(supports) {
    const { CODE_BONUS, FIRST_BONUS } = this.constants;
    const raised = [...supports];
    for (const place of this.selectable) {
      const codes = this.findCode(place);
      if (!codes.length) continue;
      const both = (supports[place] + Math.max(...codes.map((code) => supports[code]))) / 2;
      raised[place] = Math.max(supports[place], both) + CODE_BONUS;
    }
    for (const first of this.selectable) {
      raised[first] += FIRST_BONUS;
      break;
    }
    return raised;
  }

  /** @param {number} place */
  computeValue(place) {
    return this.supports[place] + (this.isNear(place) ? this.constants.NEIGHBOR_BONUS : 0);
  }

  /** @param {number} place */
  isNear(place) {
    return this.selectedRanges.has(place - 1) || this.selectedRanges.has(place + 1);
  }

  /**
   * Select a statement with what it needs; false where it leads nowhere or has no room.
   * @param {number} place
   * @returns {boolean}
   */
  addWithContext(place) {
    const { leadsIn, label, group, isDangling } = this.statements[place];
    const listed = this.reading.findListAfter(place);
    const codes = this.findCode(place);
    const isBare = leadsIn && listed === null && !this.hasRoom(codes);
    if (isBare || this.isOtherTab(place) || !this.add(place)) return false;
    this.addLabel(label);
    this.addCode(place, codes);
    if (group || listed !== null) this.addList(listed ?? place);
    if (isDangling) this.addAntecedent(place);
    return true;
  }

  /**
   * Find the places of the code that follows a statement and is not shown already.
   * @param {number} place
   */
  findCode(place) {
    return this.reading.findCodeAfter(place).filter((code) => !this.excluded.has(code));
  }

  /**
   * Test whether code is selected, or there is room to select it.
   * @param {number[]} codes
   */
  hasRoom(codes) {
    const isSelected = codes.some((code) => this.selectedRanges.has(code));
    return isSelected || (codes.length > 0 && this.linesLeft >= this.constants.MIN_CODE_LINES);
  }

  /**
   * Test whether there is room for a statement, or nearly so.
   * @param {number} place
   */
  fitsProse(place) {
    return this.statements[place].words <= this.wordsLeft + this.constants.EXTRA_WORDS;
  }

  /**
   * Test whether a statement is in another tab of a set of which one is selected.
   * @param {number} place
   */
  isOtherTab(place) {
    const { label } = this.statements[place];
    if (label < 0 || this.passage.blocks[label].detail !== "tab") return false;
    return (this.tabs.get(this.passage.blocks[label].group) ?? label) !== label;
  }

  /**
   * Select the label of the tab or the term above a statement.
   * @param {number} block
   */
  addLabel(block) {
    this.statements.forEach((statement, place) => {
      if (statement.kind !== "label" || statement.block !== block) return;
      this.add(place);
      const { detail, group } = this.passage.blocks[block];
      if (detail === "tab") this.tabs.set(group, block);
    });
  }

  /**
   * Select lines of the code that follows a statement, of one tab if there are tabs.
   * @param {number} place
   * @param {number[]} codes
   */
  addCode(place, codes) {
    const { EXTRA_LINES, HEADING_TERM_WEIGHT, LEAD_IN_WEIGHT, MAX_CODE_CHARACTERS, MIN_CODE_LINES } = this.constants;
    const allowed = codes.filter((code) => !this.isOtherTab(code));
    const isSelected = codes.some((code) => this.selectedRanges.has(code));
    if (!allowed.length || isSelected || this.linesLeft < MIN_CODE_LINES) return;
    const rate = (/** @type {number} */ code) => {
      return this.supports[code] + (this.statements[code - 1].kind === "label" ? this.supports[code - 1] : 0);
    };
    const code = allowed.reduce((best, each) => (rate(each) > rate(best) ? each : best));
    const { start, label } = this.statements[code];
    this.addLabel(label);
    const text = this.textOf(this.statements[code]);
    const weights = new Map(this.weights);
    const headings = this.passage.title.split(this.recipe.structure.TITLE_SEPARATOR);
    const leadIn = this.textOf(this.statements[place]);
    for (const [words, weight] of [[leadIn, LEAD_IN_WEIGHT], [headings[headings.length - 1], HEADING_TERM_WEIGHT]]) {
      for (const term of extractTerms(this.recipe, words, this.passage.language, this.forms)) {
        weights.set(term, (weights.get(term) ?? 0) + weight);
      }
    }
    const room = Math.min(MAX_CODE_CHARACTERS, this.visibleLeft);
    const extra = this.linesLeft + EXTRA_LINES;
    const lines = text.split("\n").length <= extra ? extra : this.linesLeft;
    const [first, end] = cutCode(this.recipe, text, weights, lines, room, this.forms);
    const added = room - countCodePoints(text.slice(first, end));
    const last = completeCode(this.recipe, text, end, this.weights, EXTRA_LINES, added, this.forms);
    this.selectedRanges.set(code, [start + first, start + last]);
    const shown = text.slice(first, last);
    this.linesLeft -= shown.split("\n").length;
    this.visibleLeft -= countVisibleCharacters(shown);
  }

  /**
   * Select a list or a table: whole where there is room, else its best items or rows.
   * A table brings its column names, and steps are selected from the first one on.
   * @param {number} place
   */
  addList(place) {
    const { EXTRA_WORDS, MIN_ITEM_SHARE } = this.constants;
    const group = this.reading.findGroup(place);
    const leadIn = this.reading.findLeadIn(place);
    if (leadIn !== null) this.add(leadIn);
    for (const each of group) if (this.statements[each].kind === "header") this.add(each);
    const isListed = (/** @type {number} */ each) => !["code", "header"].includes(this.statements[each].kind);
    let listed = group.filter((each) => isListed(each) && !this.excluded.has(each));
    let needed = 0;
    for (const each of listed) if (!this.selectedRanges.has(each)) needed += this.statements[each].words;
    const hasSteps = group.some((each) => this.statements[each].isNumbered);
    if (needed > this.wordsLeft + EXTRA_WORDS && !hasSteps) {
      listed.sort((one, other) => this.supports[other] - this.supports[one] || one - other);
      const least = MIN_ITEM_SHARE * this.supports[listed[0]];
      listed = listed.filter((each) => this.supports[each] >= least);
    }
    for (const each of listed) {
      if (!this.selectedRanges.has(each) && !(this.fitsProse(each) && this.add(each))) break;
      this.addCode(each, this.findCode(each));
    }
  }

  /**
   * Select the sentences that a dangling one refers to.
   * @param {number} place
   */
  addAntecedent(place) {
    while (this.statements[place].isDangling) {
      let before = place - 1;
      while (before >= 0 && !["sentence", "item"].includes(this.statements[before].kind)) before -= 1;
      if (before < 0 || this.selectedRanges.has(before) || this.statements[before].isPointer) return;
      if (!this.fitsProse(before) || !this.add(before)) return;
      this.addCode(before, this.findCode(before));
      place = before;
    }
  }

  /**
   * Add a statement to the selection; false where it is shown or has no room.
   * @param {number} place
   * @returns {boolean}
   */
  add(place) {
    const statement = this.statements[place];
    const visible = countVisibleCharacters(this.textOf(statement));
    this.selectable.delete(place);
    const isShown = this.selectedRanges.has(place) || this.excluded.has(place);
    if (isShown || visible > this.visibleLeft) return false;
    this.selectedRanges.set(place, [statement.start, statement.end]);
    this.wordsLeft -= statement.words;
    this.visibleLeft -= visible;
    return true;
  }

  /** @param {Statement} statement */
  textOf({ start, end }) {
    return this.passage.text.slice(start, end);
  }
}
