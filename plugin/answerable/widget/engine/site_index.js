/** Open the engine over the index of a page's language, once for all ask boxes of a page, or in a worker of it. */

import { openEngine } from "./engine.js";
import { matchLanguages } from "./languages.js";
import { resolveFolder } from "./site_files.js";

/** @typedef {import("./engine.js").Engine} Engine */

/** @type {Map<string, Promise<Engine>>} */
const engines = new Map();

/**
 * Open the engine over a site's index; after an error it is opened again.
 * @param {string | Record<string, string>} index its folder, or one for each language tag, as site.json has it
 * @param {string} base the url that folders are relative to
 * @param {string} [language] of the page
 * @param {typeof globalThis.fetch} [fetch]
 * @returns {Promise<Engine>}
 */
export function openSiteIndex(index, base, language = "", fetch) {
  const folders = typeof index === "string" ? { "": index } : index;
  const home = new URL(base).href;
  const [url, ...keep] = [chooseFolder(folders, language), ...Object.values(folders)].map((folder) =>
    resolveFolder(folder, home),
  );
  let opened = engines.get(url);
  if (!opened) {
    opened = openEngine(url, { fetch, keep });
    engines.set(url, opened);
    opened.catch(() => engines.delete(url));
  }
  return opened;
}

/**
 * Choose the folder of a language, else of another variety of it, else the first.
 * @param {Record<string, string>} folders
 * @param {string} language
 * @returns {string}
 */
function chooseFolder(folders, language) {
  const tags = Object.keys(folders);
  return folders[matchLanguages(language, tags)[0] ?? tags[0]];
}

/**
 * Answer a request of the page whose worker this is, or only open the index, if it has no question.
 * @param {MessageEvent} event with a port, which takes the stages and the answer, and asks to stop
 */
async function serveRequest({ data, ports: [port] }) {
  const [index, base, language, question, requestId] = data;
  const run = new AbortController();
  const onStage = (/** @type {string} */ stage) => port.postMessage({ stage });
  port.onmessage = () => run.abort();
  try {
    const engine = await openSiteIndex(index, base, language);
    const options = { language, onStage, requestId, signal: run.signal };
    port.postMessage({ answer: question && (await engine.answer(question, options)) });
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
