/** Ask the site's function, and check what comes back, or ask its index in this browser. */

import { getPageLanguage, HOME } from "./strings.js";

/**
 * @typedef {Record<string, any> & { n: number, kind: "record" | "hint", url?: string, href?: string }} Citation
 *
 * An answer as `POST answer` gives it; the HTTP API tells what else it holds.
 * @typedef {Record<string, any> & { mode: string, claims: { markdown: string, citations: number[] }[],
 *   routes: { text: string, citations: number[] }[], citations: Citation[], excerpts?: Answer | null }} Answer
 *
 * A section that the search has found, with its line.
 * @typedef {{ id: string, url: string, title: string, link: string, line: string }} Place
 *
 * What site.json says; nothing of a site without one.
 * @typedef {Object} Site
 * @property {string} [bundle] id of what answers
 * @property {string[]} examples those of this page, or else of the site
 * @property {string | null} [search] null where the owner wants none
 * @property {string | null} [authors]
 * @property {string | null} [feedback] where a reader may send a question that is not answered
 * @property {boolean} [preview] of a development server
 * @property {string} [engine] path of the script that answers
 * @property {Record<string, string>} [index] what the engine opens the index by
 *
 * What answers: the index in this browser or the function.
 * @typedef {{ language?: string, signal?: AbortSignal, onStage?: (stage: string) => unknown }} Run
 * @typedef {(text: string, run?: Run) => Promise<any>} Call
 * @typedef {{ siteUrl?: string, answer: Call, search: Call, suggest: Call, readSection: Call }} Engine
 */

/** The folder of the site. */
export const ROOT = new URL("../../", HOME);

const EVENTS = "text/event-stream";
// By this name an error of the engine tells that a file is not there any more.
const GONE = "IndexGoneError";
// The time that the engine's script, places or a section may take.
const LOAD_MILLISECONDS = 30_000;

/**
 * True for a text with something in it.
 * @param {any} value
 */
function isText(value) {
  return typeof value === "string" && value.trim() !== "";
}

/** @param {any} value */
function isOptionalText(value) {
  return value == null || typeof value === "string";
}

/**
 * Throw unless a condition on an answer holds.
 * @param {unknown} condition
 */
function demand(condition) {
  if (!condition) throw new TypeError("not an answer");
}

/** The reason why a question was not answered; `code` is the wire's, an HTTP status or the box's own. */
export class Problem extends Error {
  /**
   * @param {string | number} code
   * @param {number} [seconds] to wait before another try, if the function has said so
   */
  constructor(code, seconds = NaN) {
    super(`answerable: ${code}`);
    this.code = code;
    this.seconds = seconds > 0 ? Math.min(seconds, 3600) : 30;
  }
}

/**
 * Resolve an address of an answer against this copy of the site; null for one that is not followed.
 * @param {any} address
 * @param {string} [siteUrl] where the site was built for
 */
