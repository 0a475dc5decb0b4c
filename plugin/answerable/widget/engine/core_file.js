/** Read the columns of an index by the table that its manifest has; see `columns.py`. */

import { RULES } from "./rules.js";

/** @import { Container } from "./container.js" */

/** @typedef {{records: number[], frequency: number}} Phrase the rows of records that bear it */
/** @typedef {Map<string, Phrase>} Phrases */
/** @typedef {{tag: string, first: number, end: number}} LanguageRows */

/**
 * What the engine reads of a site's metadata, which `SiteMetadata` has.
 * @typedef {{url: string | null, language: string, tags: string[], names: string[], languages: LanguageRows[]}} SiteMetadata
 */

/** @typedef {[name: string, kind: string, type: string][]} ColumnTable */

const WINDOW_SUFFIX = /~[0-9]+$/u;
// Stands for the anchor that Markdown gives the heading; no id holds white space.
const GUESSED = "# ";

/**
 * Read phrases, each with the rows that bear it.
 * @param {string[]} phrases
 * @param {(part: string) => number[]} read an array of the column
 * @returns {Phrases}
 */
function readPhrases(phrases, read) {
  const [sizes, rows, frequencies] = ["sizes", "rows", "frequencies"].map((part) => Array.from(read(part)));
  let end = 0;
  return new Map(
    phrases.map((phrase, row) => [phrase, { records: rows.slice(end, (end += sizes[row])), frequency: frequencies[row] }]),
  );
}

/**
 * Read rows that rise, of which the differences are stored.
 * @param {ArrayLike<number>} differences
 */
export function readRising(differences) {
  let row = 0;
  return Uint32Array.from(differences, (difference) => (row += difference));
}

/** What is small of a site, in memory: the columns of `Index` in `columns.py` that a browser needs. */
export class SiteColumns {
  site = /** @type {SiteMetadata} */ ({});
  recordIds = /** @type {string[]} */ ([]);
  recordUrls = /** @type {string[]} */ ([]);
  dates = /** @type {(string | null)[]} */ ([]);
  weights = new Float32Array();
  titleNorms = new Float32Array();
  isHistory = new Uint8Array();
  names = /** @type {Phrases} */ (new Map());
  aliases = /** @type {Phrases} */ (new Map());
  themes = /** @type {Phrases} */ (new Map());
  titleTerms = /** @type {Phrases} */ (new Map());
  passageIds = /** @type {string[]} */ ([]);
  passageUrls = /** @type {string[]} */ ([]);
  passageTitles = /** @type {string[]} */ ([]);
  passageRecords = new Uint32Array();
  passageSections = new Uint32Array();
  passageLengths = new Uint32Array();
  hasCode = new Uint8Array();
  // Of the questions that sections are known to answer.
  questionTerms = /** @type {Phrases} */ (new Map());
  questionNorms = new Float32Array();
  questionKeys = new Uint32Array();
  questionPassages = new Uint32Array();
  hasAnswer = new Uint8Array();

  /**
   * @param {ColumnTable} table
   * @param {Record<string, Container>} files by kind
   */
  constructor(table, files) {
    for (const [name, kind, type] of table) {
      if (!(kind in files)) continue;
      const { values, arrays } = files[kind];
      const camelCase = name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
      let column = values[name] ?? arrays[name];
      if (type === "phrases") column = readPhrases(column, (part) => arrays[`${name}.${part}`]);
      if (type === "rising") column = readRising(column);
      Object.assign(this, { [camelCase]: column });
    }
    // Of the texts whose letters are all of scripts that the site is written in.
    this.letters = new RegExp(files.core.values.letters, "u");
    const tags = this.site.languages.map(({ tag }) => tag);
    this.site = { ...this.site, tags: tags.length ? tags : [this.site.language] };
    /** @type {string[]} "" for a page without text */
    this.recordLanguages = this.recordIds.map(() => "");
    this.passageRecords.forEach((record, row) => (this.recordLanguages[record] = this.languageOf(row)));
    this.#expandPlaces();
  }

  /** Restore the ids and urls of passages from what does not follow from their page and title. */
  #expandPlaces() {
    const anchors = this.passageIds.map((anchor, row) => {
      if (!anchor.startsWith(GUESSED)) return anchor;
      const heading = this.passageTitles[row].split(RULES.structure.TITLE_SEPARATOR).at(-1) ?? "";
      const guessed = heading.toLowerCase().replace(/[^a-z0-9_ -]+/g, "").trim().replace(/[ -]+/g, "-");
      return `#${guessed}${anchor.slice(GUESSED.length)}`;
    });
    this.passageIds = anchors.map((anchor, row) => this.recordIds[this.passageRecords[row]] + anchor);
    this.passageUrls = anchors.map((anchor, row) => {
      return this.passageUrls[row] ?? this.recordUrls[this.passageRecords[row]] + anchor.replace(WINDOW_SUFFIX, "");
    });
  }

  /**
   * Look up the language of a passage by its row.
   * @param {number} row
   */
  languageOf(row) {
    return this.site.languages.find(({ first, end }) => first <= row && row < end)?.tag ?? this.site.language;
  }
}
