/** The local embedder: pieces of words, their vectors, and the mean of a text; see `local_embedder.py`. */

import { parseContainer } from "./container.js";
import { RULES } from "./rules.js";

/** @import { Part, SiteFiles } from "./site_files.js" */

/** @typedef {Part & {first: number, count: number}} VectorPart the vectors of some rows */

const { FIRST_BYTE, LEFT_IDS, SPACE, SPACES_RANK, SPECIAL, SPECIAL_PIECES, WORD } = RULES.local_embedder;
const MAX_VOCABULARY_BYTES = 2 ** 20;

/**
 * Open the model in a folder; IndexGoneError where a newer build has replaced it.
 * @param {SiteFiles} files
 * @param {string} folder such as `model/0123456789abcdef`
 */
export async function openLocalEmbedder(files, folder) {
  // The pieces in ASCII, which every question needs.
  const part = { path: `${folder}/vocabulary.bin`, start: 0, content: MAX_VOCABULARY_BYTES, isWhole: true };
  return new LocalEmbedder(files, folder, (await files.read(part, parseContainer)).arrays);
}

/** Average a question's token vectors and normalize the mean. */
class LocalEmbedder {
  #files;
  #folder;
  /** @type {Map<string, number>} by piece, but for those that are special or a byte */
  #ids = new Map();
  /** @type {VectorPart[]} the first lies in the vocabulary */
  #parts = [];
  // Of the vectors of pieces, by the ids of these.
  #rows;
  /** @type {{scales: Float32Array, codes: Int8Array}} */
  #first;
  #dimensions;

  /**
   * @param {SiteFiles} files
   * @param {string} folder
   * @param {Record<string, any>} vocabulary
   */
  constructor(files, folder, vocabulary) {
    this.#files = files;
    this.#folder = folder;
    const { bytes, codes, packs, rows, scales } = vocabulary;
    this.#first = { codes, scales };
    this.#dimensions = codes.length / scales.length;
    let row = 0;
    let start = 0;
    rows.forEach((/** @type {number} */ count, /** @type {number} */ number) => {
      if (packs[number] !== packs[number - 1]) start = 0;
      const path = `${folder}/rows-${String(packs[number]).padStart(2, "0")}.bin`;
      const content = count * (Float32Array.BYTES_PER_ELEMENT + this.#dimensions);
      this.#parts.push({ path, start, bytes: bytes[number], content, first: row, count });
      row += count;
      start += bytes[number];
    });
    this.#rows = new Uint16Array(row);
    const end = this.#addPieces(vocabulary, 0);
    // Then come the special pieces and those of bytes.
    for (let id = 0; id < FIRST_BYTE + 256; id += 1) this.#rows[id] = end + id;
  }

  /**
   * Add the pieces of a vocabulary.
   * @param {Record<string, any>} arrays
   * @param {number} first row of them
   */
  #addPieces({ lowSteps, highSteps, text }, first) {
    let id = 0;
    const pieces = new TextDecoder().decode(text).replaceAll(" ", SPACE).split("\n");
    pieces.forEach((piece, place) => {
      // Ids are stored as numbers of 16 bits.
      id = (id + lowSteps[place] + 256 * highSteps[place]) & 0xffff;
      this.#ids.set(piece, id);
      this.#rows[id] = first + place;
    });
    return first + pieces.length;
  }

