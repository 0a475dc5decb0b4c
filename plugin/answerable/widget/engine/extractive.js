/** Draft an answer without a language model: quote verbatim excerpts. */

import { isDirectAnswer } from "./confidence.js";
import { makeClaim } from "./contract.js";
import { cutExcerpt } from "./excerpts.js";
import { extractWords } from "./tokenization.js";
import { formsIn } from "./word_forms.js";

/**
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./selection.js").Evidence} Evidence
 * @typedef {import("./excerpts.js").Excerpt} Excerpt
 * @typedef {import("./contract.js").Claim} Claim
 *
 * A passage of the evidence and how well its statements support an answer.
 * @typedef {{passage: Passage, supports: number[], best: number, value: number}} RatedSection
 * @typedef {{section: RatedSection, excerpt: Excerpt}} SectionExcerpt
 */

/**
 * Draft verbatim excerpts: a claim for each section of which one is shown.
 * @param {Store} store
 * @param {string} question
 * @param {Evidence} evidence
 * @param {Float32Array} vector of the question
 * @returns {Claim[]}
 */
export function draftExcerpts(store, question, evidence, vector) {
  /** @type {Map<string, SectionExcerpt[]>} */
  const claims = new Map();
  for (const each of cutExcerpts(store, question, evidence, vector)) {
    const { url } = each.section.passage;
    claims.set(url, [...(claims.get(url) ?? []), each]);
  }
  return [...claims.values()].map((windows) => draftClaim(store.recipe, windows));
}

/**
 * Cut the excerpts that are shown, best first: one where it is sure, else up to three.
 * @param {Store} store
 * @param {string} question
 * @param {Evidence} evidence
 * @param {Float32Array} vector
 * @returns {SectionExcerpt[]}
 */
function cutExcerpts(store, question, evidence, vector) {
  const { EXCERPT_BUDGETS, MIN_SHARE_OF_FIRST, SUPPORT_FLOOR } = store.recipe.extractive;
  /** @type {SectionExcerpt[]} */
  const excerpts = [];
  /** @type {Set<string>} */
  const statements = new Set();
  // Windows of one section share the room of one claim.
  /** @type {Map<string, number>} */
  const shown = new Map();
  let minSupport = SUPPORT_FLOOR;
  for (const section of rateSections(store, evidence, vector)) {
    const { best, passage, supports, value } = section;
    const weights = weightsOf(evidence, passage);
    const used = shown.get(passage.url) ?? 0;
    const whole = EXCERPT_BUDGETS[excerpts.length];
    const budget = { ...whole, visible: whole.visible - used };
    const forms = formsIn(evidence.forms, passage.language);
    const excerpt = cutExcerpt(store.recipe, passage, supports, weights, budget, statements, forms);
    // What its author says that a section answers needs no support of words.
    const isKnown = value > store.recipe.selection.SAME_QUESTION_BONUS;
    if (!excerpt || (best < minSupport && !isKnown)) continue;
    excerpts.push({ section, excerpt });
    shown.set(passage.url, used + excerpt.visible);
    minSupport = Math.max(minSupport, MIN_SHARE_OF_FIRST * best);
    for (const each of excerpt.statements) statements.add(each);
    if (excerpts.length === EXCERPT_BUDGETS.length) break;
    if (excerpts.length === 1 && isDirectAnswer(store.recipe, question, weights, forms, passage, excerpt.text)) break;
  }
  return excerpts;
}

/**
 * Rate the passages of the evidence and order them, best first.
 * @param {Store} store
 * @param {Evidence} evidence
 * @param {Float32Array} vector
 * @returns {RatedSection[]}
 */
function rateSections(store, evidence, vector) {
  const { SUPPORT_WEIGHT } = store.recipe.extractive;
  const sections = evidence.passages.map((passage, at) => {
    const supports = rateStatements(store, evidence, passage, vector, evidence.terms[at]);
    const quotable = supports.filter((_, place) => !passage.statements[place].isBare);
    const best = quotable.length ? Math.max(...quotable) : 0;
    const value = evidence.sectionScores[at] + SUPPORT_WEIGHT * best;
    return { passage, supports, best, value };
  });
  return sections.sort((one, other) => other.value - one.value);
}

/**
 * Return the idf of each of the question's terms in the language of a passage.
 * @param {Evidence} evidence
 * @param {Passage} passage
 * @returns {Map<string, number>}
 */
function weightsOf({ idfs }, { language }) {
  return idfs.get(language) ?? new Map();
}

/**
 * Rate each statement by its share of the question's idf and by its cosine.
 * @param {Store} store
 * @param {Evidence} evidence
 * @param {Passage} passage
 * @param {Float32Array} vector
 * @param {Set<string>} matched the question's terms in the passage's retrieval text
 * @returns {number[]}
 */
function rateStatements(store, evidence, passage, vector, matched) {
  const weights = weightsOf(evidence, passage);
  const forms = formsIn(evidence.forms, passage.language);
  const words = readWords(store.recipe, passage);
  const terms = words.map((own) => new Set(own.map((word) => forms.get(word) ?? word)));
  const { dense } = store.manifest.profile;
  const { codes, inverseNorms } = store.statements(passage);
  let total = 0;
  for (const weight of weights.values()) total += weight;
  // Terms that no statement has are in its page's summary or themes, and count for every statement.
  const isDescribed = (/** @type {string} */ term) => matched.has(term) && !terms.some((own) => own.has(term));
  const described = new Set([...weights.keys()].filter(isDescribed));
  return terms.map((own, row) => {
    let lexical = 0;
    for (const [term, weight] of weights) if (own.has(term) || described.has(term)) lexical += weight;
    let dot = 0;
    for (let place = 0; place < vector.length; place += 1) dot += codes[row * vector.length + place] * vector[place];
    return (lexical / (total || 1) + dense * Math.fround(dot * inverseNorms[row])) / (1 + dense);
  });
}

/** @type {WeakMap<Passage, string[][]>} */
const wordsByPassage = new WeakMap();

/**
 * Read the words of each statement of a passage, once.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @returns {string[][]}
 */
function readWords(recipe, passage) {
  let words = wordsByPassage.get(passage);
  if (!words) {
    const { blocks, language, statements, text, title } = passage;
    words = statements.map(({ kind, start, end, label }) => {
      // A statement rarely repeats its headings and its tab's or term's label.
      const above = label < 0 || kind === "label" ? [] : [text.slice(blocks[label].start, blocks[label].end)];
      return extractWords(recipe, [title, ...above, text.slice(start, end)].join("\n"), language);
    });
    wordsByPassage.set(passage, words);
  }
  return words;
}

/**
 * Draft a claim of the windows of one section, in the order of the page.
 * @param {Recipe} recipe
 * @param {SectionExcerpt[]} excerpts
 * @returns {Claim}
 */
function draftClaim(recipe, excerpts) {
  const windowOf = (/** @type {SectionExcerpt} */ { section }) => {
    return Number(recipe.selection.WINDOW_SUFFIX.exec(section.passage.id)?.[1] ?? 1);
  };
  const ordered = [...excerpts].sort((one, other) => windowOf(one) - windowOf(other));
  const text = ordered.map(({ excerpt }) => excerpt.text).join("\n…\n");
  const quotations = ordered.flatMap(({ section: { passage }, excerpt }) =>
    excerpt.ranges.map(([start, end]) => ({ passage, start, end })),
  );
  return makeClaim(recipe, text, quotations);
}
