/** Reorder retrieved passages by how well their section answers: local terms, heading, code. */
import { matchTerms, sum } from "./bm25.js";
import { isSiteName } from "./question.js";
import { extractTerms } from "./tokenization.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./scoring.js").Scored} Scored
 * @typedef {import("./question.js").QuestionReading} QuestionReading
 * @typedef {import("./recipe.js").Recipe} Recipe
 */

/**
 * Order a pool by section score and base score, best first, and add the section scores. Texts are
 * loaded for a question with identifiers only.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Scored[]} pool
 * @returns {Promise<Scored[]>}
 */
export async function orderBySection(store, reading, pool) {
  const identifiers = [...reading.identifiers].map((name) => name.toLowerCase());
  const shares = await computeIdentifierShares(store, new Set(identifiers), pool);
  /** @type {Map<number, Scored[]>} */
  const pages = new Map();
  for (const scored of pool) {
    const record = store.passageRecords[scored.row];
    pages.set(record, [...(pages.get(record) ?? []), scored]);
  }
  const introductions = scoreIntroductions(store, reading, pool);
  const sections = new Map();
  for (const page of pages.values()) {
    const weights = reading.idfs.get(store.languageOf(page[0].row)) ?? new Map();
    scoreSections(store, weights, page, shares, introductions).forEach((section, place) => sections.set(page[place].row, section));
  }
  return pool
    .map((scored) => ({ ...scored, section: sections.get(scored.row) }))
    .sort((left, right) => right.section + right.base - (left.section + left.base));
}

/**
 * Score the sections of one page, in the order of its passages.
 * @param {Store} store
 * @param {Map<string, number>} weights the idf of the question's terms
 * @param {Scored[]} page
 * @param {Map<number, number>} shares of the question's identifiers in each passage
 * @param {Map<number, number> | null} introductions the scores of those, by their rows, where a definition is asked for
 * @returns {number[]}
 */
function scoreSections(store, weights, page, shares, introductions) {
  const { section_scores: parts } = store.recipe;
  const best = Math.max(...page.map(({ score }) => score));
  const rows = page.map(({ row }) => row);
  const pageTerms = matchTerms(store, new Set(weights.keys()), rows, true);
  const local = weighTermsInPage(weights, pageTerms);
  const total = sum(local.values()) || 1;
  return rows.map((row, place) => {
    const own = [...local].map(([term, weight]) => (pageTerms[place].has(term) ? weight : 0));
    return (
      parts.PAGE_WEIGHT * best +
      (parts.LOCAL_WEIGHT * sum(own)) / total +
      parts.HEADING_WEIGHT * matchHeading(store, weights, row) +
      parts.IDENTIFIER_WEIGHT * (shares.get(row) ?? 0) +
      (introductions ? (introductions.get(row) ?? 0) : scoreForm(store, row))
    );
  });
}

/**
 * Score the passages of a pool, by their rows, that introduce what a question asks about; null if
 * no definition is asked for.
 * @param {Store} store
 * @param {QuestionReading} reading
 * @param {Scored[]} pool
 * @returns {Map<number, number> | null}
 */
function scoreIntroductions(store, reading, pool) {
  const { HOME_BONUS, INTRODUCTION_BONUS } = store.recipe.section_scores;
  if (!reading.asksForDefinition) return null;
  const scores = new Map();
  const { passageRecords: records, recordIds, titleTerms } = store;
  for (const { row } of pool) {
    if (row && records[row - 1] === records[row]) continue;
    const language = store.languageOf(row);
    const terms = new Set(reading.terms.get(language) ?? []);
    if (!terms.size) continue;
    if (isHomeRecord(store.recipe, recordIds[records[row]], language) && isSiteName(store, language, terms)) {
      scores.set(row, HOME_BONUS);
    } else if ([...terms].every((term) => titleTerms.get(term)?.records.includes(records[row]))) {
      scores.set(row, INTRODUCTION_BONUS);
    }
  }
  return scores;
}

/**
 * Test whether a page is the first one of a site, or of one of its languages.
 * @param {Recipe} recipe
 * @param {string} record
 * @param {string} language
 * @returns {boolean}
 */
function isHomeRecord({ section_scores: { HOME_RECORDS } }, record, language) {
  const path = record.startsWith(`${language}/`) ? record.slice(language.length + 1) : record;
  return HOME_RECORDS.includes(path.endsWith(`.${language}`) ? path.slice(0, -language.length - 1) : path);
}

/**
 * Score what a passage has to copy, and a passage of a few words.
 * @param {Store} store
 * @param {number} row
 * @returns {number}
 */
function scoreForm({ recipe: { section_scores: parts }, hasCode, isShort }, row) {
  return (hasCode[row] ? parts.CODE_BONUS : 0) + (isShort[row] ? parts.SHORT_PENALTY : 0);
}

/**
 * Weigh the question's terms by how rare they are among the passages of one page: the idf in the
 * whole site times that in the page; a term that no passage of the page holds has none.
 * @param {Map<string, number>} weights
 * @param {Set<string>[]} pageTerms
 * @returns {Map<string, number>}
 */
function weighTermsInPage(weights, pageTerms) {
  const local = new Map();
  for (const [term, weight] of weights) {
    const frequency = pageTerms.filter((own) => own.has(term)).length;
    if (frequency) local.set(term, weight * Math.log(1 + (pageTerms.length - frequency + 0.5) / (frequency + 0.5)));
  }
  return local;
}

/**
 * Compute the cosine of the question's terms and those of a passage's own heading, by idf.
 * @param {Store} store
 * @param {Map<string, number>} weights
 * @param {number} row
 * @returns {number}
 */
function matchHeading(store, weights, row) {
  const title = store.passageTitles[row].split(store.recipe.structure.TITLE_SEPARATOR);
  const heading = title[title.length - 1];
  const own = [...new Set(extractTerms(store.recipe, heading, store.languageOf(row)))];
  const highest = Math.max(0, ...weights.values());
  const both = sum(own.map((term) => (weights.get(term) ?? 0) ** 2));
  // The idf of a heading's other words is not known here: each counts like the rarest asked for.
  const size = both + highest ** 2 * own.filter((term) => !weights.has(term)).length;
  const questionSize = sum([...weights.values()].map((weight) => weight ** 2));
  return both ? both / Math.sqrt(size * questionSize) : 0;
}

/**
 * Compute the share of a question's identifiers that each passage contains.
 * @param {Store} store
 * @param {Set<string>} identifiers
 * @param {Scored[]} pool
 * @returns {Promise<Map<number, number>>}
 */
async function computeIdentifierShares(store, identifiers, pool) {
  const shares = new Map();
  if (!identifiers.size) return shares;
  for (const [row, { title, text }] of await store.loadPassages(pool.map((scored) => scored.row))) {
    const lower = `${title}\n${text}`.toLowerCase();
    shares.set(row, [...identifiers].filter((name) => lower.includes(name)).length / identifiers.size);
  }
  return shares;
}
