/** Read the index of a site from its files, and of large files only what a question needs. */

import { readCore } from "./core_file.js";
import { invertRowNorms, readTexts } from "./passage_shards.js";
import { hashTerm, NO_POSTINGS, readPostings } from "./postings_shards.js";
import { IndexGoneError, SiteFiles } from "./site_files.js";

/** @typedef {import("./container.js").Container} Container */
/** @typedef {import("./postings_shards.js").TermPostings} TermPostings */
/** @typedef {import("./site_files.js").FetchOptions} FetchOptions */

/**
 * A passage, as `Passage` has it, and the vectors of its statements; offsets are in UTF-16 units.
 * @typedef {import("./passage_shards.js").PassageText & {row: number, id: string, record: string, url: string,
 *   title: string, date: string | null, language: string}} Passage
 */

/**
 * What a build says of an index.
 * @typedef {Object} Manifest
 * @property {number} format
 * @property {string} id of the bundle that holds the same
 * @property {string} built_at
 * @property {string} model the folder of the model's files, such as `model/0123456789abcdef`
 * @property {Record<string, any>} profile
 * @property {number} dimensions
 * @property {{records: number, passages: number, terms: number, words: number}} counts
 * @property {{terms: number, codeStarts: number[], textStarts: number[]}} shards the number of those of terms, and
 *   the first row of each of the others
 */

const FORMAT = 1;

/**
 * Open the index in a folder, such as `https://example.org/assets/answerable/index/0123456789abcdef/`.
 *
 * IndexGoneError where it has been replaced by a newer build.
 * @param {string} indexUrl
 * @param {FetchOptions & {signal?: AbortSignal}} [options]
 * @returns {Promise<Store>}
 */
export async function openStore(indexUrl, options = {}) {
  const files = new SiteFiles(indexUrl, options);
  const { signal } = options;
  const [manifest, core, signs] = await Promise.all([
    files.readJson("manifest.json", signal),
    files.readContainer("core.bin", signal),
    files.readContainer("signs.bin", signal),
  ]);
  if (manifest.format !== FORMAT) {
    throw new IndexGoneError(indexUrl, `its format is ${manifest.format}, and this engine reads ${FORMAT}`);
  }
  const { recordIds, passageIds } = core.values;
  checkCounts(indexUrl, manifest, { records: recordIds.length, passages: passageIds.length });
  return new Store(files, manifest, readCore(core), signs.arrays.signs);
}

/**
 * Compare the manifest's counts with the data, before memory is taken for so many; IndexGoneError if they differ.
 * @param {string} url
 * @param {Manifest} manifest
 * @param {Record<string, number>} data counts by the manifest's names
 */
function checkCounts(url, { counts }, data) {
  for (const [name, count] of Object.entries(data)) {
    const counted = counts[/** @type {keyof typeof counts} */ (name)];
    if (counted !== count) throw new IndexGoneError(url, `its manifest counts ${counted} ${name} instead of ${count}`);
  }
}

/** Give a question all that it reads of a site; see `Store` in `store.py`. */
export class Store {
  #files;
  #signs;
  /** @type {Map<string, TermPostings>} */
  #postings = new Map();
  /** @type {Map<number, {codes: Int8Array, inverseNorms: Float32Array}>} */
  #codes = new Map();
  /** @type {Map<number, Passage>} */
  #passages = new Map();
  // By row, the number of its shard.
  #codeShards;
  #textShards;

  /**
   * @param {SiteFiles} files
   * @param {Manifest} manifest
   * @param {ReturnType<typeof readCore>} columns
   * @param {Uint8Array} signs
   */
  constructor(files, manifest, columns, signs) {
    this.#files = files;
    this.#signs = signs;
    this.#codeShards = numberShards(manifest.shards.codeStarts, manifest.counts.passages);
    this.#textShards = numberShards(manifest.shards.textStarts, manifest.counts.passages);
    this.manifest = manifest;
    this.recipe = columns.recipe;
    this.site = columns.site;
    this.recordIds = columns.recordIds;
    this.weights = columns.weights;
    this.dates = columns.dates;
    this.titleNorms = columns.titleNorms;
    this.isHistory = columns.isHistory;
    this.contextLengths = columns.contextLengths;
    this.names = columns.names;
    this.aliases = columns.aliases;
    this.themes = columns.themes;
    this.titleTerms = columns.titleTerms;
    this.passageRecords = columns.passageRecords;
    this.passageIds = columns.passageIds;
    this.passageUrls = columns.passageUrls;
    this.passageTitles = columns.passageTitles;
    this.passageLengths = columns.passageLengths;
    this.hasCode = columns.hasCode;
  }

  /**
   * Look up the language of a passage by its row.
   * @param {number} row
   * @returns {string}
   */
  languageOf(row) {
    return /** @type {import("./core_file.js").LanguageRows} */ (
      this.site.languages.find(({ first, end }) => first <= row && row < end)
    ).tag;
  }

  /**
   * Load the postings of some terms, for `postings`.
   * @param {Iterable<string>} terms
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  async loadPostings(terms, signal) {
    const missing = [...new Set(terms)].filter((term) => !this.#postings.has(term));
    const shards = new Set(missing.map((term) => hashTerm(term) % this.manifest.shards.terms));
    const read = await this.#readShards("terms", shards, signal);
    const byShard = new Map([...read].map(([number, shard]) => [number, readPostings(shard)]));
    for (const term of missing) {
      const shard = byShard.get(hashTerm(term) % this.manifest.shards.terms);
      this.#postings.set(term, shard?.get(term) ?? NO_POSTINGS);
    }
  }

  /**
   * Return the postings of a term that has been loaded; none for a term that no passage has.
   * @param {string} term
   * @returns {TermPostings}
   */
  postings(term) {
    const postings = this.#postings.get(term);
    if (!postings) throw new Error(`the postings of ${term} have not been loaded`);
    return postings;
  }

