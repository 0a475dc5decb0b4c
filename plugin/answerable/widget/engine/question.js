/** Read a question: spell it as the site does, weigh its terms, name corrected or unknown words. */
import { computeIdfs, findIndexedTerms } from "./bm25.js";
import { findJoinedSpelling, findNearSpelling, mayBeMisspelled } from "./misspellings.js";
import { splitNgrams } from "./normalization.js";
import { escapePattern } from "./patterns.js";
import {
  asksAboutNow,
  asksForDefinition,
  asksForHistory,
  findIdentifiers,
  pointsBack,
  stripContinuation,
  stripFrame,
} from "./question_text.js";
import { extractTerms, hasSiteScripts, isSpaceDelimited, splitWords } from "./tokenization.js";

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {(word: string) => number | null} WordRank returns a word's rank in ordinary language, if it has one
 * @typedef {{ kind: "corrected", from: string, to: string } | { kind: "unknown", word: string }
 *   | { kind: "follow-up" }} Remark as the wire's `notes` have it
 * @typedef {Object} QuestionReading
 * @property {string} question with the site's spellings, without words that continue an earlier one: what an answerer receives
 * @property {string} text without the frame of the question: what is embedded
 * @property {Map<string, string[]>} terms by the site's languages, none where there is nothing to search for
 * @property {Remark[]} remarks
 * @property {Map<string, Map<string, number>>} idfs of each distinct term, by the languages of the passages
 * @property {Set<string>} phrases its normalized n-grams of the lengths of names
 * @property {Set<string>} identifiers the names of code in it, as they are written
 * @property {boolean} asksForDefinition
 * @property {boolean} asksForHistory
 * @property {boolean} asksAboutNow
 */

/**
 * Read a cleaned question with the vocabulary of a site.
 * @param {Store} store
 * @param {string} question
 * @param {WordRank} wordRank
 * @returns {Promise<QuestionReading>}
 */
export async function readQuestion(store, question, wordRank) {
  const [spelled, corrections] = await correctSpelling(store, question, wordRank);
  const subject = readsEnglish(store) ? stripContinuation(store.recipe, spelled) : spelled;
  const [text, terms] = extractUnframedTerms(store, subject);
  /** @type {Remark[]} */
  const remarks = terms.size ? [...corrections, ...(await remarkUnknownWords(store, text, wordRank))] : [];
  if (subject !== spelled || (!terms.size && pointsBack(store.recipe, subject))) remarks.push({ kind: "follow-up" });
  const phrases = new Set(splitNgrams(subject, measureNameLengths(store)));
  return {
    question: subject,
    text,
    terms,
    remarks,
    idfs: await weighTerms(store, terms),
    phrases,
    identifiers: findIdentifiers(store.recipe, subject),
    asksForDefinition: asksForDefinition(store.recipe, subject),
    asksForHistory: asksForHistory(store.recipe, subject, phrases),
    asksAboutNow: asksAboutNow(store.recipe, subject, phrases),
  };
}

/** @type {WeakMap<Store, Set<number>>} */
const nameLengths = new WeakMap();

/**
 * List how many words the phrases have that a question is searched for, single words among them.
 * @param {Store} store
 * @returns {Set<number>}
 */
function measureNameLengths(store) {
  let lengths = nameLengths.get(store);
  if (!lengths) {
    const [nowPhrases] = store.recipe.question_text.NOW_WORDS;
    lengths = new Set([1]);
    for (const names of [store.names.keys(), store.aliases.keys(), store.themes.keys(), nowPhrases]) {
      for (const name of names) lengths.add(name.split(" ").length);
    }
    nameLengths.set(store, lengths);
  }
  return lengths;
}

/**
 * Compute the idf of a question's terms in each language of the site's passages.
 * @param {Store} store
 * @param {Map<string, string[]>} terms
 * @returns {Promise<Map<string, Map<string, number>>>}
 */
async function weighTerms(store, terms) {
  await store.loadPostings([...terms.values()].flat());
  return new Map(
    store.site.languages.map(({ tag, first, end }) => [
      tag,
      computeIdfs(store, terms.get(tag) ?? [], [first, end], readSiteNameTerms(store, tag)),
    ]),
  );
}

/** @type {WeakMap<Store, Map<string, Set<string>>>} */
const siteNameTerms = new WeakMap();

/**
 * Extract the terms of the names of the site and its author, which pages need not contain.
 * @param {Store} store
 * @param {string} language
 * @returns {Set<string>}
 */
function readSiteNameTerms(store, language) {
  let byLanguage = siteNameTerms.get(store);
  if (!byLanguage) siteNameTerms.set(store, (byLanguage = new Map()));
  let terms = byLanguage.get(language);
  if (!terms) {
    terms = new Set(store.site.names.flatMap((name) => extractTerms(store.recipe, name, language)));
    byLanguage.set(language, terms);
  }
  return terms;
}

