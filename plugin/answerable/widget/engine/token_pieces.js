/** Tokenize a text by a byte-pair vocabulary (Llama-2's): two pieces merge wherever they make a third. */

import { findAll } from "./patterns.js";

/** @import { Recipe } from "./recipe.js" */

/** Encode texts as ids of the pieces of a vocabulary. */
export class TokenPieces {
  /** @type {Map<string, number>} */
  #ids = new Map();
  #constants;

  /** @param {Recipe} recipe */
  constructor(recipe) {
    this.#constants = recipe.token_pieces;
  }

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
   * @returns {number | undefined}
   */
  findId(piece) {
    return this.#ids.get(piece);
  }

  /**
   * Encode a text; a character that no piece has becomes the bytes of its UTF-8.
   * @param {string} text
   * @returns {number[]}
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
        for (const [word] of findAll(WORD, spaced)) ids.push(...this.#encodeWord(word));
      }
    });
    return ids;
  }

  /**
   * Merge the pair of pieces that ranks first, and the first of equals, until none is left.
   * @param {string} word
   * @returns {number[]}
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

  /**
   * @param {string} part
   * @returns {number[]}
   */
  #findIds(part) {
    const id = this.#ids.get(part);
    if (id !== undefined) return [id];
    return [...new TextEncoder().encode(part)].map((byte) => this.#constants.FIRST_BYTE + byte);
  }
}
