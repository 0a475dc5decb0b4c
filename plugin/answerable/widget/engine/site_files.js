/** Fetch parts of files whose names follow from their contents, and keep them for the next questions. */

import { inflate } from "./container.js";

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
 * Bytes of a file, to its end where `end` is infinite.
 * @typedef {{url: string, start: number, end: number}} Span
 * @typedef {Span & {isKept: boolean, read: () => Promise<ArrayBuffer>}} Range that is there or on the way
 */

// One cache for all sites of an origin: what is in it is told apart by its url.
const CACHE_NAME = "answerable";
// Storage that may not be listed answers 403 for a file that is not there, and 416 tells of a shorter one.
const GONE_STATUSES = [403, 404, 410, 416];
const FETCH_MILLISECONDS = 30_000;
// Parts that lie nearer are fetched by one request: a slow link carries as much while it waits for a second one.
const GAP_BYTES = 24_000;
// With more requests than this they wait for one another, so wider gaps cost no time.
const MANY_RANGES = 6;
const WIDE_GAP_BYTES = 36_000;

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
 * Resolve a path that a file of the site names; throws where it leads out of the folder it is below.
 * @param {string} path
 * @param {string} base the url of that folder, with a slash at its end
 */
export function resolvePath(path, base) {
  const { href } = new URL(path, base);
  if (!href.startsWith(base)) throw new Error(`${path} is no path of the site`);
  return href;
}

/**
 * Join parts of files to ranges: those of a file that lie near each other to one.
 * @param {Span[]} parts
 * @param {number} gap the most bytes between two parts of a range
 */
function joinRanges(parts, gap) {
  /** @type {Span[]} */
  const ranges = [];
  for (const { url, start, end } of [...parts].sort((left, right) => left.start - right.start)) {
    const range = ranges.findLast((other) => other.url === url);
    if (range && start - range.end <= gap) range.end = Math.max(range.end, end);
    else ranges.push({ url, start, end });
  }
  return ranges;
}

/**
 * Name a range in the cache.
 * @param {Span} range
 */
function nameRange({ url, start, end }) {
  return `${url}?bytes=${start}-${end === Infinity ? "" : end - 1}`;
}

/** Read parts of files below one folder, each fetched once. */
export class SiteFiles {
  /** @type {Map<string, Promise<any>>} */
  #reads = new Map();
  /** @type {Range[]} */
  #ranges = [];
  /** @type {(Span & {resolve: (range: Range) => void})[]} */
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

  /**
   * Open the browser's cache, and list what is in it; null where there is none, as in an insecure context.
   * @param {FetchOptions} options
   */
  async #openCache(options) {
    try {
      const { caches = globalThis.caches } = options;
      const cache = await caches?.open(CACHE_NAME);
      for (const { url: key } of (await cache?.keys()) ?? []) {
        const [url, bytes] = key.split("?bytes=");
        if (!bytes || !url.startsWith(this.#folder)) continue;
        const [start, last] = bytes.split("-");
        const end = last ? Number(last) + 1 : Infinity;
        const read = async () => /** @type {Response} */ (await cache?.match(key)).arrayBuffer();
        this.#ranges.push({ url, start: Number(start), end, isKept: true, read });
      }
      return cache;
    } catch {
      // A browser may refuse it, in a frame or in a private window.
      return null;
    }
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
   * Read a part, once.
   * @template T
   * @param {Part} part
   * @param {(content: ArrayBuffer) => T} parse
   * @returns {Promise<T>}
   */
  read(part, parse) {
    const key = `${part.start} ${part.path}`;
    let read = this.#reads.get(key);
    if (!read) {
      read = this.#load(part, parse);
      this.#reads.set(key, read);
      // After an error it is fetched again.
      read.catch(() => this.#reads.delete(key));
    }
    return read;
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
    const [start, end] = part.isWhole ? [0, Infinity] : [part.start, part.start + (part.bytes ?? Infinity)];
    const range = this.#find({ url, start, end }) ?? (await this.#ask({ url, start, end }));
    let data;
    try {
      data = await range.read();
      // A server without ranges has sent the whole file.
      const compressed = new Uint8Array(data, part.start - range.start, part.bytes);
      const value = parse(await inflate(compressed, part.content));
      // A full disk is no reason to fail.
      if (!range.isKept) cache?.put(nameRange(range), new Response(data)).catch(() => {});
      range.isKept = true;
      return value;
    } catch (error) {
      this.#ranges = this.#ranges.filter((other) => other !== range);
      if (range.isKept) {
        // Damaged in the cache: the site's own file counts.
        await cache?.delete(nameRange(range)).catch(() => {});
        return this.#load(part, parse);
      }
      // Some hosts send a page instead of a file that is not there.
      throw data ? new IndexGoneError(url, `not readable (${error})`) : error;
    }
  }

  /**
   * Find a range that holds some bytes of a file.
   * @param {Span} span
   */
  #find({ url, start, end }) {
    return this.#ranges.find((range) => range.url === url && range.start <= start && end <= range.end);
  }

  /**
   * Ask for bytes of a file, together with all others that are asked for at the same time.
   * @param {Span} span
   * @returns {Promise<Range>}
   */
  #ask(span) {
    return new Promise((resolve) => {
      if (!this.#asked.length) setTimeout(() => this.#fetchAsked());
      this.#asked.push({ ...span, resolve });
    });
  }

  /** Fetch what is asked for and not on its way yet, by as few requests as its gaps allow. */
  #fetchAsked() {
    const asked = this.#asked.splice(0);
    const missing = asked.filter((span) => !this.#find(span));
    const spans = this.#sendsRanges ? missing : missing.map(({ url }) => ({ url, start: 0, end: Infinity }));
    const near = joinRanges(spans, GAP_BYTES);
    for (const span of near.length > MANY_RANGES ? joinRanges(spans, WIDE_GAP_BYTES) : near) {
      /** @type {Range} */
      const range = { ...span, isKept: false, read: () => data };
      const data = this.#fetchRange(range);
      data.catch(() => {});
      this.#ranges.push(range);
    }
    for (const { resolve, ...span } of asked) resolve(/** @type {Range} */ (this.#find(span)));
  }

  /**
   * Fetch a range. A server that does not know what a range is sends the whole file.
   * @param {Range} range
   */
  async #fetchRange(range) {
    const { url, start, end } = range;
    const headers = end === Infinity ? undefined : { Range: `bytes=${start}-${end - 1}` };
    const response = await this.#fetch(url, { headers, signal: AbortSignal.timeout(FETCH_MILLISECONDS) });
    if (GONE_STATUSES.includes(response.status)) throw new IndexGoneError(url, `HTTP ${response.status}`);
    if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
    if (response.status !== 206 && end !== Infinity) {
      this.#sendsRanges = false;
      const whole = this.#find({ url, start: 0, end: Infinity });
      Object.assign(range, { start: 0, end: Infinity });
      if (whole) {
        // Of two ranges of a file that are answered by the whole file, one is read.
        response.body?.cancel().catch(() => {});
        return whole.read();
      }
    }
    return response.arrayBuffer();
  }
}
