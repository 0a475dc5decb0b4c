/** Read the columns of a site's records and passages, which `index_files.py` writes. */

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
 * @returns {string[]}
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
 * Assemble the phrases of each table by name.
 * @param {Record<string, string[]>} tables
 * @param {Record<string, any>} arrays
 * @returns {Record<string, Map<string, Phrase>>}
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

/**
 * Read the columns of a core file.
 * @param {Container} core
 */
export function readCore({ values, arrays }) {
  const passageRecords = new Uint32Array(values.passageIds.length);
  let end = 0;
  arrays.passagesPerRecord.forEach((/** @type {number} */ count, /** @type {number} */ record) => {
    passageRecords.fill(record, end, (end += count));
  });
  const phrases = assemblePhrases(values.phrases, arrays);
  const recipe = /** @type {import("./recipe.js").Recipe} */ (reviveRecipe(values.recipe));
  return {
    recipe,
    site: /** @type {SiteMetadata} */ ({
      ...values.site,
      languages: values.site.languages.map((/** @type {[string, number, number]} */ [tag, first, last]) => ({
        tag,
        first,
        end: last,
      })),
    }),
    recordIds: /** @type {string[]} */ (values.recordIds),
    dates: /** @type {(string | null)[]} */ (values.dates),
    weights: /** @type {Float32Array} */ (arrays.weights),
    titleNorms: /** @type {Float32Array} */ (arrays.titleNorms),
    isHistory: /** @type {Uint8Array} */ (arrays.isHistory),
    contextLengths: Uint32Array.from(arrays.contextLengths),
    names: phrases.names,
    aliases: phrases.aliases,
    themes: phrases.themes,
    titleTerms: phrases.titleTerms,
    passageRecords,
    passageIds: /** @type {string[]} */ (
      values.passageIds.map((/** @type {string | string[]} */ id, /** @type {number} */ row) =>
        typeof id === "string" ? values.recordIds[passageRecords[row]] + id : id[0],
      )
    ),
    passageUrls: /** @type {string[]} */ (
      values.passageUrls.map((/** @type {string | null} */ url, /** @type {number} */ row) =>
        url ?? values.recordUrls[passageRecords[row]] + values.passageIds[row].replace(WINDOW_SUFFIX, ""),
      )
    ),
    passageTitles: restoreTitles(values.titles, arrays.sharedTitles, recipe.structure.TITLE_SEPARATOR),
    passageLengths: Uint32Array.from(arrays.passageLengths),
    hasCode: /** @type {Uint8Array} */ (arrays.hasCode),
  };
}
