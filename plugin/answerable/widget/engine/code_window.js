/** Choose the run of lines of a code block in which given terms weigh most; return its offsets. */

import { countCodePoints } from "./code_points.js";
import { matchAt } from "./patterns.js";
import { extractTerms } from "./tokenization.js";
import { isSpace, stripSpace, stripSpaceAtEnd } from "./white_space.js";

/** @typedef {import("./recipe.js").Recipe} Recipe */

/**
 * Choose the [start, end] of the run of lines with most of the weight of some terms.
 * All of the code where it is short enough. Of equal runs the longest and then the first.
 * @param {Recipe} recipe
 * @param {string} code
 * @param {Map<string, number>} weights
 * @param {number} maxLines
 * @param {number} maxCharacters
 * @returns {[start: number, end: number]}
 */
export function cutCode(recipe, code, weights, maxLines, maxCharacters) {
  const { AFTER_BLANK, AT_MARGIN, BEFORE_BLANK, IMPORT_LINE_SHARE, LINE_BONUS, REPEATED_TERM_SHARE } = recipe.code_window;
  const lines = code.split("\n");
  if (lines.length <= maxLines && countCodePoints(code) <= maxCharacters) return [0, code.length];
  // In code points, as limits are.
  const offsets = [0];
  for (const line of lines) offsets.push(offsets[offsets.length - 1] + countCodePoints(line) + 1);
  const lineTerms = lines.map((line) => [...new Set(extractTerms(recipe, line))].filter((term) => weights.has(term)));
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
  const start = offsets[range[0]];
  return [toUnits(code, start), toUnits(code, Math.min(offsets[range[1] + 1] - 1, start + maxCharacters))];
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
 * @returns {number}
 */
export function completeCode(recipe, code, end, weights, maxLines, maxCharacters) {
  const { BLANK_LINE, CLOSING, LEADS_ON } = recipe.code_window;
  const rest = code.slice(end);
  const part = stripSpaceAtEnd(rest.slice(0, BLANK_LINE.exec(rest)?.index));
  const lines = part.split("\n");
  if (lines.length - 1 <= maxLines && countCodePoints(part) <= maxCharacters) return end + part.length;
  let size = 0;
  let added = end;
  let at = end;
  const above = new Set(extractTerms(recipe, code.slice(0, end)));
  const isMissing = (/** @type {string} */ term) => weights.has(term) && !above.has(term);
  let before = code.slice(code.lastIndexOf("\n", end - 1) + 1, end);
  for (const line of lines.slice(1, maxLines + 1)) {
    const leadsOn = added === at && matchAt(LEADS_ON, before);
    size += countCodePoints(line) + 1;
    if (size > maxCharacters) break;
    at += line.length + 1;
    if (leadsOn || matchAt(CLOSING, line) || extractTerms(recipe, line).some(isMissing)) added = at;
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
  const { CLOSING, IMPORT } = recipe.code_window;
  let isOpen = false;
  return lines.map((line) => {
    const isImport = isOpen || matchAt(IMPORT, line) !== null;
    isOpen = isImport && (isOpen || /[({]$/.test(stripSpaceAtEnd(line))) && !(isOpen && matchAt(CLOSING, line));
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
