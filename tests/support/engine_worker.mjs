// Calls functions of the engine's modules for a test: a line of JSON in, a line of JSON out.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
// What a test has named: stores, results of earlier calls.
const named = new Map();

function resolve(value) {
  if (Array.isArray(value)) return value.map(resolve);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.$ === "string") return named.get(value.$);
  if (Array.isArray(value.$floats)) return Float32Array.from(value.$floats);
  if (typeof value.$bytes === "string") return new Uint8Array(Buffer.from(value.$bytes, "base64"));
  if (typeof value.$pattern === "string") return new RegExp(value.$pattern, "u");
  if (Array.isArray(value.$set)) return new Set(value.$set);
  if (Array.isArray(value.$map)) return new Map(value.$map.map(resolve));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolve(each)]));
}

function plain(value) {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [key, plain(each)]));
  if (value instanceof Set || ArrayBuffer.isView(value)) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if (value === undefined) return null;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

async function answer({ module, object, call, args = [], as }) {
  if (as && !call) return void named.set(as, resolve(args[0]));
  if (object) {
    const target = named.get(object);
    return plain(typeof target[call] === "function" ? await target[call](...args.map(resolve)) : target[call]);
  }
  const { [call]: method } = await import(pathToFileURL(`${folder}/${module}.js`).href);
  const result = await method(...args.map(resolve));
  if (!as) return plain(result);
  named.set(as, result);
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = { result: (await answer(JSON.parse(line))) ?? null };
  } catch (error) {
    reply = { error: error.stack ?? String(error) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
