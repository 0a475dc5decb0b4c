/** Fetch parts of files whose names follow from their contents, and keep them for the next questions. */

import { inflate, parseContainer } from "./container.js";

/**
 * How files are fetched and kept.
 * @typedef {Object} FetchOptions
 * @property {typeof globalThis.fetch} [fetch] instead of the browser's own
 * @property {CacheStorage | null} [caches] instead of the browser's own; null keeps nothing
 */

/**
 * Compressed data in a file.
 * @typedef {Object} Part
 * @property {string} path
 * @property {number} start
 * @property {number} [bytes] else all up to the end
 * @property {number} content the most bytes that it may have when it is decompressed
 * @property {boolean} [isWhole] the whole file is fetched, since all of it is needed
 */

/**
 * Bytes of a file that are there or on the way; to its end where `end` is infinite.
 * @typedef {{url: string, start: number, end: number, isKept: boolean, read: () => Promise<ArrayBuffer>}} Range
 */

// One cache for all sites of an origin: what is in it is told apart by its url.
const CACHE_NAME = "answerable";
// Storage that may not be listed answers 403 for a file that is not there, and 416 tells of a shorter one.
const GONE_STATUSES = [403, 404, 410, 416];
const FETCH_MILLISECONDS = 30_000;
// Parts that lie nearer are fetched by one request: a slow link carries as much while it waits for a second one.
const GAP_BYTES = 24_000;

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

/** Read parts of files below one folder, each fetched once. */
export class SiteFiles {
  /** @type {Map<string, Promise<any>>} */
  #reads = new Map();
  /** @type {Range[]} */
  #ranges = [];
  /** @type {{url: string, start: number, end: number, resolve: (range: Range) => void}[]} */
  #asked = [];
  #folder;
  #fetch;
  #cache;
  #sendsRanges = true;

  /**
   * @param {string} folder its url, absolute
   * @param {FetchOptions} [options]
   */
  constructor(folder, options = {}) {
    this.#folder = folder.replace(/\/*$/, "/");
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.#cache = this.#openCache(options);
  }