  /**
   * Load all words that passages hold as they are written, sorted.
   * @param {AbortSignal} [signal]
   * @returns {Promise<string[]>}
   */
  async loadWords(signal) {
    const { words } = (await this.#files.readContainer("words.bin", signal)).values;
    checkCounts("words.bin", this.manifest, { words: words.length });
    return words;
  }

  /**
   * Estimate the cosine of a question with every passage from the signs of their vectors.
   * @param {Float32Array} unit of length 1
   * @returns {Float32Array}
   */
  estimateCosines(unit) {
    const width = this.#signs.length / this.passageIds.length;
    const sums = sumSelectedValues(unit, width);
    // Of a Gaussian vector the signs have on average the cosine sqrt(2 / pi) with it.
    const scale = Math.sqrt(Math.PI / 2 / unit.length);
    let total = 0;
    for (const value of unit) total += value;
    const cosines = new Float32Array(this.passageIds.length);
    for (let row = 0; row < cosines.length; row += 1) {
      let selected = 0;
      let bits = 0;
      for (let place = 0; place < width; place += 1) {
        const byte = this.#signs[row * width + place];
        selected += sums[place * 256 + byte];
        bits |= byte;
      }
      // A passage without a word that the model knows is a row of zeros.
      cosines[row] = bits ? (2 * selected - total) * scale : 0;
    }
    return cosines;
  }

  /**
   * Load the cosines of a question with some passages, from their 8-bit codes.
   * @param {Float32Array} unit of length 1
   * @param {number[]} rows
   * @param {AbortSignal} [signal]
   * @returns {Promise<Float32Array>} in the order of rows
   */
  async loadCosines(unit, rows, signal) {
    await this.#loadCodes(new Set(rows.map((row) => this.#codeShards[row])), signal);
    return Float32Array.from(rows, (row) => {
      const number = this.#codeShards[row];
      const shard = /** @type {{codes: Int8Array, inverseNorms: Float32Array}} */ (this.#codes.get(number));
      const place = row - this.manifest.shards.codeStarts[number];
      const start = place * unit.length;
      let dot = 0;
      for (let column = 0; column < unit.length; column += 1) dot += shard.codes[start + column] * unit[column];
      // In float64 until the end, as Python has it.
      return dot * shard.inverseNorms[place];
    });
  }

  /**
   * Load some passages by row, with their texts.
   * @param {Iterable<number>} rows
   * @param {AbortSignal} [signal]
   * @returns {Promise<Map<number, Passage>>} in the order of rows
   */
  async loadPassages(rows, signal) {
    const asked = [...new Set(rows)];
    const missing = asked.filter((row) => !this.#passages.has(row)).map((row) => this.#textShards[row]);
    for (const [number, shard] of await this.#readShards("texts", new Set(missing), signal)) {
      readTexts(shard, this.manifest.dimensions).forEach((text, place) => {
        const row = this.manifest.shards.textStarts[number] + place;
        const record = this.passageRecords[row];
        this.#passages.set(row, {
          row,
          id: this.passageIds[row],
          record: this.recordIds[record],
          url: this.passageUrls[row],
          title: this.passageTitles[row],
          date: this.dates[record],
          language: this.languageOf(row),
          ...text,
        });
      });
    }
    return new Map(asked.map((row) => [row, /** @type {Passage} */ (this.#passages.get(row))]));
  }

  /**
   * Load shards of codes.
   * @param {Set<number>} numbers
   * @param {AbortSignal} [signal]
   */
  async #loadCodes(numbers, signal) {
    const missing = new Set([...numbers].filter((number) => !this.#codes.has(number)));
    for (const [number, { arrays }] of await this.#readShards("codes", missing, signal)) {
      const inverseNorms = invertRowNorms(arrays.codes, this.manifest.dimensions);
      this.#codes.set(number, { codes: arrays.codes, inverseNorms });
    }
  }

  /**
   * Read shards of one kind, all at once.
   * @param {string} kind
   * @param {Set<number>} numbers
   * @param {AbortSignal} [signal]
   * @returns {Promise<Map<number, Container>>}
   */
  async #readShards(kind, numbers, signal) {
    const names = [...numbers];
    const shards = await Promise.all(
      names.map((number) => this.#files.readContainer(`${kind}/${String(number).padStart(3, "0")}.bin`, signal)),
    );
    return new Map(shards.map((shard, place) => [names[place], shard]));
  }
}

/**
 * Number the shard of each row.
 * @param {number[]} starts the first row of each
 * @param {number} count of rows
 * @returns {Uint32Array}
 */
function numberShards(starts, count) {
  const numbers = new Uint32Array(count);
  starts.forEach((start, number) => numbers.fill(number, start));
  return numbers;
}

/**
 * Sum the values that the bits of a byte select, for each byte of a row and each of its 256 values.
 * @param {Float32Array} unit
 * @param {number} width bytes of a row, whose highest bit comes first
 * @returns {Float64Array}
 */
function sumSelectedValues(unit, width) {
  const sums = new Float64Array(width * 256);
  for (let place = 0; place < width; place += 1) {
    for (let byte = 1; byte < 256; byte += 1) {
      const lowest = 31 - Math.clz32(byte & -byte);
      sums[place * 256 + byte] = sums[place * 256 + (byte & (byte - 1))] + (unit[place * 8 + 7 - lowest] ?? 0);
    }
  }
  return sums;
}
