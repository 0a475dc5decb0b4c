/** Open the engine over the index of a page's language, once for all ask boxes of a page, or in a worker of it. */

import { openEngine } from "./engine.js";
import { matchLanguages } from "./languages.js";

/**
 * @typedef {import("./engine.js").Engine} Engine
 * @typedef {import("./store.js").IndexEntry} IndexEntry
 */

/** @type {Map<string, Promise<Engine>>} */
const engines = new Map();

/**
 * Open the engine over a site's index; after an error it is opened again.
 * @param {Record<string, IndexEntry>} index by language tag, as site.json has it
 * @param {string | URL} base the url that its paths are relative to
 * @param {string} [language] of the page
 * @param {typeof globalThis.fetch} [fetch]
 */
export function openSiteIndex(index, base, language = "", fetch) {
  const tags = Object.keys(index);
  // A page in a language without an index, even of another variety, gets the first.
  const tag = matchLanguages(language, tags)[0] ?? tags[0];
  // The caller's may be a URL.
  const home = new URL(base).href;
  const key = home + index[tag].manifest;
  let opened = engines.get(key);
  if (!opened) {
    const others = tags.filter((each) => each !== tag).map((each) => index[each]);
    opened = openEngine(home, index[tag], { fetch, others });
    engines.set(key, opened);
    opened.catch(() => engines.delete(key));
  }
  return opened;
}

/**
 * Call a method of the engine for the page whose worker this is, or open the index and return `siteUrl`, if it names none.
 * @param {MessageEvent} event with a port, which takes the stages and the result, and asks to stop
 */
async function serveRequest({ data, ports: [port] }) {
  /** @type {[any, string, string, "answer" | "search" | "suggest" | "readSection" | undefined, string, string]} */
  const [index, base, language, method, text] = data;
  const run = new AbortController();
  const onStage = (/** @type {string} */ stage) => port.postMessage({ stage });
  port.onmessage = () => run.abort();
  try {
    const engine = await openSiteIndex(index, base, language);
    const options = { language, onStage, signal: run.signal };
    port.postMessage({ result: method ? await engine[method](text, options) : engine.siteUrl });
  } catch (error) {
    const { name, message, code } = /** @type {Error & { code?: string }} */ (error);
    port.postMessage({ error: { name, message, code } });
  }
}

if ("DedicatedWorkerGlobalScope" in globalThis) {
  globalThis.onmessage = serveRequest;
  // The page waits for it, since no script tells that it was not loaded.
  globalThis.postMessage(null);
}