export function resolveAddress(address, siteUrl) {
  try {
    if (!address.startsWith("/")) return /^https?:\/\//i.test(address) ? new URL(address).href : null;
    // A copy may lie below another path. The "./" keeps "//other.host" a path here.
    const { pathname } = new URL(siteUrl || "/", ROOT);
    const url = new URL(address.startsWith(pathname) ? `./${address.slice(pathname.length)}` : address, ROOT);
    return url.origin === ROOT.origin ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * Check the reply of a function, which may be anybody's. TypeError for what is no answer, or one whose mode or markers
 * its citations do not bear out.
 * @param {any} answer
 * @returns {Answer}
 */
function checkAnswer(answer) {
  const { mode, claims, routes, citations, notes, excerpts } = answer;
  /** @type {Map<number, string>} */
  const kinds = new Map();
  for (const { n, kind, title, label, url, href, quote, locator, language, date } of citations) {
    demand(Number.isInteger(n) && !kinds.has(n));
    demand(kind === "record" ? isText(title) : kind === "hint" && isText(label));
    demand([url, href, quote, locator, language, date].every(isOptionalText));
    kinds.set(n, kind);
  }
  const used = new Set();
  for (const [sentences, field, kind] of [[claims, "markdown", "record"], [routes, "text", "hint"]]) {
    for (const sentence of sentences) {
      demand(isText(sentence[field]) && sentence.citations.length > 0);
      for (const n of sentence.citations) demand(kinds.get(n) === kind && used.add(n));
    }
  }
  demand(used.size === kinds.size);
  const present = new Set(kinds.values());
  const [whole, part] = present.has("hint") ? ["supported", "related-material"] : ["partial", "not-found"];
  demand(mode === (present.has("record") ? whole : part));
  demand([answer.site_url, answer.bundle, answer.request_id].every(isOptionalText));
  demand(!answer.stored || isText(answer.question));
  // A remark that cannot be read is left out, and the answer stands.
  if (notes) answer.notes = [notes].flat().filter((note) => note && [note.to, note.word].every(isOptionalText));
  if (excerpts) checkAnswer(excerpts);
  return answer;
}

/**
 * Resolve the addresses of places, and leave out those that are not followed.
 * @param {any} rows
 * @param {string} [siteUrl]
 */
function resolvePlaces(rows, siteUrl) {
  return Object.entries(rows).flatMap(([id, { url, title, line, href }]) => {
    demand(isText(url) && isText(title) && [line, href].every(isOptionalText));
    const link = resolveAddress(href ?? url, siteUrl);
    return link ? [{ id, url, title, link, line: line ?? "" }] : [];
  });
}

/** Answers the questions of one box: the site's function or its index in this browser, never both. */
export class Answerer {
  /** @type {any} */
  #box;
  #endpoint;
  #isDefault;
  /** @type {Promise<Site> | null} */
  #site = null;

  /** @param {HTMLElement} box whose endpoint counts, else that of the page */
  constructor(box) {
    // A theme's own link stands before the one that the build has written.
    const link = [...document.querySelectorAll('link[rel~="answerable"]')].at(-1);
    const address = box.getAttribute("endpoint") ?? link?.getAttribute("href");
    this.#box = box;
    this.#endpoint = new URL(address ?? new URL("_answerable/", ROOT), document.baseURI);
    if (!this.#endpoint.pathname.endsWith("/")) this.#endpoint.pathname += "/";
    this.#isDefault = address == null;
  }

  /**
   * Fetch as the page has told the box, which may be after this class was there.
   * @type {typeof fetch}
   */
  call = (...request) => (this.#box.fetch ?? fetch)(...request);

  /** Open what answers, with all that the first question needs. */
  async open() {
    const { index, engine } = this.#isDefault ? await this.readSite() : {};
    if (!index) return this.#function;
    if (!self.DecompressionStream) throw new Problem("unsupported");
    const url = new URL(/** @type {string} */ (engine), HOME).href;
    // Whoever can write this file runs no code of another site, nor of a scheme such as data.
    if (!url.startsWith(HOME.href)) throw new Error("engine: no path of the site");
    const { openSiteIndex } = await loadEngine(url, this.#box.fetch);
    return openSiteIndex(index, HOME.href, this.call);
  }

  /** @type {Engine} It suggests nothing: its owner would pay for each key. */
  #function = {
    answer: async (question, run) => checkAnswer(await this.#request("answer", question, run)),
    search: (question, run) => this.#request("places", question, run),
    suggest: async () => ({ questions: [], places: {} }),
    readSection: (id) => this.#request(`section?${new URLSearchParams({ id })}`),
  };

  /**
   * Answer a question, or throw what `Problem` says.
   * @param {string} question
   * @param {AbortSignal} signal
   * @param {(stage: string) => unknown} onStage
   */
  async answer(question, signal, onStage) {
    for (let tries = 0; ; tries += 1) {
      try {
        const engine = await this.open();
        return await engine.answer(question, { language: getPageLanguage(), signal, onStage });
      } catch (error) {
        if (/** @type {Error} */ (error).name !== GONE) throw error;
        this.#site = null;
        if (tries > 0) throw new Problem("stale");
        // A service worker may have kept the file of an earlier build; of this address it has none.
        await this.readSite(`?${Date.now()}`);
      }
    }
  }

  /**
   * List the sections that the search finds for a question, best first.
   * @param {string} question
   * @param {string} [siteUrl] of its answer
   */
  async listPlaces(question, siteUrl) {
    const engine = await this.open();
    return resolvePlaces(await engine.search(question, { language: getPageLanguage() }), siteUrl);
  }

  /**
   * List known questions and places for what is typed so far, from the words of the index; none before `readSite`.
   * @param {string} question
   */
  async suggest(question) {
    if (!this.#site) return { questions: [], places: [] };
    const engine = await this.open();
    const { questions, places } = await engine.suggest(question, { language: getPageLanguage() });
    return { questions, places: resolvePlaces(places, engine.siteUrl) };
  }

  /**
   * Read the whole section that a passage is of, as Markdown.
   * @param {string} id
   * @returns {Promise<string>}
   */
  async readSection(id) {
    const engine = await this.open();
    const { markdown } = await engine.readSection(id);
    demand(isText(markdown));
    return markdown;
  }

  /**
   * Read site.json once.
   * @param {string} [query] of its address
   */
  async readSite(query = "") {
    /** @returns {Promise<Site>} */
    const load = async () => {
      const address = new URL(`site.json${query}`, HOME);
      const response = await this.call(address, { cache: "no-cache", signal: AbortSignal.timeout(3000) });
      // No file, no index.
      if (!response.ok && response.status !== 404) throw new Problem(response.status);
      const site = response.ok ? await response.json() : {};
      const { examples = [], page_examples: onPages = {} } = site;
      // Each language may have its own.
      const listed = Array.isArray(examples) ? examples : (examples[getPageLanguage() ?? ""] ?? []);
      return { ...site, examples: (onPages[location.pathname] ?? listed).slice(0, 3) };
    };
    const read = (this.#site ??= load());
    const site = await read.catch(() => null);
    // A file that is not there may come with the next deploy.
    if (!site?.bundle && this.#site === read) this.#site = null;
    return read;
  }

  /**
   * Read the reply of the function.
   * @param {string} path below the endpoint
   * @param {string} [question] which is posted
   * @param {Run} [run]
   */
  async #request(path, question, { language, signal = AbortSignal.timeout(LOAD_MILLISECONDS), onStage } = {}) {
    const headers = { "Content-Type": "application/json", Accept: onStage ? `${EVENTS}, application/json` : "application/json" };
    const posted = { method: "POST", headers, body: JSON.stringify({ question, language }) };
    const response = await this.call(new URL(path, this.#endpoint), { ...(question && posted), signal });
    if (!response.ok) {
      const body = await response.json().catch(() => null);
      throw new Problem(isText(body?.code) ? body.code : response.status, Number(response.headers.get("Retry-After")));
    }
    const streams = response.headers.get("Content-Type")?.startsWith(EVENTS);
    return streams && onStage ? readEvents(response, onStage) : response.json();
  }
}

/**
 * Read a stream of events until it answers.
 * @param {Response} response
 * @param {(stage: string) => unknown} onStage
 */
async function readEvents(response, onStage) {
  const body = /** @type {ReadableStream<any>} */ (response.body);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let partial = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Problem("incomplete");
    const blocks = (partial + value).split("\n\n");
    partial = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
      const data = fields.data && JSON.parse(fields.data);
      if (fields.event === "stage") onStage(data.stage);
      if (fields.event === "problem") throw new Problem(data.code ?? data.status);
      if (fields.event === "answer") return data;
    }
  }
}

/** @type {Record<string, Promise<any>>} */
const modules = {};

/**
 * Load the engine once for all boxes of the page, into a worker or else into the page; after an error it is loaded again.
 * @param {string} url of its script
 * @param {typeof fetch} [call] of the page, in place of the browser's own
 * @returns {Promise<{ openSiteIndex(index: any, base: string, call: typeof fetch): Promise<Engine> }>}
 */
function loadEngine(url, call) {
  const load = async () => {
    const gone = Object.assign(new Error(url), { name: GONE });
    // A failed import stays failed, so the script is fetched before.
    const { ok } = await (call ?? fetch)(url, { signal: AbortSignal.timeout(LOAD_MILLISECONDS) });
    if (!ok) throw gone;
    // No worker knows a function of the page. There is none of another origin, under a policy that forbids it, or in an
    // older browser.
    const started = call ? Promise.reject() : startWorker(url);
    return started.catch(() => import(url)).catch(() => Promise.reject(gone));
  };
  return (modules[url] ??= load().catch((error) => {
    delete modules[url];
    throw error;
  }));
}

/** @type {any} */
let policy;

/**
 * Run the engine's module in a worker, where its functions answer as they do in a page.
 * @param {string} url
 */
async function startWorker(url) {
  // A policy of a name is created once.
  policy ??= /** @type {any} */ (window).trustedTypes?.createPolicy("answerable", { createScriptURL: String });
  const worker = new Worker(policy?.createScriptURL(url) ?? url, { type: "module" });
  await new Promise((resolve, reject) => {
    worker.onmessage = resolve;
    worker.onerror = reject;
  });
  // Each request has a port for its stages and its result.
  const request = (/** @type {any[]} */ content, /** @type {Run} */ { signal, onStage } = {}) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data: { stage, error, result } }) => {
        if (stage) onStage?.(stage);
        else if (error) reject(Object.assign(new Error(), error));
        else resolve(result);
      };
      signal?.addEventListener("abort", () => {
        port1.postMessage("stop");
        reject(signal.reason);
      });
      worker.postMessage(content, [port2]);
    });
  return {
    async openSiteIndex(/** @type {any} */ index, /** @type {string} */ base) {
      const siteUrl = await request([index, base]);
      /** @type {(method: string) => Call} */
      const call = (method) => (text, run) => request([index, base, method, text, run?.language], run);
      const [answer, search, suggest, readSection] = ["answer", "search", "suggest", "readSection"].map(call);
      return { siteUrl, answer, search, suggest, readSection };
    },
  };
}
