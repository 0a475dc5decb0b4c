/** Embed a question without a server: the mean of its static token vectors (WordLlama), fetched in shards. */

import { SiteFiles } from "./site_files.js";
import { TokenPieces } from "./token_pieces.js";

/** @import { Recipe } from "./recipe.js" */
/** @import { FetchOptions } from "./site_files.js" */

const VOCABULARY_FILE = "vocabulary.bin";
const UNICODE_VOCABULARY_FILE = "unicode-vocabulary.bin";

/**
 * Open the model in a folder, such as `https://example.org/assets/answerable/model/0123456789abcdef/`.
 *
 * IndexGoneError where it has been replaced by a newer build.
 * @param {string} modelUrl
 * @param {Recipe} recipe
 * @param {FetchOptions & {signal?: AbortSignal}} [options]
 * @returns {Promise<LocalEmbedder>}
 */
export async function openLocalEmbedder(modelUrl, recipe, options = {}) {
  const embedder = new LocalEmbedder(new SiteFiles(modelUrl, options), recipe);
  await embedder.loadVocabulary(VOCABULARY_FILE, options.signal);
  return embedder;
}

/** Average a question's token vectors and normalize the mean; see `LocalEmbedder` in `local_embedder.py`. */
class LocalEmbedder {
  #files;
  #pieces;
  #space;
  /** @type {Set<string>} */
  #vocabularies = new Set();
  // By the id of a piece; the special pieces and those of bytes are the rows of the first shard.
  #shards = new Uint16Array();
  #rows = new Uint16Array();
  #dimensions = 0;

  /**
   * @param {SiteFiles} files
   * @param {Recipe} recipe
   */
  constructor(files, recipe) {
    this.#files = files;
    this.#pieces = new TokenPieces(recipe);
    this.#space = recipe.token_pieces.SPACE;
  }

  /**
   * Load the pieces that a text may need, for `wordRank` of its words.
   * @param {string} text
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  async loadPieces(text, signal) {
    if (/[^\0-\x7f]/.test(text)) await this.loadVocabulary(UNICODE_VOCABULARY_FILE, signal);
  }

  /**
   * Load the pieces of a vocabulary, once, with the place of the vector of each.
   * @param {string} path
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  async loadVocabulary(path, signal) {
    if (this.#vocabularies.has(path)) return;
    const { values, arrays } = await this.#files.readContainer(path, signal);
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
   * @returns {number | null}
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
   * @returns {Promise<Float32Array>}
   */
  async embed(text, signal) {
    await this.loadPieces(text, signal);
    const ids = this.#pieces.encode(text);
    const numbers = [...new Set(ids.map((id) => this.#shards[id]))];
    const shards = new Map(
      await Promise.all(
        numbers.map(async (number) => {
          const path = `rows/${String(number).padStart(3, "0")}.bin`;
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
 * @returns {Float32Array}
 */
function normalize(sums) {
  let square = 0;
  for (const value of sums) square += value * value;
  const norm = Math.sqrt(square);
  return Float32Array.from(sums, (value) => (norm > 0 ? value / norm : 0));
}