  /**
   * Load the pieces that a text may need, for `wordRank` of its words.
   * @param {string} text
   */
  async loadPieces(text) {
    if (!/[^\0-\x7f]/.test(text)) return;
    const part = { path: `${this.#folder}/unicode-vocabulary.bin`, start: 0, content: MAX_VOCABULARY_BYTES, isWhole: true };
    await this.#files.read(part, (content) => {
      const { arrays } = parseContainer(content);
      return this.#addPieces(arrays, this.#rows.length - arrays.lowSteps.length);
    });
  }

  /**
   * Rank a lower-case word among the tokenizer's pieces of ordinary language; null if none.
   * @param {string} word whose pieces have been loaded
   */
  wordRank(word) {
    const [first = "", ...others] = word;
    // Of "ß" it makes "Ss".
    const [head = "", ...tail] = first.toUpperCase();
    const forms = [word, head + tail.join("").toLowerCase() + others.join("")];
    const ids = forms.map((form) => this.#ids.get(SPACE + form) ?? Infinity);
    const rank = Math.min(...ids);
    return rank === Infinity ? null : rank;
  }

  /**
   * Encode a text; a character that no piece has becomes the bytes of its UTF-8.
   * @param {string} text
   */
  #encode(text) {
    // A lone surrogate; every other part is a special piece.
    const parts = text.replace(/[\ud800-\udfff]/gu, "?").split(SPECIAL);
    return parts.flatMap((part, number) => {
      if (number % 2) return [SPECIAL_PIECES.indexOf(part)];
      const spaced = part && `${SPACE}${part}`.replaceAll(" ", SPACE);
      return (spaced.match(WORD) ?? []).flatMap((word) => this.#encodeWord(word));
    });
  }

  /**
   * Merge the pair of pieces that ranks first, and the first of equals, until none is left.
   * @param {string} word
   */
  #encodeWord(word) {
    // Merging ends with the whole word wherever it is a piece.
    const whole = this.#ids.get(word);
    if (whole !== undefined) return [whole];
    const parts = [...word];
    const ranks = parts.map((part, place) => this.#rankPair(part, parts[place + 1]));
    for (;;) {
      // The last part begins no pair, so that its rank is infinite.
      const best = ranks.reduce((first, rank, place) => (rank < ranks[first] ? place : first), 0);
      if (ranks[best] === Infinity) break;
      parts.splice(best, 2, parts[best] + parts[best + 1]);
      ranks.splice(best, 1);
      ranks[best] = this.#rankPair(parts[best], parts[best + 1]);
      if (best > 0) ranks[best - 1] = this.#rankPair(parts[best - 1], parts[best]);
    }
    return parts.flatMap((part) => {
      const id = this.#ids.get(part);
      return id === undefined ? Array.from(new TextEncoder().encode(part), (byte) => FIRST_BYTE + byte) : [id];
    });
  }

  /**
   * Rank a pair by the piece that it makes, runs of spaces last, then by its left half.
   * @param {string} left
   * @param {string | undefined} right
   * @returns {number} Infinity for a pair that makes no piece
   */
  #rankPair(left, right) {
    const merged = right === undefined ? undefined : this.#ids.get(left + right);
    if (right === undefined || merged === undefined) return Infinity;
    const isSpaces = left.startsWith(SPACE) && right.startsWith(SPACE);
    return (merged + (isSpaces ? SPACES_RANK : 0)) * LEFT_IDS + /** @type {number} */ (this.#ids.get(left));
  }

  /**
   * Embed a text as a unit vector; zeros for a text without tokens.
   * @param {string} text
   */
  async embed(text) {
    await this.loadPieces(text);
    const vectors = await Promise.all(this.#encode(text).map((id) => this.#loadVector(this.#rows[id])));
    const sums = new Float64Array(this.#dimensions);
    for (const { scale, codes } of vectors) codes.forEach((code, column) => (sums[column] += scale * code));
    const norm = Math.sqrt(sums.reduce((square, value) => square + value * value, 0));
    // In float32, as Python has it.
    return Float32Array.from(sums, (value) => (norm > 0 ? value / norm : 0));
  }

  /**
   * Load the vector of a row.
   * @param {number} row
   */
  async #loadVector(row) {
    const part = /** @type {VectorPart} */ (this.#parts.findLast(({ first }) => first <= row));
    const parse = (/** @type {ArrayBuffer} */ content) => {
      const scales = new Float32Array(content, 0, part.count);
      return { scales, codes: new Int8Array(content, scales.byteLength, part.count * this.#dimensions) };
    };
    const { scales, codes } = part.first ? await this.#files.read(part, parse) : this.#first;
    const place = row - part.first;
    return { scale: scales[place], codes: codes.subarray(place * this.#dimensions, (place + 1) * this.#dimensions) };
  }
}
