// Tests how the engine fetches, keeps and forgets parts of files, against a real server on loopback.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { deflateSync } from "node:zlib";
import { parseContainer } from "../../plugin/answerable/widget/engine/container.js";
import { waitFor } from "../../plugin/answerable/widget/engine/engine.js";
import { IndexGoneError, SiteFiles } from "../../plugin/answerable/widget/engine/site_files.js";

/** Make a container without arrays: the length of its header, and the header. */
function join(values) {
  const header = Buffer.from(JSON.stringify({ format: "answerable-1", arrays: [], values }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return Buffer.concat([length, header]);
}

/** Keep responses as the Cache API does, which Node lacks. */
class MemoryCache {
  entries = new Map();
  puts = [];
  async match(url) {
    return this.entries.has(url) ? new Response(this.entries.get(url)) : undefined;
  }
  put(url, response) {
    const put = response.arrayBuffer().then((data) => void this.entries.set(url, data));
    this.puts.push(put);
    return put;
  }
  async keys() {
    return [...this.entries.keys()].map((url) => ({ url }));
  }
  async delete(url) {
    return this.entries.delete(url);
  }
}

const CONTENTS = [{ name: "Harbour" }, { boats: 3 }, { noise: "" }, { boats: 7 }];
// So many bytes that nobody fetches them to spare a request.
CONTENTS[2].noise = Array.from({ length: 40_000 }, (_, place) => (place * 7919) % 104_729).join("");

let origin;
let requests;
let files;
let cache;
let speaksRange;
/** The parts of the file pack.bin. */
let parts;
const caches = { open: async () => cache };
const server = createServer(({ url, headers }, response) => {
  const asked = headers.range?.slice("bytes=".length);
  requests.push(asked ? `${url} ${asked}` : url);
  const [status, body] = files[url] ?? [404, "Not found"];
  if (!speaksRange || status !== 200) return response.writeHead(status).end(body);
  if (!asked) return response.writeHead(200).end(body);
  const [first, last] = asked.split("-").map(Number);
  if (first >= body.length) return response.writeHead(416).end();
  return response.writeHead(206).end(body.subarray(first, last + 1));
});

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  cache = new MemoryCache();
  requests = [];
  speaksRange = true;
  const streams = CONTENTS.map((values) => deflateSync(join(values)));
  files = { "/home/pack.bin": [200, Buffer.concat(streams)] };
  let start = 0;
  parts = streams.map(({ length }, place) => {
    const part = { path: "pack.bin", start, bytes: length, content: join(CONTENTS[place]).length };
    start += length;
    return part;
  });
});

const open = (options = {}) => new SiteFiles(`${origin}/home`, { caches, ...options });
const span = (first, last = first) => `${first.start}-${last.start + last.bytes - 1}`;
const settle = () => Promise.all(cache.puts);

async function readAll(site, places) {
  const read = await Promise.all(places.map((place) => site.read(parts[place], parseContainer)));
  return read.map(({ values }) => values);
}

test("parts that lie near each other are fetched together, and each once", async () => {
  const site = open();
  assert.deepEqual(await readAll(site, [0, 0, 1, 3]), [CONTENTS[0], CONTENTS[0], CONTENTS[1], CONTENTS[3]]);
  assert.deepEqual(await readAll(site, [0, 1]), CONTENTS.slice(0, 2));
  assert.deepEqual(requests, [`/home/pack.bin ${span(parts[0], parts[1])}`, `/home/pack.bin ${span(parts[3])}`]);
});

