/** Fetch files whose names follow from their contents, and keep them for the next questions. */

import { unpackContainer } from "./container.js";

/** @typedef {import("./container.js").Container} Container */

/**
 * How files are fetched and kept.
 * @typedef {Object} FetchOptions
 * @property {typeof globalThis.fetch} [fetch] instead of the browser's own
 * @property {CacheStorage | null} [caches] instead of the browser's own; null keeps nothing
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
 * Wait for a promise, or throw the signal's reason. What has been begun goes on, since another
 * question may wait for it too, and the next one finds it in the cache.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} [signal]
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
 * Resolve a path that a file of the site names; throws where it leads out of the folder it is below.
 * @param {string} path
 * @param {string} base the url of that folder, with a slash at its end
 */
export function resolvePath(path, base) {
  const { href } = new URL(path, base);
  if (!href.startsWith(base)) throw new Error(`${path} is no path of the site`);
  return href;
}

/** Read files below one folder, each fetched once. */
export class SiteFiles {
  /** @type {Map<string, Promise<Container>>} */
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
  }

  /**
   * Remove from the cache what is below the folder and no longer published.
   * @param {(path: string) => boolean} isPublished
   */
  async removeStale(isPublished) {
    const cache = await this.#cache;
    for (const { url } of (await cache?.keys()) ?? []) {
      if (url.startsWith(this.#folder) && !isPublished(url.slice(this.#folder.length))) await cache?.delete(url);
    }
  }

  /**
   * Begin to read containers that will be asked for; a failure is told to whoever reads one.
   * @param {string[]} paths
   */
  prefetch(paths) {
    for (const path of paths) this.readContainer(path).catch(() => {});
  }

  /**
   * Read a container.
   * @param {string} path
   * @param {AbortSignal} [signal]
   */
  readContainer(path, signal) {
    let read = this.#reads.get(path);
    if (!read) {
      read = this.#load(resolvePath(path, this.#folder));
      this.#reads.set(path, read);
      // After an error it is fetched again.
      read.catch(() => this.#reads.delete(path));
    }
    return waitFor(read, signal);
  }

  /**
   * Load a file from the cache or the site; IndexGoneError.
   * @param {string} url
   */
  async #load(url) {
    const cache = await this.#cache;
    const cached = await cache?.match(url).catch(() => undefined);
    if (cached) {
      try {
        return await unpackContainer(await cached.arrayBuffer());
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
      value = await unpackContainer(data);
    } catch (error) {
      // Some hosts send a page instead of a file that is not there.
      throw new IndexGoneError(url, `not readable (${error})`);
    }
    // A full disk is no reason to fail.
    await cache?.put(url, new Response(data)).catch(() => {});
    return value;
  }
}
