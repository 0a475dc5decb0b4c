/** Read shards of passages: their texts, their vectors and those of their statements. */

/** @typedef {import("./container.js").Container} Container */
/** @typedef {{kind: string, start: number, end: number, group: number, level: number, detail: string}} Block */
/** @typedef {{kind: string, start: number, end: number, url: string}} Span */
/** @typedef {import("./recipe.js").Recipe} Recipe */

/**
 * A unit that is quoted whole or not at all: `text.slice(start, end)` of a passage; see the Python class.
 * @typedef {Object} Statement
 * @property {string} kind
 * @property {number} start
 * @property {number} end
 * @property {number} block
 * @property {number} words
 * @property {number} label
 * @property {number} group
 * @property {number} prefix
 * @property {number} head
 * @property {number} tail
 * @property {boolean} isPointer
 * @property {boolean} isDangling
 * @property {boolean} leadsIn
 * @property {boolean} isNumbered
 * @property {boolean} isBare
 * @property {boolean} isUnlinked
 * @property {boolean} isEndless
 */

/**
 * The text of a passage; offsets are in UTF-16 units.
 * @typedef {Object} PassageText
 * @property {string} text
 * @property {[number, number][]} sentences
 * @property {Block[]} blocks
 * @property {Span[]} spans
 * @property {Statement[]} statements
 */

/**
 * Vectors, one after the other.
 * @typedef {{codes: Int8Array, inverseNorms: Float32Array}} Vectors
 */

/**
 * Restore the sentences of a text, of which gaps and lengths are packed.
 * @param {number[]} numbers
 * @returns {[number, number][]}
 */
function restoreSentences(numbers) {
  /** @type {[number, number][]} */
  const sentences = [];
  let end = 0;
  for (let place = 0; place < numbers.length; place += 2) {
    const start = end + numbers[place];
    end = start + numbers[place + 1];
    sentences.push([start, end]);
  }
  return sentences;
}

/**
 * Restore blocks and the like: the kind, the start after the last one's start, the length and more.
 * @template T
 * @param {any[][]} rows
 * @param {(kind: string, start: number, end: number, values: any[]) => T} make
 * @returns {T[]}
 */
function restoreRanges(rows, make) {
  let last = 0;
  return rows.map(([kind, gap, length, ...values]) => {
    last += gap;
    return make(kind, last, last + length, values);
  });
}

/**
 * Compute 1 / length of rows of codes, 0 for a row of zeros.
 * @param {Int8Array} codes
 * @param {number} dimensions
 * @returns {Float32Array}
 */
export function invertRowNorms(codes, dimensions) {
  const inverses = new Float32Array(codes.length / dimensions);
  for (let row = 0; row < inverses.length; row += 1) {
    let squares = 0;
    for (let place = row * dimensions; place < (row + 1) * dimensions; place += 1) squares += codes[place] ** 2;
    // In the precision of Python's columns at each step.
    inverses[row] = squares ? 1 / Math.fround(Math.sqrt(squares)) : 0;
  }
  return inverses;
}

/**
 * Restore a statement of its values in a shard.
 * @param {Recipe} recipe
 * @param {string} kind
 * @param {number} start
 * @param {number} end
 * @param {number[]} values
 * @returns {Statement}
 */
function restoreStatement({ structure }, kind, start, end, values) {
  const [block, words, flags = 0, label = -1, group = 0, prefix = 0, head = 0, tail = 0] = values;
  const has = (/** @type {number} */ flag) => (flags & flag) > 0;
  return {
    kind,
    start,
    end,
    block,
    words,
    label,
    group,
    prefix,
    head,
    tail,
    isPointer: has(structure.POINTER),
    isDangling: has(structure.DANGLING),
    leadsIn: has(structure.LEADS_IN),
    isNumbered: has(structure.NUMBERED),
    isBare: has(structure.BARE),
    isUnlinked: has(structure.UNLINKED),
    isEndless: has(structure.ENDLESS),
  };
}

/**
 * Read the texts of a shard.
 * @param {Recipe} recipe
 * @param {Container} shard
 * @returns {PassageText[]}
 */
export function readTexts(recipe, { values }) {
  return values.passages.map((/** @type {any[]} */ [text, sentences, blocks, spans, statements]) => ({
    text,
    sentences: restoreSentences(sentences),
    blocks: restoreRanges(blocks, (kind, first, last, [group = 0, level = 0, detail = ""]) => ({
      kind,
      start: first,
      end: last,
      group,
      level,
      detail,
    })),
    spans: restoreRanges(spans, (kind, first, last, [url = ""]) => ({ kind, start: first, end: last, url })),
    statements: restoreRanges(statements, (...row) => restoreStatement(recipe, ...row)),
  }));
}

/**
 * Read the vectors of the statements of each passage of a shard.
 * @param {Container} shard
 * @param {number} dimensions
 * @returns {Vectors[]}
 */
export function readStatements({ arrays }, dimensions) {
  let end = 0;
  return Array.from(arrays.counts, (count) => {
    const start = end;
    end += count * dimensions;
    const codes = arrays.codes.subarray(start, end);
    return { codes, inverseNorms: invertRowNorms(codes, dimensions) };
  });
}
