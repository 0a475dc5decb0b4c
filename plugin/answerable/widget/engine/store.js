/** Read the index of a site from its files, and of large files only what a question needs. */

import { readColumns, readRising, SiteColumns } from "./core_file.js";
import { parseContainer } from "./container.js";
import { IndexGoneError } from "./site_files.js";
import { beginningOf, indexForms } from "./word_forms.js";

/** @import { Container } from "./container.js" */
/** @import { ColumnTable } from "./core_file.js" */
/** @import { Part, SiteFiles } from "./site_files.js" */
/** @import { FormIndex } from "./word_forms.js" */

/** @typedef {{passages: Uint32Array, counts: Uint32Array}} TermPostings the passages that hold a term, rising, and how often */

/**
 * A passage, as `Passage` has it, and its Markdown once that has been read.
 * @typedef {{id: string, url: string, title: string, date: string | null, language: string, markdown: string,
 *   read?: import("./markdown.js").MarkdownText}} Passage
 */

/**
 * What site.json says of an index.
 * @typedef {Object} IndexEntry
 * @property {string} manifest the file of the manifest, and behind it what every question needs
 * @property {[bytes: number, content: number]} size of the manifest, compressed and not
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
 * @property {[name: string, parts: [kind: string, bytes: number, content: number][]][]} packs files with parts, in order
 * @property {number} rows_per_part passages or answers
 * @property {string[]} term_starts with what the words of each part of terms begin, from the first one's on
 * @property {ColumnTable} columns
 */

const WIRE = 9;

/** @type {TermPostings} */
const NO_POSTINGS = { passages: new Uint32Array(), counts: new Uint32Array() };

/**
 * Open an index; IndexGoneError where it has been replaced by a newer build.
 * @param {SiteFiles} files
 * @param {IndexEntry} entry
 * @returns {Promise<Store>}
 */
export async function openStore(files, entry) {
  const [bytes, content] = entry.size;
  const first = { path: entry.manifest, start: 0, bytes, content, isWhole: true };
  const manifest = /** @type {Manifest} */ ((await files.read(first, parseContainer)).values);
  if (manifest.wire !== WIRE) {
    throw new IndexGoneError(entry.manifest, `its wire version is ${manifest.wire}, and this engine reads ${WIRE}`);
  }
  const parts = listParts(entry, manifest);
  const read = (/** @type {string} */ kind) => files.read(parts[kind][0], parseContainer);
  const [core, questions, signs] = await Promise.all(["core", "questions", "signs"].map(read));
  const store = new Store(files, manifest, parts, { core, questions, signs });
  const counts = { records: store.recordIds, passages: store.passageIds, questions: store.questionKeys };
  for (const [name, rows] of Object.entries(counts)) checkCount(entry.manifest, manifest, name, rows);
  return store;
}

/**
 * List the parts of an index by kind. Those of its core lie behind the manifest.
 * @param {IndexEntry} entry
 * @param {Manifest} manifest
 */
function listParts({ manifest: first, size }, { packs }) {
  const folder = first.slice(0, first.lastIndexOf("/"));
  /** @type {Record<string, Part[]>} */
  const parts = {};
  for (const [name, listed] of packs) {
    const isCore = name.startsWith("core-");
    const path = isCore ? first : `${folder}/${name}`;
    let start = isCore ? size[0] : 0;
    for (const [kind, bytes, content] of listed) {
      (parts[kind] ??= []).push({ path, start, bytes, content });
      start += bytes;
    }
  }
  return parts;
}

/**
 * Compare a count of the manifest with the data, before memory is taken for so many; IndexGoneError if they differ.
 * @param {string} path
 * @param {Manifest} manifest
 * @param {string} name
 * @param {ArrayLike<any>} rows
 */
function checkCount(path, { counts }, name, { length }) {
  const counted = /** @type {Record<string, number>} */ (counts)[name];
  if (counted !== length) throw new IndexGoneError(path, `its manifest counts ${counted} ${name} instead of ${length}`);
}

