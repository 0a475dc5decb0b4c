/** Unpack files of JSON values and arrays of numbers, which `container.py` packs. */

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
 * Decompress a file; throws where it is damaged.
 * @param {BodyInit} data
 */
async function inflate(data) {
  const stream = /** @type {ReadableStream} */ (new Response(data).body);
  return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

/**
 * Unpack a container; throws where it is damaged or of another format.
 * @param {BodyInit} data
 */
export async function unpackContainer(data) {
  const buffer = await inflate(data);
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
