/** Read the postings of terms, which `packs.py` writes in shards by the beginnings of words. */

/** @typedef {import("./container.js").Container} Container */

/**
 * The passages that hold a term, rising, and how often.
 * @typedef {Object} TermPostings
 * @property {Uint32Array} passages
 * @property {Uint32Array} counts
 */

/** @type {TermPostings} */
export const NO_POSTINGS = {
  passages: new Uint32Array(0),
  counts: new Uint32Array(0),
};

/**
 * Read the postings of a shard by term.
 * @param {Container} shard
 */
export function readPostings({ values, arrays }) {
  let start = 0;
  return new Map(
    values.terms.map((/** @type {string} */ term, /** @type {number} */ row) => {
      const end = start + arrays["postings.sizes"][row];
      const passages = Uint32Array.from(arrays["postings.gaps"].subarray(start, end));
      for (let place = 1; place < passages.length; place += 1) passages[place] += passages[place - 1];
      const counts = Uint32Array.from(arrays["postings.counts"].subarray(start, end));
      start = end;
      return [term, { passages, counts }];
    }),
  );
}
