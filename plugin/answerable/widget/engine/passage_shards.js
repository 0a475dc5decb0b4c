/** Read shards of passages: their texts and their vectors. */

/** @typedef {import("./container.js").Container} Container */
/** @typedef {{kind: string, start: number, end: number, group: number, level: number, detail: string}} Block */
/** @typedef {{kind: string, start: number, end: number, url: string}} Span */

/**
 * The text of a passage; offsets are in UTF-16 units.
 * @typedef {Object} PassageText
 * @property {string} text
 * @property {[number, number][]} sentences
 * @property {Block[]} blocks
 * @property {Span[]} spans
 */

/**
 * Vectors, one after the other.
 * @typedef {{codes: Int8Array, inverseNorms: Float32Array}} Vectors
 */

/**
 * Restore the sentences of a text, of which gaps and lengths are packed.
 * @param {number[]} numbers
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
 */
function restoreRanges(rows, make) {
  let last = 0;
  return rows.map(([kind, gap, length, ...values]) => {
    last += gap;
    return make(kind, last, last + length, values);
  });
}

/**
 * Read the texts of a shard.
 * @param {Container} shard
 * @returns {PassageText[]}
 */
export function readTexts({ values }) {
  return values.texts.map((/** @type {any[]} */ [text, sentences, blocks, spans]) => ({
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
  }));
}
