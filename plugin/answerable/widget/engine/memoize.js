/** Remember what follows from an object as long as the object exists. */

/**
 * Make a function that computes its result once for each object.
 * @template {object} K
 * @template V
 * @param {(key: K) => V} compute
 * @returns {(key: K) => V}
 */
export function memoize(compute) {
  /** @type {WeakMap<K, {result: V}>} */
  const made = new WeakMap();
  return (key) => {
    if (!made.has(key)) made.set(key, { result: compute(key) });
    return /** @type {{result: V}} */ (made.get(key)).result;
  };
}
