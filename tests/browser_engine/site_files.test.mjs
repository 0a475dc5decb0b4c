// Tests how the engine fetches, keeps and forgets files, against a real server on loopback.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { deflateSync } from "node:zlib";
import { IndexGoneError, SiteFiles, waitFor } from "../../plugin/answerable/widget/engine/site_files.js";

/** Make a container without arrays: the length of its header, and the header. */
function pack(values) {
  const header = Buffer.from(JSON.stringify({ format: "answerable-1", arrays: [], values }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  return deflateSync(Buffer.concat([length, header]));
}

/** Keep responses as the Cache API does, which Node lacks. */
class MemoryCache {
  entries = new Map();
  async match(url) {
    return this.entries.has(url) ? new Response(this.entries.get(url)) : undefined;
  }
  async put(url, response) {
    this.entries.set(url, await response.arrayBuffer());
  }
  async keys() {
    return [...this.entries.keys()].map((url) => ({ url }));
  }
  async delete(url) {
    return this.entries.delete(url);
  }
}

let origin;
let requests;
let files;
let cache;
const caches = { open: async () => cache };
const server = createServer(({ url }, response) => {
  requests.push(url);
  const [status, body] = files[url] ?? [404, "Not found"];
  response.writeHead(status).end(body);
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
  files = { "/home/manifest.bin": [200, pack({ format: 1 })], "/home/core.bin": [200, pack({ name: "Harbour" })] };
});

const open = (options = {}) => new SiteFiles(`${origin}/home`, { caches, ...options });

test("a file is fetched once, even for questions at the same time", async () => {
  const site = open();
  site.prefetch(["manifest.bin"]);
  const [first, second] = await Promise.all([site.readContainer("manifest.bin"), site.readContainer("manifest.bin")]);
  assert.deepEqual([first.values, second.values], [{ format: 1 }, { format: 1 }]);
  assert.deepEqual((await site.readContainer("core.bin")).values, { name: "Harbour" });
  assert.deepEqual(requests, ["/home/manifest.bin", "/home/core.bin"]);
});

test("the next page reads from the cache, without a request", async () => {
  await open().readContainer("core.bin");
  requests = [];
  assert.deepEqual((await open().readContainer("core.bin")).values, { name: "Harbour" });
  assert.deepEqual(requests, []);
});

test("where nothing can be cached, files are fetched all the same", async () => {
  const refusing = { open: async () => Promise.reject(new Error("private window")) };
  for (const none of [null, refusing]) {
    requests = [];
    assert.deepEqual((await open({ caches: none }).readContainer("manifest.bin")).values, { format: 1 });
    assert.equal(requests.length, 1);
  }
});

test("a file that is damaged in the cache is fetched and replaced", async () => {
  const url = `${origin}/home/core.bin`;
  cache.entries.set(url, Buffer.from("damaged"));
  assert.deepEqual((await open().readContainer("core.bin")).values, { name: "Harbour" });
  assert.deepEqual(requests, ["/home/core.bin"]);
  assert.deepEqual(Buffer.from(cache.entries.get(url)), files["/home/core.bin"][1]);
});

test("a file that is gone, or is a page instead, tells that the index was replaced", async () => {
  files["/home/core.bin"] = [200, "<!doctype html><title>Not found</title>"];
  files["/home/terms/000.bin"] = [410, ""];
  // Storage that may not be listed.
  files["/home/terms/002.bin"] = [403, ""];
  for (const path of ["core.bin", "terms/000.bin", "terms/001.bin", "terms/002.bin"]) {
    await assert.rejects(open().readContainer(path), (error) => {
      assert.ok(error instanceof IndexGoneError);
      assert.match(error.message, /newer version of the site/);
      return true;
    });
  }
  assert.equal(cache.entries.size, 0);
});

test("after an error of the server a file is fetched again", async () => {
  const site = open();
  const manifest = files["/home/manifest.bin"];
  files["/home/manifest.bin"] = [503, ""];
  await assert.rejects(site.readContainer("manifest.bin"), (error) => !(error instanceof IndexGoneError) && /HTTP 503/.test(error.message));
  files["/home/manifest.bin"] = manifest;
  assert.deepEqual((await site.readContainer("manifest.bin")).values, { format: 1 });
});

test("files of builds that are no longer published leave the cache, and others stay", async () => {
  const kept = [`${origin}/home/index/en/core-1.bin`, `${origin}/home/model/a/rows-000.bin`, `${origin}/elsewhere/core.bin`];
  for (const url of [...kept, `${origin}/home/index/en/core-0.bin`]) cache.entries.set(url, pack({}));
  await open().removeStale((path) => path.startsWith("model/a/") || path === "index/en/core-1.bin");
  assert.deepEqual([...cache.entries.keys()], kept);
  await open({ caches: null }).removeStale(() => false);
});

test("who stops waiting gets the reason, and the file arrives for the next", async () => {
  const site = open();
  const stop = new AbortController();
  const waiting = site.readContainer("manifest.bin", stop.signal);
  stop.abort(new Error("stopped"));
  await assert.rejects(waiting, /stopped/);
  assert.deepEqual((await site.readContainer("manifest.bin")).values, { format: 1 });
  assert.equal(requests.length, 1);
  await assert.rejects(async () => waitFor(Promise.resolve(1), AbortSignal.abort(new Error("before"))), /before/);
});