  /** @param {FetchOptions} options */
  async #openCache(options) {
    const cache = await openCache(options);
    for (const { url: key } of (await cache?.keys()) ?? []) {
      const [url, bytes] = key.split("?bytes=");
      if (!bytes || !url.startsWith(this.#folder)) continue;
      const [start, last] = bytes.split("-");
      const end = last ? Number(last) + 1 : Infinity;
      const read = async () => /** @type {Response} */ (await cache?.match(key)).arrayBuffer();
      this.#ranges.push({ url, start: Number(start), end, isKept: true, read });
    }
    return cache;
  }

  /**
   * Remove from the cache what is below the folder and no longer published.
   * @param {(path: string) => boolean} isPublished
   */
  async removeStale(isPublished) {
    const cache = await this.#cache;
    for (const { url } of (await cache?.keys()) ?? []) {
      const [file] = url.split("?");
      if (file.startsWith(this.#folder) && !isPublished(file.slice(this.#folder.length))) await cache?.delete(url);
    }
  }

  /**
   * Begin to read parts that will be asked for; a failure is told to whoever reads one.
   * @param {Part[]} parts
   */
  prefetch(parts) {
    for (const part of parts) this.read(part).catch(() => {});
  }

  /**
   * Read a part, which is a container.
   * @template [T=import("./container.js").Container]
   * @param {Part} part
   * @param {AbortSignal} [signal]
   * @param {(content: ArrayBuffer) => T} [parse] where it is none
   * @returns {Promise<T>}
   */
  read(part, signal, parse = /** @type {any} */ (parseContainer)) {
    const key = `${part.start} ${part.path}`;
    let read = this.#reads.get(key);
    if (!read) {
      read = this.#load(part, parse);
      this.#reads.set(key, read);
      // After an error it is fetched again.
      read.catch(() => this.#reads.delete(key));
    }
    return waitFor(read, signal);
  }

  /**
   * Load a part from the cache or the site; IndexGoneError.
   * @param {Part} part
   * @param {(content: ArrayBuffer) => any} parse
   * @returns {Promise<any>}
   */
  async #load(part, parse) {
    const cache = await this.#cache;
    const url = resolvePath(part.path, this.#folder);
    const [first, end] = part.isWhole ? [0, Infinity] : [part.start, part.start + (part.bytes ?? Infinity)];
    const range = this.#find(url, first, end) ?? (await this.#ask(url, first, end));
    // Of the whole file, where the server has sent that.
    const nameRange = () => `${url}?bytes=${range.start}-${range.end === Infinity ? "" : range.end - 1}`;
    try {
      const data = await range.read();
      const compressed = new Uint8Array(data, part.start - range.start, part.bytes);
      const value = parse(await inflate(compressed, part.content));
      // A full disk is no reason to fail.
      if (!range.isKept) cache?.put(nameRange(), new Response(data)).catch(() => {});
      range.isKept = true;
      return value;
    } catch (error) {
      this.#ranges = this.#ranges.filter((other) => other !== range);
      if (range.isKept) {
        // Damaged in the cache: the site's own file counts.
        await cache?.delete(nameRange()).catch(() => {});
        return this.#load(part, parse);
      }
      if (error instanceof FetchError) throw error.reason;
      // Some hosts send a page instead of a file that is not there.
      throw new IndexGoneError(url, `not readable (${error})`);
    }
  }

  /**
   * Find a range that holds some bytes of a file.
   * @param {string} url
   * @param {number} start
   * @param {number} end
   */
  #find(url, start, end) {
    return this.#ranges.find((range) => range.url === url && range.start <= start && end <= range.end);
  }

  /**
   * Ask for bytes of a file, together with all others that are asked for at the same time.
   * @param {string} url
   * @param {number} start
   * @param {number} end
   * @returns {Promise<Range>}
   */
  #ask(url, start, end) {
    return new Promise((resolve) => {
      if (!this.#asked.length) setTimeout(() => this.#fetchAsked());
      this.#asked.push({ url, start, end, resolve });
    });
  }

  /** Fetch what has been asked for: one range for what lies near each other. */
  #fetchAsked() {
    const asked = this.#asked.splice(0);
    const order = (/** @type {string} */ left, /** @type {string} */ right) => (left < right ? -1 : Number(left > right));
    asked.sort((left, right) => order(left.url, right.url) || left.start - right.start);
    /** @type {Range | undefined} */
    let range;
    for (const { url, start, end, resolve } of asked) {
      if (range?.url !== url || start - range.end > GAP_BYTES) {
        const opened = this.#sendsRanges ? { url, start, end } : { url, start: 0, end: Infinity };
        range = this.#openRange(opened);
      }
      range.end = Math.max(range.end, end);
      resolve(range);
    }
  }

  /**
   * Open a range, which is fetched after all that is asked for has been added to it.
   * @param {{url: string, start: number, end: number}} place
   */
  #openRange(place) {
    /** @type {Range} */
    const range = { ...place, isKept: false, read: () => data };
    const data = Promise.resolve().then(() => this.#fetchRange(range));
    data.catch(() => {});
    this.#ranges.push(range);
    return range;
  }

  /**
   * Fetch a range; FetchError. A server that does not know what a range is sends the whole file.
   * @param {Range} range
   */
  async #fetchRange(range) {
    const { url, start, end } = range;
    try {
      const headers = end === Infinity ? undefined : { Range: `bytes=${start}-${end - 1}` };
      const response = await this.#fetch(url, { headers, signal: AbortSignal.timeout(FETCH_MILLISECONDS) });
      if (GONE_STATUSES.includes(response.status)) throw new IndexGoneError(url, `HTTP ${response.status}`);
      if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
      if (response.status === 206 || end === Infinity) return await response.arrayBuffer();
      this.#sendsRanges = false;
      const whole = this.#find(url, 0, Infinity);
      Object.assign(range, { start: 0, end: Infinity });
      if (!whole) return await response.arrayBuffer();
      // Another range of the same file is answered by the whole as well.
      response.body?.cancel().catch(() => {});
      return await whole.read();
    } catch (error) {
      throw error instanceof FetchError ? error : new FetchError(error);
    }
  }
}

/** A file was not fetched, for a reason that says nothing of its contents. */
class FetchError extends Error {
  /** @param {unknown} reason */
  constructor(reason) {
    super();
    this.reason = reason;
  }
}