/**
 * Test whether terms are those of a name of the site, not of its author.
 * @param {Store} store
 * @param {string} language
 * @param {Set<string>} terms
 * @returns {boolean}
 */
export function isSiteName({ site, recipe }, language, terms) {
  const names = site.names.filter((name) => name !== site.author).map((name) => new Set(extractTerms(recipe, name, language)));
  return names.some((own) => own.size === terms.size && [...own].every((term) => terms.has(term)));
}

/**
 * Strip the frame of a question and extract its terms; keep the frame if no term is left.
 * @param {Store} store
 * @param {string} question
 * @returns {[text: string, terms: Map<string, string[]>]}
 */
function extractUnframedTerms(store, question) {
  const text = readsEnglish(store) ? stripFrame(store.recipe, question) : question;
  const terms = extractKnownScripts(store, text);
  return terms.size ? [text, terms] : [question, extractKnownScripts(store, question)];
}

/** @param {Store} store */
function readsEnglish({ site }) {
  return site.tags.some((tag) => tag.toLowerCase().startsWith("en"));
}

/**
 * Extract a question's terms by the languages of the site that have any. A term counts if it is in
 * a script that the site's pages use.
 * @param {Store} store
 * @param {string} question
 * @returns {Map<string, string[]>}
 */
function extractKnownScripts({ site, recipe }, question) {
  const terms = new Map();
  for (const tag of site.tags) {
    const own = extractTerms(recipe, question, tag).filter((term) => hasSiteScripts(recipe, term));
    if (own.length) terms.set(tag, own);
  }
  return terms;
}

/**
 * Replace the words that neither site nor language has by near spellings of the site's.
 * @param {Store} store
 * @param {string} question
 * @param {WordRank} wordRank
 * @returns {Promise<[question: string, remarks: Remark[]]>}
 */
async function correctSpelling(store, question, wordRank) {
  const words = splitWords(store.recipe, question);
  const missing = await findUnknownWords(store, words);
  /** @type {Map<string, string>} */
  const corrections = new Map();
  for (const [place, word] of words.entries()) {
    const lower = word.toLowerCase();
    if (!missing.has(lower) || !mayBeMisspelled(store, lower) || wordRank(lower) !== null) continue;
    let near = await findNearSpelling(store, lower);
    let misspelled = word;
    for (const first of [place - 1, place]) {
      if (near !== null || first < 0 || first + 1 >= words.length) continue;
      const pair = words.slice(first, first + 2);
      near = await findJoinedSpelling(store, pair[0].toLowerCase(), pair[1].toLowerCase());
      if (near) misspelled = pair.join(" ");
    }
    if (near !== null) corrections.set(misspelled, near);
  }
  const { BOUNDARY, WORD_GAP } = store.recipe.question;
  let corrected = question;
  for (const [word, near] of corrections) {
    const inner = word.split(" ").map(escapePattern).join(WORD_GAP.source);
    corrected = corrected.replace(new RegExp(BOUNDARY.source + inner + BOUNDARY.source, "gu"), near);
  }
  return [corrected, [...corrections].map(([from, to]) => ({ kind: "corrected", from, to }))];
}

/**
 * Remark each content word that no passage has, unless it is an ordinary word.
 * @param {Store} store
 * @param {string} text
 * @param {WordRank} wordRank
 * @returns {Promise<Remark[]>}
 */
async function remarkUnknownWords(store, text, wordRank) {
  const { ORDINARY_RANK } = store.recipe.question;
  const words = splitWords(store.recipe, text);
  const missing = await findUnknownWords(store, words);
  return [...new Set(words)]
    .filter((word) => {
      const lower = word.toLowerCase();
      return missing.has(lower) && (wordRank(lower) || ORDINARY_RANK) >= ORDINARY_RANK;
    })
    .map((word) => ({ kind: "unknown", word }));
}

/**
 * Find the words, in lower case, that no passage has and which are not names. A word in camel case
 * counts as a whole, whatever its parts are.
 * @param {Store} store
 * @param {string[]} words
 * @returns {Promise<Set<string>>}
 */
async function findUnknownWords(store, words) {
  const { site, recipe } = store;
  const byWord = words
    .filter((word) => isSpaceDelimited(recipe, word))
    .map((word) => ({ word, byTag: site.tags.map((tag) => extractTerms(recipe, word.toLowerCase(), tag)) }));
  const terms = byWord.flatMap(({ byTag }) => byTag.flat());
  await store.loadPostings(terms);
  const indexed = findIndexedTerms(store, terms);
  const unknown = byWord.filter(
    ({ byTag }) =>
      byTag.some((own) => own.length) &&
      !byTag.some((own, place) => {
        const names = readSiteNameTerms(store, site.tags[place]);
        return own.some((term) => indexed.has(term) || names.has(term));
      }),
  );
  return new Set(unknown.map(({ word }) => word.toLowerCase()));
}
