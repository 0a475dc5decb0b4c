/** Read the columns of a site's records and passages, which `site_data.py` lists. */

import { reviveRecipe } from "./recipe.js";

/** @typedef {import("./container.js").Container} Container */
/** @typedef {{records: number[], frequency: number}} Phrase the rows of records that bear it */
/** @typedef {{tag: string, first: number, end: number}} LanguageRows */

/**
 * A site's metadata, as `SiteMetadata` has it.
 * @typedef {Object} SiteMetadata
 * @property {string} name
 * @property {string | null} url
 * @property {string} language
 * @property {string[]} tags
 * @property {string[]} scripts
 * @property {string} route
 * @property {string[]} names
 * @property {string | null} author
 * @property {LanguageRows[]} languages
 */

const WINDOW_SUFFIX = /~[0-9]+$/u;

/**
 * Restore titles, each of which shares headings with the one before it.
 * @param {string[]} ends
 * @param {ArrayLike<number>} shared
 * @param {string} separator
 */
function restoreTitles(ends, shared, separator) {
  /** @type {string[]} */
  let before = [];
  return ends.map((end, row) => {
    if (!end && shared[row] === before.length) return before.join(separator);
    before = [...before.slice(0, shared[row]), ...end.split(separator)];
    return before.join(separator);
  });
}

/**
 * Make the anchor that Markdown gives the last heading of a title; see `guess_anchor` in `bundle.py`.
 * @param {string} title
 * @param {string} separator
 */
function guessAnchor(title, separator) {
  const heading = /** @type {string} */ (title.split(separator).at(-1)).toLowerCase();
  return heading.replace(/[^a-z0-9_ -]+/g, "").replace(/^ +| +$/g, "").replace(/[ -]+/g, "-");
}

/**
 * Assemble the phrases of each table by name.
 * @param {Record<string, string[]>} tables
 * @param {Record<string, any>} arrays
 */
function assemblePhrases(tables, { phraseSizes, phraseRecords, phraseFrequencies }) {
  let row = 0;
  let start = 0;
  return Object.fromEntries(
    Object.entries(tables).map(([name, phrases]) => [
      name,
      new Map(
        phrases.map((phrase) => {
          const records = [...phraseRecords.subarray(start, start + phraseSizes[row])];
          start += records.length;
          return [phrase, { records, frequency: phraseFrequencies[row++] }];
        }),
      ),
    ]),
  );
}

/** Hold what is small of a site in memory; see `SiteColumns` in `site_data.py`. */
export class SiteColumns {
  /**
   * @param {Container} core
   * @param {Container} manifest with the columns that edits change
   */
  constructor(core, manifest) {
    const values = { ...core.values, ...manifest.values };
    const arrays = { ...core.arrays, ...manifest.arrays };
    const { recordIds } = values;
    const passageRecords = new Uint32Array(values.passageIds.length);
    let end = 0;
    arrays.passagesPerRecord.forEach((/** @type {number} */ count, /** @type {number} */ record) => {
      passageRecords.fill(record, end, (end += count));
    });
    const phrases = assemblePhrases(values.phrases, arrays);
    this.recipe = /** @type {import("./recipe.js").Recipe} */ (reviveRecipe(values.recipe));
    const separator = this.recipe.structure.TITLE_SEPARATOR;
    const passageTitles = restoreTitles(values.titles, arrays.sharedTitles, separator);
    /** @type {string[]} */
    const passageIds = values.passageIds.map((/** @type {string | string[]} */ id, /** @type {number} */ row) => {
      if (typeof id !== "string") return id[0];
      // An anchor that follows from the heading is left out.
      const tail = /^#(~|$)/.test(id) ? `#${guessAnchor(passageTitles[row], separator)}${id.slice(1)}` : id;
      return recordIds[passageRecords[row]] + tail;
    });
    const languages = values.site.languages.map((/** @type {[string, number, number]} */ [tag, first, last]) => ({
      tag,
      first,
      end: last,
    }));
    this.site = /** @type {SiteMetadata} */ ({ ...values.site, languages });
    this.recordIds = /** @type {string[]} */ (recordIds);
    this.dates = /** @type {(string | null)[]} */ (values.dates);
    this.weights = /** @type {Float32Array} */ (arrays.weights);
    this.titleNorms = /** @type {Float32Array} */ (arrays.titleNorms);
    this.isHistory = /** @type {Uint8Array} */ (arrays.isHistory);
    this.names = phrases.names;
    this.aliases = phrases.aliases;
    this.themes = phrases.themes;
    this.titleTerms = phrases.titleTerms;
    this.passageRecords = passageRecords;
    this.passageIds = passageIds;
    this.passageUrls = /** @type {string[]} */ (
      values.passageUrls.map((/** @type {string | null} */ url, /** @type {number} */ row) => {
        const anchor = passageIds[row].slice(recordIds[passageRecords[row]].length).replace(WINDOW_SUFFIX, "");
        return url ?? values.recordUrls[passageRecords[row]] + anchor;
      })
    );
    this.passageTitles = passageTitles;
    this.passageLengths = Uint32Array.from(arrays.passageLengths);
    this.hasCode = /** @type {Uint8Array} */ (arrays.hasCode);
    const units = this.recipe.site_data.QUESTION_NORM_UNITS;
    this.questionNorms = Float64Array.from(arrays.questionNorms, (/** @type {number} */ norm) => norm / units);
    /** @type {Map<string, Phrase>} until they are added, none */
    this.questionTerms = new Map();
    this.questionKeys = new Uint32Array(this.questionNorms.length);
    this.hasAnswer = new Uint8Array(this.questionNorms.length);
    this.questionPassages = new Uint32Array(this.questionNorms.length);
    this.passageSections = Uint32Array.from(passageIds.keys());
  }

  /**
   * Add the terms of the questions that sections are known to answer.
   * @param {Container} container
   */
  addQuestions({ values, arrays }) {
    const { questionTerms, questionSizes, questionOwners, questionKeys, hasAnswer, questionsPerPassage, continuesSection } = { ...values, ...arrays };
    const tables = { terms: questionTerms };
    const columns = { phraseSizes: questionSizes, phraseRecords: questionOwners, phraseFrequencies: questionSizes };
    let first = 0;
    let end = 0;
    questionsPerPassage.forEach((/** @type {number} */ count, /** @type {number} */ row) => {
      if (!continuesSection[row]) first = row;
      this.passageSections[row] = first;
      this.questionPassages.fill(row, end, (end += count));
    });
    this.questionKeys.set(questionKeys);
    this.hasAnswer.set(hasAnswer);
    this.questionTerms = assemblePhrases(tables, columns).terms;
  }
}
