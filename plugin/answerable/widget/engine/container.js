/** Unpack files of JSON values and arrays of numbers, which `format.py` packs. */

const FORMAT = "answerable-1";
const ALIGNMENT = 8;

const ARRAY_TYPES = { Int8Array, Uint8Array, Uint16Array, Uint32Array, Float32Array };

/**
 * JSON values by name, and arrays of numbers by name.
 * @typedef {Object} Container
 * @property {Record<string, any>} values
 * @property {Record<string, any>} arrays typed arrays, of the types that the Python side gave them
 */

/**
 * Decompress data; throws if it is damaged or would have more than `most` bytes.
 * @param {BodyInit} data
 * @param {number} most
 * @returns {Promise<ArrayBuffer>}
 */
export async function inflate(data, most) {
  const stream = /** @type {ReadableStream} */ (new Response(data).body);
  let length = 0;
  const bounded = new TransformStream({
    transform(bytes, controller) {
      length += bytes.length;
      if (length > most) throw new Error(`more than ${most} bytes`);
      controller.enqueue(bytes);
    },
  });
  return new Response(stream.pipeThrough(new DecompressionStream("deflate")).pipeThrough(bounded)).arrayBuffer();
}

/**
 * Parse the bytes of a container; throws where they are damaged or of another format.
 * @param {ArrayBuffer} buffer
 * @returns {Container}
 */
export function parseContainer(buffer) {
  const start = Uint32Array.BYTES_PER_ELEMENT;
  let end = start + new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, start, end - start)));
  if (header.format !== FORMAT) throw new Error(`an unknown format: ${header.format}`);
  /** @type {Record<string, any>} */
  const arrays = {};
  for (const [name, type, count] of header.arrays) {
    end += -end & (ALIGNMENT - 1);
    const array = new ARRAY_TYPES[/** @type {keyof typeof ARRAY_TYPES} */ (type)](buffer, end, count);
    arrays[name] = array;
    end += array.byteLength;
  }
  if (end !== buffer.byteLength) throw new Error(`${buffer.byteLength} bytes instead of ${end}`);
  return { values: header.values, arrays };
}
