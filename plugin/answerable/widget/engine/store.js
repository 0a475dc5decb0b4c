/** Read the index of a site from its files, and of large files only what a question needs. */

import { readColumns, SiteColumns } from "./core_file.js";
import { NO_POSTINGS, readPostings } from "./postings_shards.js";
import { RULES } from "./rules.js";
import { IndexGoneError } from "./site_files.js";
import { beginningOf, indexForms } from "./word_forms.js";

/** @typedef {import("./container.js").Container} Container */
/** @typedef {import("./postings_shards.js").TermPostings} TermPostings */
/** @typedef {import("./site_files.js").SiteFiles} SiteFiles */
/** @typedef {{codes: Int8Array, inverseNorms: Float32Array}} Vectors one after the other */
/** @typedef {import("./word_forms.js").FormIndex} FormIndex */

/**
 * A passage, as `Passage` has it.
 * @typedef {{row: number, id: string, record: string, url: string, title: string, date: string | null,
 *   language: string, markdown: string}} Passage
 */

/**
 * What site.json says of an index.
 * @typedef {Object} IndexEntry
 * @property {string} manifest
 * @property {string} core
 * @property {string} model the folder of the model's files, such as `model/0123456789abcdef`
 */

/**
 * What a build says of an index.
 * @typedef {Object} Manifest
 * @property {number} wire
 * @property {string} id of the bundle that holds the same
 * @property {string} built_at
 * @property {Record<string, any>} profile
 * @property {number} dimensions
 * @property {{records: number, passages: number, terms: number, words: number, questions: number, answers: number}} counts
 * @property {[name: string, bytes: number, content: number][]} files in order; the kind of each is before its hash
 * @property {Record<string, any[]>} starts of each kind that is split into files, the first row or words of each
 * @property {import("./core_file.js").ColumnTable} columns
 */

const WIRE = 8;

/**
 * Open an index; IndexGoneError where it has been replaced by a newer build.
 * @param {SiteFiles} files
 * @param {IndexEntry} entry
 * @param {AbortSignal} [signal]
 * @returns {Promise<Store>}
 */
export async function openStore(files, entry, signal) {
  const [manifest, core] = await Promise.all([
    files.readContainer(entry.manifest, signal).then(({ values }) => /** @type {Manifest} */ (values)),
    files.readContainer(entry.core, signal),
  ]);
  if (manifest.wire !== WIRE) {
    throw new IndexGoneError(entry.manifest, `its wire version is ${manifest.wire}, and this engine reads ${WIRE}`);
  }
  const store = new Store(files, entry, manifest, core);
  checkCounts(entry.manifest, manifest, { records: store.recordIds.length, passages: store.passageIds.length });
  return store;
}

/**
 * Compare the manifest's counts with the data, before memory is taken for so many; IndexGoneError if they differ.
 * @param {string} url
 * @param {Record<string, any>} manifest
 * @param {Record<string, number>} data counts by the manifest's names
 */
function checkCounts(url, { counts }, data) {
  for (const [name, count] of Object.entries(data)) {
    const counted = counts[name];
    if (counted !== count) throw new IndexGoneError(url, `its manifest counts ${counted} ${name} instead of ${count}`);
  }
}

/** Give a question all that it reads of a site; see `Store` in `store.py`. */
export class Store extends SiteColumns {
  #files;
  /** @type {Record<string, string[]>} */
  #paths;
  /** @type {Map<string, TermPostings>} */
  #postings = new Map();
  /** @type {Map<number, Map<string, FormIndex>>} by shard and language */
  #forms = new Map();
  /** @type {string[]} with what the words of each shard of terms begin, from the first one's on */
  #termStarts;
  /** @type {Map<number, Vectors>} by shard */
  #codes = new Map();
  /** @type {Map<number, Passage>} */
  #passages = new Map();
  /** @type {Record<string, {starts: ArrayLike<number>, numbers: Uint32Array}>} the first row of each shard, and by row its number */
  #rows;

