/** The local embedder: pieces of words, their vectors, and the mean of a text. */
import { findTexts } from "./patterns.js";
import { RULES } from "./rules.js";

/**
 * @typedef {import("./site_files.js").SiteFiles} SiteFiles
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

export const ASCII_PIECES = "vocabulary.bin";
const UNICODE_PIECES = "unicode-vocabulary.bin";

/**
 * Open the model in a folder; IndexGoneError where a newer build has replaced it.
 * @param {SiteFiles} files
 * @param {string} folder such as `model/0123456789abcdef`
 * @param {AbortSignal} [signal]
 */
export async function openLocalEmbedder(files, folder, signal) {
  const embedder = new LocalEmbedder(files, folder);
  await embedder.loadVocabulary(ASCII_PIECES, signal);
  return embedder;
}

/** Average a question's token vectors and normalize the mean; see `LocalEmbedder` in `local_embedder.py`. */
class LocalEmbedder {
  #files;
  #folder;
  #pieces = new TokenPieces();
  #space = RULES.local_embedder.SPACE;
  /** @type {Set<string>} */
  #vocabularies = new Set();
  // By the id of a piece; the special pieces and those of bytes are the rows of the first shard.
  #shards = new Uint16Array();
  #rows = new Uint16Array();
  #dimensions = 0;

  /**
   * @param {SiteFiles} files
   * @param {string} folder
   */
  constructor(files, folder) {
    this.#files = files;
    this.#folder = folder;
  }

  /**
   * Load the pieces that a text may need, for `wordRank` of its words.
   * @param {string} text
   * @param {AbortSignal} [signal]
   */
  async loadPieces(text, signal) {
    if (/[^\0-\x7f]/.test(text)) await this.loadVocabulary(UNICODE_PIECES, signal);
  }

  /**
   * Load the pieces of a vocabulary, once, with the place of the vector of each.
   * @param {string} path
   * @param {AbortSignal} [signal]
   */
  async loadVocabulary(path, signal) {
    if (this.#vocabularies.has(path)) return;
    const { values, arrays } = await this.#files.readContainer(`${this.#folder}/${path}`, signal);
    if (this.#vocabularies.has(path)) return;
    if (!this.#rows.length) {
      this.#shards = new Uint16Array(values.pieces);
      this.#rows = Uint16Array.from({ length: values.pieces }, (_, id) => id);
      this.#dimensions = values.dimensions;
    }
    const ids = new Uint16Array(arrays.lowSteps.length);
    let id = 0;
    let shard = 0;
    for (let place = 0; place < ids.length; place += 1) {
      // Modulo 65,536, as the array's numbers are.
      id = (id + arrays.lowSteps[place] + 256 * arrays.highSteps[place]) & 0xffff;
      if (values.starts[shard + 1] === place) shard += 1;
      ids[place] = id;
      this.#shards[id] = values.firstShard + shard;
      this.#rows[id] = place - values.starts[shard];
    }
    const text = new TextDecoder().decode(arrays.text);
    this.#pieces.addPieces(text.replaceAll(" ", this.#space).split("\n"), ids);
    this.#vocabularies.add(path);
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
    const ids = this.#pieces.encode(text);
    const numbers = [...new Set(ids.map((id) => this.#shards[id]))];
    const shards = new Map(
      await Promise.all(
        numbers.map(async (number) => {
          const path = `${this.#folder}/rows-${String(number).padStart(3, "0")}.bin`;
          const { arrays } = await this.#files.readContainer(path, signal);
          return /** @type {const} */ ([number, arrays]);
        }),
      ),
    );
    const sums = new Float64Array(this.#dimensions);
    for (const id of ids) {
      const shard = /** @type {Record<string, any>} */ (shards.get(this.#shards[id]));
      const scale = shard.scales[this.#rows[id]];
      const start = this.#rows[id] * sums.length;
      for (let d = 0; d < sums.length; d += 1) sums[d] += scale * shard.codes[start + d];
    }
    return normalize(sums);
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