/** Give a question all that it reads of a site; see `Store` in `store.py`. */
export class Store extends SiteColumns {
  #files;
  #parts;
  /** @type {Uint8Array} */
  #signs;
  /** @type {Map<string, TermPostings>} */
  #postings = new Map();
  /** @type {Map<number, Map<string, FormIndex>>} by part and language */
  #forms = new Map();
  /** @type {Map<number, Passage>} */
  #passages = new Map();

  /**
   * @param {SiteFiles} files
   * @param {Manifest} manifest
   * @param {Record<string, Part[]>} parts by kind
   * @param {Record<"core" | "questions" | "signs", Container>} containers
   */
  constructor(files, manifest, parts, { core, questions, signs }) {
    super(manifest.columns, core);
    Object.assign(this, readColumns(manifest.columns, "questions", questions));
    this.#files = files;
    this.#parts = parts;
    this.#signs = signs.arrays.signs;
    this.manifest = manifest;
  }

  /** The paths of all files that the manifest names. */
  get paths() {
    return Object.values(this.#parts).flatMap((parts) => parts.map(({ path }) => path));
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
   * Load parts of a kind, all at once; what they hold is added to this store as soon as they are there.
   * @param {"codes" | "terms" | "texts"} kind
   * @param {Iterable<number>} numbers
   */
  async #loadParts(kind, numbers) {
    const load = async (/** @type {number} */ number) => {
      const parse = (/** @type {ArrayBuffer} */ content) => {
        const part = parseContainer(content);
        if (kind === "terms") this.#addTerms(number, part);
        if (kind === "texts") this.#addTexts(number, part);
        return part.arrays;
      };
      return /** @type {const} */ ([number, await this.#files.read(this.#parts[kind][number], parse)]);
    };
    return new Map(await Promise.all([...new Set(numbers)].map(load)));
  }

  /**
   * List the numbers of the parts that some passages lie in.
   * @param {Iterable<number>} rows
   */
  #listNumbers(rows) {
    return Array.from(rows, (row) => Math.floor(row / this.manifest.rows_per_part));
  }

  /**
   * Begin to load what some passages are likely to be asked for; a failure is told to whoever asks.
   * @param {"codes" | "texts"} kind
   * @param {Iterable<number>} rows
   */
  prefetch(kind, rows) {
    this.#loadParts(kind, this.#listNumbers(rows)).catch(() => {});
  }

  /**
   * Load the terms that some words may stand for, with their forms and postings.
   * @param {Iterable<string>} words as an index has them
   */
  async loadTerms(words) {
    await this.#loadParts("terms", Array.from(words, (word) => this.#findTermPart(word)));
  }

  /**
   * @param {number} number
   * @param {Container} part
   */
  #addTerms(number, { values: { forms, terms }, arrays }) {
    let start = 0;
    terms.forEach((/** @type {string} */ term, /** @type {number} */ row) => {
      const end = start + arrays["postings.sizes"][row];
      const passages = readRising(arrays["postings.gaps"].subarray(start, end));
      this.#postings.set(term, { passages, counts: arrays["postings.counts"].subarray(start, end) });
      start = end;
    });
    this.#forms.set(number, new Map(this.site.tags.map((tag) => [tag, indexForms(terms, forms[tag] ?? [])])));
  }

  /**
   * Find the part that has all words which begin as a word does.
   * @param {string} word
   */
  #findTermPart(word) {
    const beginning = beginningOf(word);
    return this.manifest.term_starts.findLastIndex((start) => start <= beginning);
  }

  /**
   * Return the forms of the words that begin as a word does, which have been loaded.
   * @param {string} word
   * @param {string} language
   * @returns {FormIndex}
   */
  formsNear(word, language) {
    const forms = this.#forms.get(this.#findTermPart(word))?.get(language);
    if (!forms) throw new Error(`the forms near ${word} have not been loaded`);
    return forms;
  }