  /**
   * @param {SiteFiles} files
   * @param {IndexEntry} entry
   * @param {Manifest} manifest
   * @param {Container} core
   */
  constructor(files, entry, manifest, core) {
    super(manifest.columns, core);
    this.#files = files;
    this.manifest = manifest;
    const folder = entry.manifest.slice(0, entry.manifest.lastIndexOf("/"));
    this.#paths = {};
    for (const [name] of manifest.files) {
      (this.#paths[name.slice(0, name.lastIndexOf("-"))] ??= []).push(`${folder}/${name}`);
    }
    this.#rows = Object.fromEntries(
      ["codes", "texts"].map((kind) => {
        const starts = manifest.starts[kind];
        const numbers = new Uint32Array(this.passageIds.length);
        for (let number = 0; number < starts.length; number += 1) numbers.fill(number, starts[number]);
        return [kind, { starts, numbers }];
      }),
    );
    this.#termStarts = manifest.starts.terms;
    if (manifest.counts.questions) files.prefetch(this.#paths.questions);
  }

  /** Begin to load what `loadEstimates` reads, while a question is still read. */
  prefetchSigns() {
    if (this.passageIds.length > RULES.vectors.CANDIDATES) this.#files.prefetch(this.#paths.signs);
  }

  /** The paths of all files that the manifest names. */
  get paths() {
    return Object.values(this.#paths).flat();
  }

  /**
   * Look up the language of a passage by its row.
   * @param {number} row
   */
  languageOf(row) {
    return /** @type {import("./core_file.js").LanguageRows} */ (
      this.site.languages.find(({ first, end }) => first <= row && row < end)
    ).tag;
  }

  /**
   * Load the terms that some words may stand for, with their forms and postings.
   * @param {Iterable<string>} words as an index has them
   * @param {AbortSignal} [signal]
   */
  async loadTerms(words, signal) {
    const numbers = Array.from(words, (word) => this.#findTermShard(word));
    const missing = numbers.filter((number) => !this.#forms.has(number));
    for (const [number, shard] of await this.#readShards("terms", missing, signal)) {
      for (const [term, postings] of readPostings(shard)) this.#postings.set(term, postings);
      const { forms, terms } = shard.values;
      const indexes = this.site.tags.map((tag) => /** @type {const} */ ([tag, indexForms(terms, forms[tag] ?? [])]));
      this.#forms.set(number, new Map(indexes));
    }
  }

  /**
   * Find the shard that has all words which begin as a word does.
   * @param {string} word
   */
  #findTermShard(word) {
    const beginning = beginningOf(word);
    let first = 0;
    let end = this.#termStarts.length;
    while (end - first > 1) {
      const middle = (first + end) >> 1;
      if (this.#termStarts[middle] <= beginning) first = middle;
      else end = middle;
    }
    return first;
  }

  /**
   * Return the forms of the words that begin as a word does, which have been loaded.
   * @param {string} word
   * @param {string} language
   * @returns {FormIndex}
   */
  formsNear(word, language) {
    const forms = this.#forms.get(this.#findTermShard(word))?.get(language);
    if (!forms) throw new Error(`the forms near ${word} have not been loaded`);
    return forms;
  }

  /**
   * Return the postings of a term that has been loaded; none for a term that no passage has.
   * @param {string} term
   * @returns {TermPostings}
   */
  postings(term) {
    const postings = this.#postings.get(term);
    if (!postings && !this.#forms.has(this.#findTermShard(term))) {
      throw new Error(`the postings of ${term} have not been loaded`);
    }
    return postings ?? NO_POSTINGS;
  }

  /**
   * Load the terms of the questions that sections are known to answer.
   * @param {AbortSignal} [signal]
   */
  async loadQuestions(signal) {
    const { counts } = this.manifest;
    if (!counts.questions || this.questionTerms.size) return;
    const [path] = this.#paths.questions;
    const columns = readColumns(this.manifest.columns, "questions", await this.#files.readContainer(path, signal));
    checkCounts(path, this.manifest, { questions: columns.questionKeys.length });
    Object.assign(this, columns);
  }

  /**
   * Load the questions that are suggested or have a stored answer, "" for another one.
   * @param {AbortSignal} [signal]
   * @returns {Promise<string[]>} in the order of the index
   */
  async loadSuggestions(signal) {
    const [path] = this.#paths.suggestions;
    const { questions } = (await this.#files.readContainer(path, signal)).values;
    checkCounts(path, this.manifest, { questions: questions.length });
    return questions;
  }

  /**
   * Load a shard of the answers that are stored for questions.
   * @param {number} number
   * @param {AbortSignal} [signal]
   * @returns {Promise<import("./stored_answers.js").StoredClaim[][]>}
   */
  async loadAnswers(number, signal) {
    return (await this.#files.readContainer(this.#paths.answers[number], signal)).values.answers;
  }

  /**
   * Load all words that passages hold as they are written, sorted.
   * @param {AbortSignal} [signal]
   */
  async loadWords(signal) {
    const { words } = (await this.#files.readContainer(this.#paths.words[0], signal)).values;
    checkCounts(this.#paths.words[0], this.manifest, { words: words.length });
    return words;
  }

  /**
   * Estimate the cosine of a question with every passage from the signs of their vectors.
   * @param {Float32Array} unit of length 1
   * @param {AbortSignal} [signal]
   * @returns {Promise<Float32Array>}
   */
  async loadEstimates(unit, signal) {
    const shards = await Promise.all(this.#paths.signs.map((path) => this.#files.readContainer(path, signal)));
    const width = Math.ceil(unit.length / 8);
    const sums = sumSelectedValues(unit, width);
    // Of a Gaussian vector the signs have on average the cosine sqrt(2 / pi) with it.
    const scale = Math.sqrt(Math.PI / 2 / unit.length);
    let total = 0;
    for (const value of unit) total += value;
    const cosines = new Float32Array(this.passageIds.length);
    let row = 0;
    for (const { arrays } of shards) {
      for (let start = 0; start < arrays.signs.length; start += width) {
        let selected = 0;
        let bits = 0;
        for (let place = 0; place < width; place += 1) {
          const byte = arrays.signs[start + place];
          selected += sums[place * 256 + byte];
          bits |= byte;
        }
        // A passage without a word that the model knows is a row of zeros.
        cosines[row] = bits ? (2 * selected - total) * scale : 0;
        row += 1;
      }
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
    const { starts, numbers } = this.#rows.codes;
    const missing = rows.map((row) => numbers[row]).filter((number) => !this.#codes.has(number));
    for (const [number, { arrays }] of await this.#readShards("codes", missing, signal)) {
      this.#codes.set(number, { codes: arrays.codes, inverseNorms: arrays["codes.norms"] });
    }
    return Float32Array.from(rows, (row) => {
      const number = numbers[row];
      const shard = /** @type {Vectors} */ (this.#codes.get(number));
      const place = row - starts[number];
      const start = place * unit.length;
      let dot = 0;
      for (let column = 0; column < unit.length; column += 1) dot += shard.codes[start + column] * unit[column];
      // In float64 until the end, as Python has it.
      return dot * shard.inverseNorms[place];
    });
  }

  /**
   * Begin to load what some passages are likely to be asked for; a failure is told to whoever asks.
   * @param {"codes" | "texts"} kind
   * @param {Iterable<number>} rows
   */
  prefetch(kind, rows) {
    const numbers = new Set(Array.from(rows, (row) => this.#rows[kind].numbers[row]));
    this.#files.prefetch([...numbers].map((number) => this.#paths[kind][number]));
  }

  /**
   * Load some passages by row, with their texts.
   * @param {Iterable<number>} rows
   * @param {AbortSignal} [signal]
   * @returns {Promise<Map<number, Passage>>} in the order of rows
   */
  async loadPassages(rows, signal) {
    const asked = [...new Set(rows)];
    const { starts, numbers } = this.#rows.texts;
    const missing = asked.filter((row) => !this.#passages.has(row)).map((row) => numbers[row]);
    for (const [number, shard] of await this.#readShards("texts", missing, signal)) {
      shard.values.texts.forEach((/** @type {string} */ markdown, /** @type {number} */ place) => {
        const row = starts[number] + place;
        const record = this.passageRecords[row];
        this.#passages.set(row, {
          row,
          id: this.passageIds[row],
          record: this.recordIds[record],
          url: this.passageUrls[row],
          title: this.passageTitles[row],
          date: this.dates[record],
          language: this.languageOf(row),
          markdown,
        });
      });
    }
    return new Map(asked.map((row) => [row, /** @type {Passage} */ (this.#passages.get(row))]));
  }

  /**
   * Read shards of one kind, all at once.
   * @param {string} kind
   * @param {Iterable<number>} numbers
   * @param {AbortSignal} [signal]
   * @returns {Promise<Map<number, Container>>}
   */
  async #readShards(kind, numbers, signal) {
    const names = [...new Set(numbers)];
    const shards = await Promise.all(
      names.map((number) => this.#files.readContainer(this.#paths[kind][number], signal)),
    );
    return new Map(shards.map((shard, place) => [names[place], shard]));
  }
}

/**
 * Sum the values that the bits of a byte select, for each byte of a row and each of its 256 values.
 * @param {Float32Array} unit
 * @param {number} width bytes of a row, whose highest bit comes first
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
