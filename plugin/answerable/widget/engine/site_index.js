/** Open the engine over a site's index, once for all ask boxes of a page, or in a worker of it. */

import { openEngine } from "./engine.js";

/** @import { Engine } from "./engine.js" */
/** @import { IndexEntry } from "./store.js" */

/** @type {Map<string, Promise<Engine>>} */
const engines = new Map();

/**
 * Open the engine over a site's index; after an error it is opened again.
 * @param {IndexEntry} index as site.json has it
 * @param {string | URL} base the url that its paths are relative to
 * @param {typeof globalThis.fetch} [fetch]
 */
export function openSiteIndex(index, base, fetch) {
  // The caller's may be a URL.
  const home = new URL(base).href;
  const key = home + index.manifest;
  let opened = engines.get(key);
  if (!opened) {
    opened = openEngine(home, index, { fetch });
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
  /** @type {[any, string, "answer" | "search" | "suggest" | "readSection" | undefined, string, string | undefined]} */
  const [index, base, method, text, language] = data;
  const run = new AbortController();
  const onStage = (/** @type {string} */ stage) => port.postMessage({ stage });
  port.onmessage = () => run.abort();
  try {
    const engine = await openSiteIndex(index, base);
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
