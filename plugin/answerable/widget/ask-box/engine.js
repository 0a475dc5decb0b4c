/** Load the engine that answers in this browser: into a worker, else into the page itself. */

import { LOAD_MILLISECONDS } from "./strings.js";

/** Tells by its name that an engine is not there any more, as the engine tells it of an index. */
const GONE = Object.assign(new Error(), { name: "IndexGoneError" });

/**
 * @typedef {Object} AnswerOptions
 * @property {string} [language] of the page
 * @property {AbortSignal} signal
 * @property {(stage: string) => unknown} [onStage]
 *
 * @typedef {(text: string, options: AnswerOptions) => Promise<any>} Call
 *
 * @typedef {{ siteUrl?: string, answer: Call, search: Call, suggest: Call, readSection: Call }} Engine
 *
 * @typedef {Object} EngineModule
 * @property {(index: any, base: string, call?: typeof fetch) => Promise<Engine>} openSiteIndex
 */

/** @type {Record<string, Promise<EngineModule>>} */
const modules = {};
/** @type {any} */
let policy;

/**
 * Load the engine once for all boxes of the page; after an error it is loaded again.
 * @param {string} url of its script
 * @param {typeof fetch} [call] of the page, in place of the browser's own
 */
export function loadEngine(url, call) {
  return (modules[url] ??= load(url, call).catch((error) => {
    delete modules[url];
    throw error;
  }));
}

/**
 * @param {string} url
 * @param {typeof fetch} [call]
 */
async function load(url, call) {
  // A failed import stays failed, so the script is fetched before.
  const { ok } = await (call ?? fetch)(url, { signal: AbortSignal.timeout(LOAD_MILLISECONDS) });
  if (!ok) throw GONE;
  // No worker knows a function of the page. There is none of another origin, under a policy that forbids it, or in an
  // older browser.
  const started = call ? Promise.reject() : startWorker(url);
  return started.catch(() => import(url)).catch(() => Promise.reject(GONE));
}

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
  return {
    async openSiteIndex(/** @type {any} */ index, /** @type {string} */ base) {
      const place = [index, base];
      const siteUrl = await request(worker, place);
      /** @type {(method: string) => Call} */
      const call = (method) => (text, run) => request(worker, [...place, method, text, run?.language], run);
      const [answer, search, suggest, readSection] = ["answer", "search", "suggest", "readSection"].map(call);
      return { siteUrl, answer, search, suggest, readSection };
    },
  };
}

/**
 * Send a request to the worker, with a port for its stages and its result.
 * @param {Worker} worker
 * @param {any[]} content
 * @param {Partial<AnswerOptions>} [run]
 */
function request(worker, content, { signal, onStage } = {}) {
  return new Promise((resolve, reject) => {
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
}
