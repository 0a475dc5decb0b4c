/** Answer a question in the reader's browser or refuse: retrieve, select evidence, draft and check. */

import { findLine, ratePassages } from "./keyless.js";
import { openLocalEmbedder } from "./local_embedder.js";
import { cleanQuestion, findQuestionProblem, QuestionReader } from "./question.js";
import { listSections, retrieve } from "./retrieve.js";
import { RULES } from "./rules.js";
import { SiteFiles } from "./site_files.js";
import { openStore } from "./store.js";
import { recallAnswer } from "./stored_answers.js";
import { findSuggestions, loadSuggestionIndex } from "./suggestions.js";
import { extractWords } from "./tokenization.js";
import { citeRange, readPassage } from "./units.js";
import { addAbsoluteUrl, serializeAnswer } from "./wire.js";

/** @import { QuestionReading } from "./question.js" */
/** @import { RetrievalResult } from "./retrieve.js" */
/** @import { FetchOptions } from "./site_files.js" */
/** @import { IndexEntry, Passage, Store } from "./store.js" */
/** @import { Reply } from "./wire.js" */

/**
 * @typedef {Awaited<ReturnType<typeof openLocalEmbedder>>} LocalEmbedder
 * @typedef {"embedding" | "searching" | "writing" | "checking"} Stage
 *
 * @typedef {Object} AnswerOptions
 * @property {string | null} [language] a tag whose passages go before all others
 * @property {(stage: Stage) => void} [onStage]
 * @property {AbortSignal} [signal]
 */

/**
 * Open the engine of an index.
 *
 * IndexGoneError where a newer build has replaced it.
 * @param {string} base the url that the paths of the index are relative to
 * @param {IndexEntry} entry
 * @param {FetchOptions} [options]
 */
export async function openEngine(base, entry, options) {
  const files = new SiteFiles(base, options);
  const [store, embedder] = await Promise.all([openStore(files, entry), openLocalEmbedder(files, entry.model)]);
  const current = [`${entry.model}/`, ...store.paths];
  // Nothing waits for it, and without it more space is taken, no more.
  files.removeStale((path) => current.some((start) => path.startsWith(start))).catch(() => {});
  return new Engine(store, embedder);
}

/**
 * Wait for a promise, or throw the signal's reason. What has been begun goes on, since another
 * question may wait for it too, and the next one finds it in the cache.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} [signal]
 */
export function waitFor(promise, signal) {
  if (!signal) return promise;
  signal.throwIfAborted();
  const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  return Promise.race([promise, aborted]);
}

/** Answer questions from a store. */
export class Engine {
  /** @type {Promise<import("./suggestions.js").SuggestionIndex> | undefined} */
  #suggestions;

  /**
   * @param {Store} store
   * @param {LocalEmbedder} embedder
   */
  constructor(store, embedder) {
    this.store = store;
    this.embedder = embedder;
    this.reader = new QuestionReader(store, (word) => embedder.wordRank(word));
  }