  /**
   * Return the postings of a term that has been loaded; none for a term that no passage has.
   * @param {string} term
   */
  postings(term) {
    const postings = this.#postings.get(term);
    if (!postings && !this.#forms.has(this.#findTermPart(term))) {
      throw new Error(`the postings of ${term} have not been loaded`);
    }
    return postings ?? NO_POSTINGS;
  }

  /** Load all words that passages hold as they are written, sorted. */
  loadWords() {
    return this.#loadTexts("words", "words");
  }

  /** Load the questions that are suggested or have a stored answer, "" for another one, in the order of the index. */
  loadSuggestions() {
    return this.#loadTexts("suggestions", "questions");
  }

  /**
   * @param {string} kind of a part that is a list of texts
   * @param {string} name of the list
   * @returns {Promise<string[]>}
   */
  async #loadTexts(kind, name) {
    const [part] = this.#parts[kind];
    const { [name]: texts } = (await this.#files.read(part, parseContainer)).values;
    checkCount(part.path, this.manifest, name, texts);
    return texts;
  }

  /**
   * Load one of the answers that are stored for questions.
   * @param {number} row
   * @returns {Promise<import("./stored_answers.js").StoredClaim[]>}
   */
  async loadAnswer(row) {
    const { rows_per_part: count } = this.manifest;
    const { values } = await this.#files.read(this.#parts.answers[Math.floor(row / count)], parseContainer);
    return values.answers[row % count];
  }

  /**
   * Estimate the cosine of a question with every passage from the signs of their vectors.
   * @param {Float32Array} unit of length 1
   */
  estimateCosines(unit) {
    const width = Math.ceil(unit.length / 8);
    const sums = sumSelectedValues(unit, width);
    // Of a Gaussian vector the signs have on average the cosine sqrt(2 / pi) with it.
    const scale = Math.sqrt(Math.PI / 2 / unit.length);
    let total = 0;
    for (const value of unit) total += value;
    return Float32Array.from(this.passageIds, (_, row) => {
      let selected = 0;
      let bits = 0;
      for (let place = 0; place < width; place += 1) {
        const byte = this.#signs[row * width + place];
        selected += sums[place * 256 + byte];
        bits |= byte;
      }
      // A passage without a word that the model knows is a row of zeros.
      return bits ? (2 * selected - total) * scale : 0;
    });
  }

  /**
   * Load the cosines of a question with some passages, from their 8-bit codes.
   * @param {Float32Array} unit of length 1
   * @param {number[]} rows
   * @returns {Promise<Float32Array>} in the order of rows
   */
  async loadCosines(unit, rows) {
    const { rows_per_part: count } = this.manifest;
    const parts = await this.#loadParts("codes", this.#listNumbers(rows));
    return Float32Array.from(rows, (row) => {
      const arrays = /** @type {Container["arrays"]} */ (parts.get(Math.floor(row / count)));
      const start = (row % count) * unit.length;
      let dot = 0;
      for (let column = 0; column < unit.length; column += 1) dot += arrays.codes[start + column] * unit[column];
      // In float64 until the end, as Python has it.
      return dot * arrays["codes.norms"][row % count];
    });
  }

  /**
   * Load some passages by row, with their texts.
   * @param {Iterable<number>} rows
   * @returns {Promise<Map<number, Passage>>} in the order of rows
   */
  async loadPassages(rows) {
    const asked = [...new Set(rows)];
    await this.#loadParts("texts", this.#listNumbers(asked));
    return new Map(asked.map((row) => [row, /** @type {Passage} */ (this.#passages.get(row))]));
  }

  /**
   * @param {number} number
   * @param {Container} part
   */
  #addTexts(number, { values }) {
    values.texts.forEach((/** @type {string} */ markdown, /** @type {number} */ place) => {
      const row = number * this.manifest.rows_per_part + place;
      const record = this.passageRecords[row];
      this.#passages.set(row, {
        id: this.passageIds[row],
        url: this.passageUrls[row],
        title: this.passageTitles[row],
        date: this.dates[record],
        language: this.languageOf(row),
        markdown,
      });
    });
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
