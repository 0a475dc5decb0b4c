/** The local embedder: pieces of words, their vectors, and the mean of a text. */
import { findTexts } from "./patterns.js";
import { RULES } from "./rules.js";
import { waitFor } from "./site_files.js";

/**
 * @typedef {import("./site_files.js").Part} Part
 * @typedef {import("./site_files.js").SiteFiles} SiteFiles
 * @typedef {{codes: Int8Array, scales: Float32Array}} Vectors
 */

/** Encode texts as ids of the pieces of a vocabulary. */
export class TokenPieces {
  /** @type {Map<string, number>} */
  #ids = new Map();
  #constants = RULES.local_embedder;

  /**
   * Add pieces with their ids; a text is encoded once all pieces of its characters are there.
   * @param {string[]} pieces
   * @param {Uint16Array} ids
   */
  addPieces(pieces, ids) {
    pieces.forEach((piece, place) => this.#ids.set(piece, ids[place]));
  }

  /**
   * Return the id of a piece; undefined for one that is special, a byte or unknown.
   * @param {string} piece
   */
  findId(piece) {
    return this.#ids.get(piece);
  }

  /**
   * Encode a text; a character that no piece has becomes the bytes of its UTF-8.
   * @param {string} text
   */
  encode(text) {
    const { SPACE, SPECIAL, SPECIAL_PIECES, WORD } = this.#constants;
    /** @type {number[]} */
    const ids = [];
    // A lone surrogate; every other part is a special piece.
    const parts = text.replace(/[\ud800-\udfff]/gu, "?").split(SPECIAL);
    parts.forEach((part, number) => {
      if (number % 2) ids.push(SPECIAL_PIECES.indexOf(part));
      else if (part) {
        const spaced = `${SPACE}${part}`.replaceAll(" ", SPACE);
        for (const word of findTexts(WORD, spaced)) ids.push(...this.#encodeWord(word));
      }
    });
    return ids;
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
    return parts.flatMap((part) => this.#findIds(part));
  }

  /**
   * Rank a pair by the piece that it makes, runs of spaces last, then by its left half.
   * @param {string} left
   * @param {string | undefined} right
   * @returns {number} Infinity for a pair that makes no piece
   */
  #rankPair(left, right) {
    const { SPACE, SPACES_RANK, LEFT_IDS } = this.#constants;
    const merged = right === undefined ? undefined : this.#ids.get(left + right);
    if (right === undefined || merged === undefined) return Infinity;
    const isSpaces = left.startsWith(SPACE) && right.startsWith(SPACE);
    return (merged + (isSpaces ? SPACES_RANK : 0)) * LEFT_IDS + /** @type {number} */ (this.#ids.get(left));
  }

  /** @param {string} part */
  #findIds(part) {
    const id = this.#ids.get(part);
    if (id !== undefined) return [id];
    return [...new TextEncoder().encode(part)].map((byte) => this.#constants.FIRST_BYTE + byte);
  }
}

const MAX_VOCABULARY_BYTES = 2 ** 20;

/**
 * Return the file of the pieces in ASCII, which every question needs.
 * @param {string} folder of the model, such as `model/0123456789abcdef`
 */
export function locateVocabulary(folder) {
  return { path: `${folder}/vocabulary.bin`, start: 0, content: MAX_VOCABULARY_BYTES, isWhole: true };
}

/**
 * Open the model in a folder; IndexGoneError where a newer build has replaced it.
 * @param {SiteFiles} files
 * @param {string} folder such as `model/0123456789abcdef`
 * @param {AbortSignal} [signal]
 */
export async function openLocalEmbedder(files, folder, signal) {
  return new LocalEmbedder(files, folder, await files.read(locateVocabulary(folder), signal));
}

/** Average a question's token vectors and normalize the mean; see `LocalEmbedder` in `local_embedder.py`. */
class LocalEmbedder {
  #files;
  #folder;
  #pieces = new TokenPieces();
  #space = RULES.local_embedder.SPACE;
  /** @type {(Part & {first: number, count: number})[]} with the rows of each; the first lies in the vocabulary */
  #parts = [];
  // By row: its part, and by the id of a piece: its row.
  #partOf;
  #rows;
  /** @type {Map<number, Vectors>} by part */
  #vectors = new Map();
  #dimensions;
  /** @type {Promise<void> | undefined} */
  #others;

  /**
   * @param {SiteFiles} files
   * @param {string} folder
   * @param {import("./container.js").Container} vocabulary
   */
  constructor(files, folder, { arrays }) {
    this.#files = files;
    this.#folder = folder;
    let row = 0;
    let start = 0;
    arrays.rows.forEach((/** @type {number} */ count, /** @type {number} */ number) => {
      if (arrays.packs[number] !== arrays.packs[number - 1]) start = 0;
      const [bytes, pack] = [arrays.bytes[number], String(arrays.packs[number]).padStart(2, "0")];
      this.#parts.push({ path: `${folder}/rows-${pack}.bin`, start, bytes, content: 0, first: row, count });
      row += count;
      start += bytes;
    });
    this.#partOf = new Uint16Array(row);
    this.#parts.forEach(({ first, count }, number) => this.#partOf.fill(number, first, first + count));
    this.#rows = new Uint16Array(row);
    const end = this.#addPieces(arrays, 0);
    // Then come the special pieces and those of bytes.
    for (let id = 0; id < RULES.local_embedder.FIRST_BYTE + 256; id += 1) this.#rows[id] = end + id;
    this.#dimensions = arrays.codes.length / arrays.scales.length;
    this.#vectors.set(0, { scales: arrays.scales, codes: arrays.codes });
  }

  /**
   * Add the pieces of a vocabulary.
   * @param {Record<string, any>} arrays
   * @param {number} first row of them
   */
  #addPieces({ lowSteps, highSteps, text }, first) {
    const ids = new Uint16Array(lowSteps.length);
    let id = 0;
    for (let place = 0; place < ids.length; place += 1) {
      // Modulo 65,536, as the array's numbers are.
      id = (id + lowSteps[place] + 256 * highSteps[place]) & 0xffff;
      ids[place] = id;
      this.#rows[id] = first + place;
    }
    this.#pieces.addPieces(new TextDecoder().decode(text).replaceAll(" ", this.#space).split("\n"), ids);
    return first + ids.length;
  }

  /**
   * Load the pieces that a text may need, for `wordRank` of its words.
   * @param {string} text
   * @param {AbortSignal} [signal]
   */
  async loadPieces(text, signal) {
    if (!/[^\0-\x7f]/.test(text)) return;
    const part = { ...locateVocabulary(this.#folder), path: `${this.#folder}/unicode-vocabulary.bin` };
    this.#others ??= this.#files.read(part).then(({ arrays }) => {
      this.#addPieces(arrays, this.#rows.length - arrays.lowSteps.length);
    });
    this.#others.catch(() => (this.#others = undefined));
    await waitFor(this.#others, signal);
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
    const ids = forms.map((form) => this.#pieces.findId(this.#space + form) ?? Infinity);
    const rank = Math.min(...ids);
    return rank === Infinity ? null : rank;
  }

  /**
   * Embed a text as a unit vector; zeros for a text without tokens.
   * @param {string} text
   * @param {AbortSignal} [signal]
   */
  async embed(text, signal) {
    await this.loadPieces(text, signal);
    const rows = this.#pieces.encode(text).map((id) => this.#rows[id]);
    await Promise.all([...new Set(rows.map((row) => this.#partOf[row]))].map((number) => this.#loadPart(number, signal)));
    const sums = new Float64Array(this.#dimensions);
    for (const row of rows) {
      const number = this.#partOf[row];
      const { scales, codes } = /** @type {Vectors} */ (this.#vectors.get(number));
      const place = row - this.#parts[number].first;
      const start = place * sums.length;
      for (let d = 0; d < sums.length; d += 1) sums[d] += scales[place] * codes[start + d];
    }
    return normalize(sums);
  }

  /**
   * Load the vectors of a part.
   * @param {number} number
   * @param {AbortSignal} [signal]
   */
  async #loadPart(number, signal) {
    if (this.#vectors.has(number)) return;
    const { count, ...part } = this.#parts[number];
    const size = count * Float32Array.BYTES_PER_ELEMENT;
    const parse = (/** @type {ArrayBuffer} */ buffer) => {
      const codes = new Int8Array(buffer, size, count * this.#dimensions);
      return { scales: new Float32Array(buffer, 0, count), codes };
    };
    const vectors = await this.#files.read({ ...part, content: size + count * this.#dimensions }, signal, parse);
    this.#vectors.set(number, vectors);
  }
}

/**
 * Scale a vector to length 1 in float32; zeros stay.
 * @param {Float64Array} sums
 */
function normalize(sums) {
  let square = 0;
  for (const value of sums) square += value * value;
  const norm = Math.sqrt(square);
  return Float32Array.from(sums, (value) => (norm > 0 ? value / norm : 0));
}
