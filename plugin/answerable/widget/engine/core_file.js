/** Read the columns of an index by the table that its manifest has; see `columns.py`. */

import { RULES } from "./rules.js";

/** @import { Container } from "./container.js" */

/** @typedef {{records: number[], frequency: number}} Phrase the rows of records that bear it */
/** @typedef {{tag: string, first: number, end: number}} LanguageRows */

/**
 * What the engine reads of a site's metadata, which `SiteMetadata` has.
 * @typedef {Object} SiteMetadata
 * @property {string | null} url
 * @property {string} language
 * @property {string[]} tags
 * @property {string[]} names
 * @property {LanguageRows[]} languages
 */

/** @typedef {[name: string, kind: string, type: string][]} ColumnTable */

const WINDOW_SUFFIX = /~[0-9]+$/u;
// Stands for the anchor that Markdown gives the heading; no id holds white space.
const GUESSED = "# ";

/**
 * Make the anchor that Markdown gives the last heading of a title; see `guess_anchor` in `columns.py`.
 * @param {string} title
 * @param {string} separator
 */
function guessAnchor(title, separator) {
  const heading = /** @type {string} */ (title.split(separator).at(-1)).toLowerCase();
  return heading.replace(/[^a-z0-9_ -]+/g, "").replace(/^ +| +$/g, "").replace(/[ -]+/g, "-");
}

/**
 * Read phrases, each with the rows that bear it.
 * @param {string[]} phrases
 * @param {Record<"sizes" | "rows" | "frequencies", ArrayLike<number> & Iterable<number>>} arrays
 */
function readPhrases(phrases, { sizes, rows, frequencies }) {
  const owners = Array.from(rows);
  let end = 0;
  return new Map(
    phrases.map((phrase, row) => [phrase, { records: owners.slice(end, (end += sizes[row])), frequency: frequencies[row] }]),
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

/**
 * Read the columns of one kind of file, each under its name in camel case.
 * @param {ColumnTable} table
 * @param {string} kind
 * @param {Container} container
 */
export function readColumns(table, kind, { values, arrays }) {
  const columns = table.filter(([, file]) => file === kind).map(([name, , type]) => {
    const camelCase = name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
    if (type === "phrases") {
      const [sizes, rows, frequencies] = ["sizes", "rows", "frequencies"].map((part) => arrays[`${name}.${part}`]);
      return [camelCase, readPhrases(values[name], { sizes, rows, frequencies })];
    }
    return [camelCase, type === "rising" ? readRising(arrays[name]) : (values[name] ?? arrays[name])];
  });
  return Object.fromEntries(columns);
}

/** What is small of a site, in memory: the columns of `Index` in `columns.py` that a browser needs. */
export class SiteColumns {
  /** @type {SiteMetadata} */
  site;
  /** @type {string[]} */
  recordIds = [];
  /** @type {string[]} */
  recordUrls = [];
  /** @type {(string | null)[]} */
  dates = [];
  weights = new Float32Array();
  titleNorms = new Float32Array();
  isHistory = new Uint8Array();
  /** @type {Map<string, Phrase>} */
  names = new Map();
  /** @type {Map<string, Phrase>} */
  aliases = new Map();
  /** @type {Map<string, Phrase>} */
  themes = new Map();
  /** @type {Map<string, Phrase>} */
  titleTerms = new Map();
  /** @type {string[]} */
  passageIds = [];
  /** @type {string[]} */
  passageUrls = [];
  /** @type {string[]} */
  passageTitles = [];
  passageRecords = new Uint32Array();
  passageSections = new Uint32Array();
  passageLengths = new Uint32Array();
  hasCode = new Uint8Array();
  // Of the questions that sections are known to answer: none until they are added.
  /** @type {Map<string, Phrase>} */
  questionTerms = new Map();
  questionNorms = new Float32Array();
  questionKeys = new Uint32Array();
  questionPassages = new Uint32Array();
  hasAnswer = new Uint8Array();

  /**
   * @param {ColumnTable} table
   * @param {Container} core
   */
  constructor(table, core) {
    // Of the texts whose letters are all of scripts that the site is written in.
    this.letters = new RegExp(core.values.letters, "u");
    const columns = readColumns(table, "core", core);
    Object.assign(this, columns);
    const { language, languages } = columns.site;
    const tags = languages.map((/** @type {LanguageRows} */ { tag }) => tag);
    this.site = { ...columns.site, tags: tags.length ? tags : [language] };
    // The records that have passages in each language.
    this.recordsByLanguage = new Map(
      this.site.languages.map(({ tag, first, end }) => [tag, new Set(this.passageRecords.subarray(first, end))]),
    );
    const separator = RULES.structure.TITLE_SEPARATOR;
    const anchors = this.passageIds.map((anchor, row) => {
      if (!anchor.startsWith(GUESSED)) return anchor;
      return `#${guessAnchor(this.passageTitles[row], separator)}${anchor.slice(GUESSED.length)}`;
    });
    this.passageIds = anchors.map((anchor, row) => this.recordIds[this.passageRecords[row]] + anchor);
    this.passageUrls = anchors.map((anchor, row) => {
      return columns.passageUrls[row] ?? this.recordUrls[this.passageRecords[row]] + anchor.replace(WINDOW_SUFFIX, "");
    });
  }
}