  /**
   * Answer a question with the body that a function would send; an error with a `code` says what is wrong with it.
   * @param {string} question
   * @param {AnswerOptions} [options]
   */
  async answer(question, options = {}) {
    options.signal?.throwIfAborted();
    return waitFor(this.#answer(question, options), options.signal);
  }

  /**
   * @param {string} question
   * @param {AnswerOptions} options
   */
  async #answer(question, { language = null, onStage, signal }) {
    const begin = (/** @type {Stage} */ stage) => {
      signal?.throwIfAborted();
      onStage?.(stage);
    };
    const retrieved = await this.#retrieve(question, language, begin);
    const { reading } = retrieved;
    const recalled = recallAnswer(this.store, reading.question);
    const [drafted, stored] = await Promise.all([this.#answerFrom(retrieved, begin), recalled]);
    const reply = stored ? { ...stored, excerpts: drafted.reason ? null : drafted } : drafted;
    return serializeAnswer(reply, this.store, reading.remarks);
  }

  /**
   * Search for the sections nearest to a question, near misses among them: places to look, never evidence.
   *
   * Words that the site does not have lower no section, as they lower an answer.
   * @param {string} question
   * @param {AnswerOptions} [options]
   */
  async search(question, { language = null, signal } = {}) {
    const retrieve = (/** @type {number} */ near) =>
      this.#retrieve(question, language, () => signal?.throwIfAborted(), "search", near);
    let retrieved = await retrieve(0);
    // Near misses may lie in files that the answer needed not.
    let sections = await listSections(this.store, retrieved);
    if (sections.length < RULES.retrieve.TOP_K) {
      retrieved = await retrieve(RULES.sections.POOL_SIZE);
      sections = await listSections(this.store, retrieved);
    }
    return this.#describePlaces(sections, retrieved.reading);
  }

  /**
   * Suggest questions that the site is known to answer, and places, while a question is typed.
   *
   * Places are searched by words alone, so that no vectors are loaded: as `search` does with all cosines 0, which no
   * floor is meant for.
   * @param {string} question
   * @param {AnswerOptions} [options]
   */
  async suggest(question, { language = null } = {}) {
    const { store } = this;
    if (store.questionKeys.length) this.#suggestions ??= loadSuggestionIndex(store);
    // What could not be loaded is asked for again by the next key.
    const forget = () => (this.#suggestions = undefined);
    const [index, retrieved] = await Promise.all([
      this.#suggestions?.catch(forget),
      this.#retrieve(await this.#completeLastWord(question), language, () => {}, "typing"),
    ]);
    const questions = index ? findSuggestions(store, index, cleanQuestion(question)) : [];
    return { questions, places: this.#describePlaces(await listSections(store, retrieved), retrieved.reading) };
  }

  /**
   * Put in the place of a last word that is not whole yet the site's most frequent words that begin with it.
   * @param {string} question
   */
  async #completeLastWord(question) {
    const { store } = this;
    const [begun = ""] = question.match(/[\p{L}\p{M}\p{N}]+$/u) ?? [];
    const word = begun.toLowerCase();
    if (!word) return question;
    await store.loadTerms([word]);
    const indexes = store.site.tags.map((tag) => store.formsNear(word, tag).termsByForm);
    if (indexes.some((terms) => terms.has(word))) return question;
    const terms = new Set(indexes.flatMap((forms) => [...forms].filter(([form]) => form.startsWith(word)).map(([, term]) => term)));
    const count = (/** @type {string} */ term) => store.postings(term).passages.length;
    const completed = [...terms].sort((left, right) => count(right) - count(left)).slice(0, 3);
    return completed.length ? question.slice(0, -begun.length) + completed.join(" ") : question;
  }

  /** The address that the site was built for, if it has one. */
  get siteUrl() {
    return this.store.site.url ?? undefined;
  }

  /**
   * @param {Passage[]} sections
   * @param {QuestionReading} reading for the line of each
   */
  #describePlaces(sections, reading) {
    const places = sections.map((passage) => {
      const { id, url, title, quote: line, href } = citeRange(passage, findLine(passage, reading));
      return [id, addAbsoluteUrl({ url, title, line, href }, this.store.site.url)];
    });
    return Object.fromEntries(places);
  }

  /**
   * Read the whole section of a passage, as a function sends it; null if nothing has that id.
   * @param {string} id
   */
  async readSection(id) {
    const { passageIds, passageTitles, passageUrls } = this.store;
    const row = passageIds.indexOf(id);
    if (row < 0) return null;
    const url = passageUrls[row];
    const windows = await this.store.loadPassages([...passageUrls.keys()].filter((other) => passageUrls[other] === url));
    return { url, title: passageTitles[row], markdown: windows.map(({ markdown }) => markdown).join("\n\n") };
  }

  /**
   * Retrieve a pool of passages; nothing is embedded without content terms.
   * @param {string} asked
   * @param {string | null} language
   * @param {(stage: Stage) => void} begin
   * @param {"answer" | "search" | "typing"} [purpose] where nothing is asked yet, words alone find passages, so many that
   *   there are enough sections among them
   * @param {number} [near]
   */
  async #retrieve(asked, language, begin, purpose = "answer", near = 0) {
    const { embedder, store } = this;
    const { POOL_SIZE } = RULES.sections;
    const isTyped = purpose === "typing";
    const question = cleanQuestion(asked);
    const problem = findQuestionProblem(question);
    if (problem) throw Object.assign(new Error(problem), { code: "bad-request" });
    await embedder.loadPieces(question);
    // What is certain to be read is asked for at once; a failure is told where it is read.
    const words = store.site.tags.flatMap((tag) => extractWords(question, tag));
    // So few vectors that none is estimated are all read.
    if (!isTyped && store.passageIds.length <= RULES.vectors.FEW_PASSAGES) store.prefetch("codes", [...store.passageIds.keys()]);
    for (const read of [isTyped ? null : embedder.embed(question), store.loadTerms(words)]) read?.catch(() => {});
    const whole = await this.reader.read(question);
    const reading = purpose === "answer" ? whole : this.reader.dropUnknownWords(whole);
    const count = POOL_SIZE * RULES.retrieve.TOP_K;
    if (isTyped || !reading.terms.size) return retrieve(store, reading, null, count, language, count);
    begin("embedding");
    const vector = await embedder.embed(reading.question);
    begin("searching");
    return retrieve(store, reading, vector, POOL_SIZE, language, near);
  }

  /**
   * Answer a question from a pool that it has retrieved.
   * @param {RetrievalResult} retrieved
   * @param {(stage: Stage) => void} begin
   * @returns {Promise<Reply>}
   */
  async #answerFrom({ answers, reading }, begin) {
    const { store } = this;
    if (!answers.length) return { claims: [], confidence: "low", reason: "no-evidence" };
    begin("writing");
    const passages = await store.loadPassages(answers.slice(0, RULES.extractive.MAX_PASSAGES).map(({ row }) => row));
    begin("checking");
    const claims = passages.map((passage) => {
      const citation = citeRange(passage, findLine(passage, reading));
      return { text: readPassage(passage).text, markdown: passage.markdown, citations: [citation] };
    });
    return { claims, confidence: ratePassages(store, reading, answers), reason: null };
  }
}
