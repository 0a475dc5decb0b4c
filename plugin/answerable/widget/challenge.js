/** Solve the proof of work that a function may want with a question: https://altcha.org/, version 2. */

/**
 * Solve a challenge of the function and send the question with the solution.
 * @param {typeof fetch} call
 * @param {URL} endpoint
 * @param {(altcha: string) => Promise<Response>} send
 * @param {AbortSignal} signal
 * @returns {Promise<Response>}
 */
export async function answerChallenge(call, endpoint, send, signal) {
  const challenge = await call(new URL("challenge", endpoint), { signal });
  return send(await solveChallenge(await challenge.json(), signal));
}

/**
 * Find the counter whose derived key begins as the challenge wants it.
 * @param {{ parameters: Record<string, any> }} challenge
 * @param {AbortSignal} signal
 * @returns {Promise<string>} what the function takes as `altcha`
 */
async function solveChallenge(challenge, signal) {
  const { cost, keyLength, keyPrefix, nonce, salt } = challenge.parameters;
  const bytes = (/** @type {string} */ hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const algorithm = { name: "PBKDF2", hash: "SHA-256", salt: bytes(salt), iterations: cost };
  const password = new Uint8Array([...bytes(nonce), 0, 0, 0, 0]);
  for (let counter = 0; ; counter += 1) {
    signal.throwIfAborted();
    new DataView(password.buffer).setUint32(password.length - 4, counter);
    const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
    const derived = new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 8 * keyLength));
    const derivedKey = Array.from(derived, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (derivedKey.startsWith(keyPrefix)) return btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } }));
  }
}
