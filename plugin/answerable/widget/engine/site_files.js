/** Fetch files of a folder whose name follows from its files, and keep them for the next questions. */

import { unpackContainer } from "./container.js";

/** @typedef {import("./container.js").Container} Container */

/**
 * How files are fetched and kept.
 * @typedef {Object} FetchOptions
 * @property {typeof globalThis.fetch} [fetch] instead of the browser's own
 * @property {CacheStorage | null} [caches] instead of the browser's own; null keeps nothing
 * @property {string[]} [keep] urls of further folders that are still published, which stay cached
 */

// One cache for all sites of an origin: what is in it is told apart by its url.
const CACHE_NAME = "answerable";
// Storage that may not be listed answers 403 for a file that is not there.
const GONE_STATUSES = [403, 404, 410];
const FETCH_MILLISECONDS = 30_000;

/** The files are not there, or are not what they should be: a newer build has replaced them. */
export class IndexGoneError extends Error {
  /**
   * @param {string} url
   * @param {string} reason
   */
  constructor(url, reason) {
    super(`${url}: ${reason}; a newer version of the site has replaced it`);
    this.name = "IndexGoneError";
  }
}

/**
 * Open the browser's cache; null where there is none, as in an insecure context.
 * @param {FetchOptions} options
 * @returns {Promise<Cache | null>}
 */
async function openCache({ caches = globalThis.caches }) {
  try {
    return caches ? await caches.open(CACHE_NAME) : null;
  } catch {
    // A browser may refuse it, in a frame or in a private window.
    return null;
  }
}

/**
 * Remove the cached files of other folders beside one: of builds that are no longer published.
 * @param {Cache} cache
 * @param {string} folder its url
 * @param {string[]} keep
 */
async function removeStale(cache, folder, keep) {
  const parent = new URL("..", folder).href;
  const current = [folder, ...keep].map((url) => new URL(url, folder).href.replace(/\/*$/, "/"));
  for (const { url } of await cache.keys()) {
    if (url.startsWith(parent) && !current.some((each) => url.startsWith(each))) await cache.delete(url);
  }
}

/**
 * Wait for a promise, or throw the signal's reason. What has been begun goes on, since another
 * question may wait for it too, and the next one finds it in the cache.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export function waitFor(promise, signal) {
  if (!signal) return promise;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/**
 * Resolve the path of a folder that a file of the site names; throws where it leads out of the folder it is below.
 * @param {string} path
 * @param {string} base the url of that folder, with a slash at its end
 * @returns {string} with a slash at its end
 */
export function resolveFolder(path, base) {
  const { href } = new URL(`${path}/`, base);
  if (!href.startsWith(base)) throw new Error(`${path} is no path of the site`);
  return href;
}

/** Read the files of one folder, each fetched once. */
export class SiteFiles {
  /** @type {Map<string, Promise<any>>} */
  #reads = new Map();
  #folder;
  #fetch;
  #cache;

  /**
   * @param {string} folder its url, absolute
   * @param {FetchOptions} [options]
   */
  constructor(folder, options = {}) {
    this.#folder = folder.replace(/\/*$/, "/");
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.#cache = openCache(options);
    // Nothing waits for it, and without it more space is taken, no more.
    this.#cache.then((cache) => cache && removeStale(cache, this.#folder, options.keep ?? [])).catch(() => {});
  }

  /**
   * Read a container.
   * @param {string} path
   * @param {AbortSignal} [signal]
   * @returns {Promise<Container>}
   */
  readContainer(path, signal) {
    return this.#read(path, unpackContainer, signal);
  }

  /**
   * Read a file of JSON.
   * @param {string} path
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  readJson(path, signal) {
    return this.#read(path, async (data) => JSON.parse(new TextDecoder().decode(data)), signal);
  }

  /**
   * Read a file once; after an error it is fetched again.
   * @param {string} path
   * @param {(data: ArrayBuffer) => Promise<any>} parse
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  #read(path, parse, signal) {
    let read = this.#reads.get(path);
    if (!read) {
      read = this.#load(this.#folder + path, parse);
      this.#reads.set(path, read);
      read.catch(() => this.#reads.delete(path));
    }
    return waitFor(read, signal);
  }

  /**
   * Load a file from the cache or the site; IndexGoneError.
   * @param {string} url
   * @param {(data: ArrayBuffer) => Promise<any>} parse
   */
  async #load(url, parse) {
    const cache = await this.#cache;
    const cached = await cache?.match(url).catch(() => undefined);
    if (cached) {
      try {
        return await parse(await cached.arrayBuffer());
      } catch {
        // Damaged in the cache: the site's own file counts.
      }
    }
    const response = await this.#fetch(url, { signal: AbortSignal.timeout(FETCH_MILLISECONDS) });
    if (GONE_STATUSES.includes(response.status)) throw new IndexGoneError(url, `HTTP ${response.status}`);
    if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
    const data = await response.arrayBuffer();
    let value;
    try {
      value = await parse(data);
    } catch (error) {
      // Some hosts send a page instead of a file that is not there.
      throw new IndexGoneError(url, `not readable (${error})`);
    }
    // A full disk is no reason to fail.
    await cache?.put(url, new Response(data)).catch(() => {});
    return value;
  }
}
