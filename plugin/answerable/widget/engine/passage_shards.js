/** The vectors of a shard of passages. */

/**
 * Vectors, one after the other.
 * @typedef {{codes: Int8Array, inverseNorms: Float32Array}} Vectors
 */

/**
 * Compute 1 / length of rows of codes, 0 for a row of zeros.
 * @param {Int8Array} codes
 * @param {number} dimensions
 */
export function invertRowNorms(codes, dimensions) {
  const inverses = new Float32Array(codes.length / dimensions);
  for (let row = 0; row < inverses.length; row += 1) {
    let squares = 0;
    for (let place = row * dimensions; place < (row + 1) * dimensions; place += 1) squares += codes[place] ** 2;
    // In the precision of Python's columns at each step.
    inverses[row] = squares ? 1 / Math.fround(Math.sqrt(squares)) : 0;
  }
  return inverses;
}