test("many parts that lie 30 kB apart are one range, and two of them are two", async () => {
  const data = deflateSync(join({ boats: 3 }));
  const step = 30_000 + data.length;
  files["/home/far.bin"] = [200, Buffer.concat(Array.from({ length: 7 }, () => Buffer.concat([data, Buffer.alloc(30_000)])))];
  parts = Array.from({ length: 7 }, (_, place) => ({ ...parts[0], path: "far.bin", start: place * step, bytes: data.length }));
  parts = parts.map((part) => ({ ...part, content: join({ boats: 3 }).length }));
  await readAll(open(), [0, 1]);
  assert.equal(requests.length, 2);
  [cache, requests] = [new MemoryCache(), []];
  await readAll(open(), [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(requests.length, 1);
});

test("a server without ranges sends the whole file, which serves all later parts", async () => {
  speaksRange = false;
  const site = open();
  const readBody = Response.prototype.arrayBuffer;
  let bodies = 0;
  Response.prototype.arrayBuffer = function () {
    bodies += Number(this.url !== "");
    return readBody.call(this);
  };
  try {
    assert.deepEqual(await readAll(site, [0, 3]), [CONTENTS[0], CONTENTS[3]]);
  } finally {
    Response.prototype.arrayBuffer = readBody;
  }
  // Two ranges were asked for before it was known; the whole file is read once.
  assert.deepEqual([requests.splice(0, 2).length, bodies], [2, 1]);
  assert.deepEqual(await readAll(site, [1, 2]), [CONTENTS[1], CONTENTS[2]]);
  assert.deepEqual(requests, []);
  files["/home/other.bin"] = files["/home/pack.bin"];
  parts = parts.map((part) => ({ ...part, path: "other.bin" }));
  assert.deepEqual(await readAll(site, [0, 3]), [CONTENTS[0], CONTENTS[3]]);
  // It is not asked for a range again.
  assert.deepEqual(requests, ["/home/other.bin"]);
});

test("a file that is needed as a whole is fetched as a whole", async () => {
  const site = open();
  assert.deepEqual((await site.read({ ...parts[0], isWhole: true }, parseContainer)).values, CONTENTS[0]);
  assert.deepEqual(await readAll(site, [1, 3]), [CONTENTS[1], CONTENTS[3]]);
  assert.deepEqual(requests, ["/home/pack.bin"]);
});

test("the next page reads from the cache, without a request", async () => {
  for (const isRanged of [true, false]) {
    speaksRange = isRanged;
    cache = new MemoryCache();
    await readAll(open(), [0, 1, 3]);
    await settle();
    requests = [];
    assert.deepEqual(await readAll(open(), [3, 1]), [CONTENTS[3], CONTENTS[1]]);
    assert.deepEqual(requests, []);
  }
});

test("where nothing can be cached, files are fetched all the same", async () => {
  const refusing = { open: async () => Promise.reject(new Error("private window")) };
  for (const none of [null, refusing]) {
    requests = [];
    assert.deepEqual(await readAll(open({ caches: none }), [1]), [CONTENTS[1]]);
    assert.equal(requests.length, 1);
  }
});

test("a range that is damaged in the cache is fetched and replaced", async () => {
  const key = `${origin}/home/pack.bin?bytes=${span(parts[1])}`;
  cache.entries.set(key, Buffer.from("damaged"));
  assert.deepEqual(await readAll(open(), [1]), [CONTENTS[1]]);
  await settle();
  assert.deepEqual(requests, [`/home/pack.bin ${span(parts[1])}`]);
  const { start, bytes } = parts[1];
  assert.deepEqual(Buffer.from(cache.entries.get(key)), files["/home/pack.bin"][1].subarray(start, start + bytes));
});

async function isGone(read) {
  await assert.rejects(read, (error) => {
    assert.ok(error instanceof IndexGoneError, error.stack);
    assert.match(error.message, /newer version of the site/);
    return true;
  });
}

test("a file that is gone, is a page instead or was changed tells that the index was replaced", async () => {
  const [, whole] = files["/home/pack.bin"];
  const turned = Buffer.from(whole);
  turned[parts[1].start + parts[1].bytes - 6] ^= 1;
  const page = Buffer.from("<!doctype html><title>Not found</title>");
  // Storage that may not be listed answers 403.
  const changes = [
    [404, "Not found"], [410, ""], [403, ""], [200, page], [200, turned],
    [200, whole.subarray(0, parts[1].start + 20)], [200, whole.subarray(0, 5)],
  ];
  for (const isRanged of [true, false]) {
    speaksRange = isRanged;
    for (const change of changes) {
      files["/home/pack.bin"] = change;
      await isGone(open().read(parts[1], parseContainer));
    }
  }
  await settle();
  assert.equal(cache.entries.size, 0);
});

test("no part takes more memory than its manifest says", async () => {
  files["/home/pack.bin"] = [200, deflateSync(Buffer.alloc(50_000_000))];
  const part = { path: "pack.bin", start: 0, bytes: files["/home/pack.bin"][1].length, content: 1000 };
  await assert.rejects(open().read(part, parseContainer), (error) => error instanceof IndexGoneError && /more than 1000 bytes/.test(error.message));
});

test("after an error of the server a file is fetched again", async () => {
  const site = open();
  const pack = files["/home/pack.bin"];
  files["/home/pack.bin"] = [503, ""];
  await assert.rejects(site.read(parts[0], parseContainer), (error) => !(error instanceof IndexGoneError) && /HTTP 503/.test(error.message));
  files["/home/pack.bin"] = pack;
  assert.deepEqual(await readAll(site, [0]), [CONTENTS[0]]);
});

test("files of builds that are no longer published leave the cache, and others stay", async () => {
  const kept = ["index/en/core-1.bin?bytes=0-", "model/a/rows-00.bin?bytes=5-9"].map((path) => `${origin}/home/${path}`);
  kept.push(`${origin}/elsewhere/core.bin`);
  for (const url of [...kept, `${origin}/home/index/en/core-0.bin?bytes=0-`]) cache.entries.set(url, Buffer.from(""));
  await open().removeStale((path) => path.startsWith("model/a/") || path === "index/en/core-1.bin");
  assert.deepEqual([...cache.entries.keys()], kept);
  await open({ caches: null }).removeStale(() => false);
});

test("who stops waiting gets the reason, and the file arrives for the next", async () => {
  const site = open();
  const stop = new AbortController();
  const waiting = waitFor(site.read(parts[0], parseContainer), stop.signal);
  stop.abort(new Error("stopped"));
  await assert.rejects(waiting, /stopped/);
  assert.deepEqual(await readAll(site, [0]), [CONTENTS[0]]);
  assert.equal(requests.length, 1);
  await assert.rejects(async () => waitFor(Promise.resolve(1), AbortSignal.abort(new Error("before"))), /before/);
});
