/** Read the index of a site from its files, and of large files only what a question needs. */

import { readRising, SiteColumns } from "./core_file.js";
import { parseContainer } from "./container.js";
import { IndexGoneError } from "./site_files.js";
import { beginningOf, indexForms } from "./word_forms.js";

/** @import { Container } from "./container.js" */
/** @import { ColumnTable } from "./core_file.js" */
/** @import { Part, SiteFiles } from "./site_files.js" */
/** @import { StoredClaim } from "./stored_answers.js" */
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
 * @property {[name: string, parts: [kind: string, bytes: number, content: number][]][]} packs files with parts, in order
 * @property {number} rows_per_part passages or answers
 * @property {string[]} term_starts with what the words of each part of terms begin, from the first one's on
 * @property {ColumnTable} columns
 */

const WIRE = 9;

const NO_POSTINGS = { passages: new Uint32Array(), counts: new Uint32Array() };

/**
 * Open an index; IndexGoneError where it has been replaced by a newer build.
 * @param {SiteFiles} files
 * @param {IndexEntry} entry
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
  return new Store(files, manifest, parts, { core, questions, signs });
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

/** Give a question all that it reads of a site; see `Store` in `store.py`. */
export class Store extends SiteColumns {
  #files;
  #parts;
  #signs;
  /** @type {Map<string, TermPostings>} by term: it lies in each part that has a form of it */
  #postings = new Map();
  /** @type {Map<number, Map<string, FormIndex>>} by part and language */
  #forms = new Map();
  /** @type {Passage[]} by row, those that have been asked for */
  #passages = [];

  /**
   * @param {SiteFiles} files
   * @param {Manifest} manifest
   * @param {Record<string, Part[]>} parts by kind
   * @param {Record<"core" | "questions" | "signs", Container>} containers
   */
  constructor(files, manifest, parts, { core, questions, signs }) {
    super(manifest.columns, { core, questions });
    this.#files = files;
    this.#parts = parts;
    this.#signs = /** @type {Uint8Array} */ (signs.arrays.signs);
    this.manifest = manifest;
  }

  /** The paths of all files that the manifest names. */
  get paths() {
    return Object.values(this.#parts).flatMap((parts) => parts.map(({ path }) => path));
  }

  /**
   * Load a part; each is fetched once.
   * @param {string} kind
   * @param {number} [number]
   */
  #loadPart(kind, number = 0) {
    return this.#files.read(this.#parts[kind][number], parseContainer);
  }

  /**
   * Load the parts that some rows lie in, all at once.
   * @param {"answers" | "codes" | "texts"} kind
   * @param {number[]} rows
   * @returns {Promise<(row: number) => [part: Container, place: number]>} finds a row in them
   */
  async #loadRows(kind, rows) {
    const { rows_per_part: count } = this.manifest;
    const numbers = [...new Set(rows.map((row) => Math.floor(row / count)))];
    const parts = await Promise.all(numbers.map((number) => this.#loadPart(kind, number)));
    return (row) => [parts[numbers.indexOf(Math.floor(row / count))], row % count];
  }

  /**
   * Begin to load what some passages are likely to be asked for; a failure is told to whoever asks.
   * @param {"codes" | "texts"} kind
   * @param {number[]} rows
   */
  prefetch(kind, rows) {
    this.#loadRows(kind, rows).catch(() => {});
  }

  /**
   * Load the terms that some words may stand for, with their forms and postings.
   * @param {string[]} words as an index has them
   */
  async loadTerms(words) {
    const load = async (/** @type {number} */ number) => {
      const part = await this.#loadPart("terms", number);
      if (!this.#forms.has(number)) this.#addTerms(number, part);
    };
    await Promise.all([...new Set(words.map((word) => this.#findTermPart(word)))].map(load));
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
    if (!postings && !this.#forms.has(this.#findTermPart(term))) throw new Error(`${term} has not been loaded`);
    return postings ?? NO_POSTINGS;
  }

  /**
   * Load all words that passages hold as they are written, sorted.
   * @returns {Promise<string[]>}
   */
  async loadWords() {
    return (await this.#loadPart("words")).values.words;
  }

  /**
   * Load the questions that are suggested or have a stored answer, "" for another one, in the order of the index.
   * @returns {Promise<string[]>}
   */
  async loadSuggestions() {
    return (await this.#loadPart("suggestions")).values.questions;
  }

  /**
   * Load one of the answers that are stored for questions.
   * @param {number} row
   * @returns {Promise<StoredClaim[]>}
   */
  async loadAnswer(row) {
    const [{ values }, place] = (await this.#loadRows("answers", [row]))(row);
    return values.answers[place];
  }

  /**
   * Estimate the cosine of a question with every passage from the signs of their vectors.
   * @param {Float32Array} unit of length 1
   */
  estimateCosines(unit) {
    const width = Math.ceil(unit.length / 8);
    // Of a Gaussian vector the signs have on average the cosine sqrt(2 / pi) with it.
    const scale = Math.sqrt(Math.PI / 2 / unit.length);
    return Float32Array.from(this.passageIds, (_, row) => {
      const signs = this.#signs.subarray(row * width, (row + 1) * width);
      // A passage without a word that the model knows is a row of zeros.
      if (signs.every((byte) => !byte)) return 0;
      let dot = 0;
      for (let column = 0; column < unit.length; column += 1) {
        // The highest bit of a byte comes first.
        const bit = (signs[column >> 3] >> (7 - (column & 7))) & 1;
        dot += (2 * bit - 1) * unit[column];
      }
      return dot * scale;
    });
  }

  /**
   * Load the cosines of a question with some passages, from their 8-bit codes.
   * @param {Float32Array} unit of length 1
   * @param {number[]} rows
   */
  async loadCosines(unit, rows) {
    const find = await this.#loadRows("codes", rows);
    return Float32Array.from(rows, (row) => {
      const [{ arrays }, place] = find(row);
      const codes = arrays.codes.subarray(place * unit.length);
      // In float64 until the end, as Python has it.
      return unit.reduce((dot, value, column) => dot + codes[column] * value, 0) * arrays["codes.norms"][place];
    });
  }

  /**
   * Load some passages by row, with their texts.
   * @param {number[]} rows
   */
  async loadPassages(rows) {
    const find = await this.#loadRows("texts", rows);
    return rows.map((row) => {
      const [{ values }, place] = find(row);
      return (this.#passages[row] ??= {
        id: this.passageIds[row],
        url: this.passageUrls[row],
        title: this.passageTitles[row],
        date: this.dates[this.passageRecords[row]],
        language: this.languageOf(row),
        markdown: values.texts[place],
      });
    });
  }
}
