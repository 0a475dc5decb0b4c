/** Ask the site's function, and check what comes back, or ask its index in this browser. */

import { loadEngine } from "./engine.js";
import { getPageLanguage, HOME, LOAD_MILLISECONDS } from "./strings.js";

/**
 * @typedef {Record<string, any> & { n: number, kind: "record" | "hint", url?: string, href?: string }} Citation
 * @typedef {{ markdown: string, citations: number[] }} Claim
 * @typedef {{ text: string, citations: number[] }} Route
 */

/**
 * An answer as `POST answer` gives it; the HTTP API tells what else it holds.
 * @typedef {Record<string, any> & { mode: string, claims: Claim[], routes: Route[], citations: Citation[],
 *   excerpts?: Answer | null }} Answer
 */

/**
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
 */

/**
 * A section that the search has found, with its line.
 * @typedef {{ id: string, url: string, title: string, link: string, line: string }} Place
 */

/** @typedef {(stage: string) => unknown} Entered */

/** The folder of the site. */
export const ROOT = new URL("../../", HOME);

const EVENTS = "text/event-stream";
const GONE = "IndexGoneError";
const PATIENCE_SECONDS = 30;

/**
 * True for a text with something in it.
 * @param {any} value
 * @returns {value is string}
 */
export function isText(value) {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * @param {any} value
 * @returns {value is Record<string, any>}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {any} value */
export function isOptionalText(value) {
  return value == null || typeof value === "string";
}

/**
 * Throw unless a condition on an answer holds.
 * @param {boolean} condition
 */
function demand(condition) {
  if (!condition) throw new TypeError("not an answer");
}

/**
 * Decode what is percent-encoded; a text that is not stays as it is.
 * @param {string} text
 */
export function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The reason why a question was not answered; `code` is the wire's, an HTTP status or the box's own. */
export class Problem extends Error {
  /**
   * @param {string | number} code
   * @param {number} [seconds] to wait before another try
   */
  constructor(code, seconds = NaN) {
    super(`answerable: ${code}`);
    this.code = code;
    this.seconds = seconds > 0 ? Math.min(seconds, 3600) : PATIENCE_SECONDS;
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
  demand(isObject(answer) && Array.isArray(answer.citations));
  const { mode, claims, routes, citations } = answer;
  citations.forEach(checkCitation);
  /** @type {Map<number, string>} */
  const kinds = new Map(citations.map((/** @type {Citation} */ { n, kind }) => [n, kind]));
  checkSentences(claims, "markdown", "record", kinds);
  checkSentences(routes, "text", "hint", kinds);
  const used = new Set([...claims, ...routes].flatMap((sentence) => sentence.citations));
  demand(kinds.size === citations.length && kinds.size === used.size);
  const present = new Set(kinds.values());
  const [whole, part] = present.has("hint") ? ["supported", "related-material"] : ["partial", "not-found"];
  demand(mode === (present.has("record") ? whole : part));
  demand([answer.site_url, answer.bundle, answer.request_id].every(isOptionalText));
  demand(!answer.stored || isText(answer.question));
  if (answer.excerpts) checkAnswer(answer.excerpts);
  return answer;
}

/** @param {any} citation */
function checkCitation(citation) {
  demand(isObject(citation) && Number.isInteger(citation.n));
  const { kind, title, label, url, href, quote, locator, language, date } = citation;
  demand(kind === "record" ? isText(title) : kind === "hint" && isText(label));
  demand([url, href, quote, locator, language, date].every(isOptionalText));
}

/**
 * @param {any} sentences
 * @param {string} field that holds the words of each
 * @param {string} kind
 * @param {Map<number, string>} kinds
 */
function checkSentences(sentences, field, kind, kinds) {
  demand(Array.isArray(sentences));
  for (const sentence of sentences) {
    demand(isObject(sentence) && isText(sentence[field]));
    demand(Array.isArray(sentence.citations) && sentence.citations.length > 0);
    demand(sentence.citations.every((/** @type {number} */ n) => kinds.get(n) === kind));
  }
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
  endpoint;
  /** @type {Promise<Site> | null} */
  #site = null;

  /** @param {HTMLElement} box whose endpoint counts, else that of the page */
  constructor(box) {
    // A theme's own link stands before the one that the build has written.
    const link = [...document.querySelectorAll('link[rel~="answerable"]')].at(-1);
    const address = box.getAttribute("endpoint") ?? link?.getAttribute("href");
    this.#box = box;
    this.endpoint = new URL(address ?? new URL("_answerable/", ROOT), document.baseURI);
    if (!this.endpoint.pathname.endsWith("/")) this.endpoint.pathname += "/";
    this.isDefault = address == null;
  }

  /**
   * Fetch as the page has told the box, which may be after this class was there.
   * @type {typeof fetch}
   */
  call = (...request) => (this.#box.fetch ?? fetch)(...request);

  /**
   * Answer a question, or throw what `Problem` says.
   * @param {string} question
   * @param {AbortSignal} signal
   * @param {Entered} entered
   */
  async answer(question, signal, entered) {
    for (let tries = 0; ; tries += 1) {
      const site = await this.#readIndexedSite();
      if (!site) return checkAnswer(await this.#askFunction("answer", question, signal, entered));
      try {
        const engine = await this.#openEngine(site);
        const language = getPageLanguage();
        return await engine.answer(question, { language, signal, onStage: entered });
      } catch (cause) {
        const { name, code } = /** @type {{ name: string, code?: string }} */ (cause);
        if (name !== GONE) throw code ? new Problem(code) : cause;
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
    const signal = AbortSignal.timeout?.(LOAD_MILLISECONDS);
    const site = await this.#readIndexedSite();
    const rows = site
      ? await (await this.#openEngine(site)).search(question, { language: getPageLanguage(), signal })
      : await this.#askFunction("places", question, signal);
    return resolvePlaces(rows, siteUrl);
  }

  /**
   * List known questions and places for what is typed so far, from the words of the index: none where a function
   * answers, whose owner would pay for each key, and none before `readSite`.
   * @param {string} question
   * @param {AbortSignal} signal
   */
  async suggest(question, signal) {
    const site = this.isDefault ? await this.#site : null;
    if (!site?.index) return { questions: [], places: [] };
    const engine = await this.#openEngine(site);
    const { questions, places } = await engine.suggest(question, { language: getPageLanguage(), signal });
    return { questions, places: resolvePlaces(places, engine.siteUrl) };
  }

  /**
   * Read the whole section that a passage is of, as Markdown.
   * @param {string} id
   */
  async readSection(id) {
    const signal = AbortSignal.timeout?.(LOAD_MILLISECONDS);
    const site = await this.#readIndexedSite();
    const query = new URLSearchParams({ id });
    if (site) return (await (await this.#openEngine(site)).readSection(id, { signal })).markdown;
    const response = await this.call(new URL(`section?${query}`, this.endpoint), { signal });
    if (!response.ok) throw new Problem(response.status);
    const section = await response.json();
    demand(isText(section?.markdown));
    return section.markdown;
  }

  /** Load what the first question needs. */
  async prepare() {
    const site = await this.#readIndexedSite();
    if (site) await this.#openEngine(site);
  }

  /**
   * Read site.json once.
   * @param {string} [query] of its address
   */
  async readSite(query = "") {
    const read = (this.#site ??= readSite(this.call, query));
    const site = await read.catch(() => null);
    // A file that is not there may come with the next deploy.
    if (!site?.bundle && this.#site === read) this.#site = null;
    return read;
  }

  async #readIndexedSite() {
    const site = this.isDefault ? await this.readSite() : null;
    return site?.index ? site : null;
  }

  /** @param {Site} site */
  async #openEngine({ engine, index }) {
    if (!self.DecompressionStream || !AbortSignal.timeout) throw new Problem("unsupported");
    const url = new URL(/** @type {string} */ (engine), HOME).href;
    // Whoever can write this file runs no code of another site, nor of a scheme such as data.
    if (!url.startsWith(HOME.href)) throw new Error("engine: no path of the site");
    const { openSiteIndex } = await loadEngine(url, this.#box.fetch);
    return openSiteIndex(index, HOME.href, this.call);
  }

  /**
   * @param {"answer" | "places"} path
   * @param {string} question
   * @param {AbortSignal} signal
   * @param {Entered} [entered] where stages are told
   */
  async #askFunction(path, question, signal, entered) {
    const response = await this.call(new URL(path, this.endpoint), {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: entered ? `${EVENTS}, application/json` : "application/json" },
      body: JSON.stringify({ question, language: getPageLanguage() }),
      signal,
    });
    if (!response.ok) {
      const body = await response.json().catch(() => null);
      throw new Problem(isText(body?.code) ? body.code : response.status, Number(response.headers.get("Retry-After")));
    }
    const streams = response.headers.get("Content-Type")?.startsWith(EVENTS);
    return streams && entered ? readEvents(response, entered) : response.json();
  }
}

/**
 * @param {Response} response
 * @param {Entered} entered
 */
async function readEvents(response, entered) {
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
      if (fields.event === "stage") entered(data.stage);
      if (fields.event === "problem") throw new Problem(data.code ?? data.status);
      if (fields.event === "answer") return data;
    }
  }
}

/**
 * @param {typeof fetch} call
 * @param {string} query
 */
async function readSite(call, query) {
  const address = new URL(`site.json${query}`, HOME);
  const response = await call(address, { cache: "no-cache", signal: AbortSignal.timeout(3000) });
  // No file, no index.
  if (!response.ok && response.status !== 404) throw new Problem(response.status);
  const site = response.ok ? await response.json() : {};
  const { examples = [], page_examples: onPages = {} } = site;
  // Each language may have its own.
  const listed = Array.isArray(examples) ? examples : (examples[getPageLanguage() ?? ""] ?? []);
  return { ...site, examples: (onPages[location.pathname] ?? listed).slice(0, 3) };
}
