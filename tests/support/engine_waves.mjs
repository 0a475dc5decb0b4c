// Asks each question in a page of its own, and lists the waves of files that wait for one another.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { inflateSync } from "node:zlib";

// Milliseconds after which nothing more is asked for without a response: the engine waits for none between two steps.
const IDLE_TURNS = 10;

// Without a thread that decompresses, what follows a response depends on no machine's speed.
globalThis.DecompressionStream = class {
  constructor() {
    const parts = [];
    return new TransformStream({
      transform: (part) => void parts.push(part),
      flush: (controller) => controller.enqueue(new Uint8Array(inflateSync(Buffer.concat(parts)))),
    });
  }
};

/** Hold back responses until nothing more is asked for, and send them together. */
class Waves {
  /** @type {{path: string, bytes: number}[][]} */
  sent = [];
  #waiting = [];
  #turns = 0;

  constructor(folder, home) {
    this.folder = folder;
    this.home = home;
  }

  fetch = (url, { headers } = {}) => {
    this.#turns = 0;
    const [start, last] = (headers?.Range ?? "bytes=0-").slice("bytes=".length).split("-");
    const path = String(url).slice(this.home.length);
    return new Promise((resolve) => this.#waiting.push({ path, start: Number(start), last, resolve }));
  };

  async run(promise) {
    let done = false;
    promise.finally(() => (done = true)).catch(() => {});
    while (!done) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      this.#turns += 1;
      if (this.#turns < IDLE_TURNS || !this.#waiting.length) continue;
      const wave = this.#waiting.splice(0);
      const read = async ({ path, start, last }) =>
        (await readFile(`${this.folder}/${path}`)).subarray(start, last ? Number(last) + 1 : undefined);
      const bodies = await Promise.all(wave.map(read));
      this.sent.push(wave.map(({ path, start }, place) => ({ path, start, bytes: bodies[place].length })));
      this.#turns = 0;
      wave.forEach(({ last, resolve }, place) => {
        resolve(new Response(bodies[place], { status: last ? 206 : 200 }));
      });
    }
    return promise;
  }
}

const [engineUrl, folder] = process.argv.slice(2);
const { openSiteIndex } = await import(engineUrl);
const { index } = JSON.parse(await readFile(`${folder}/site.json`, "utf-8"));
const questions = JSON.parse(readFileSync(0, "utf-8"));
const reports = [];
for (const [place, question] of questions.entries()) {
  const home = `https://docs.example.com/${place}/`;
  const waves = new Waves(folder, home);
  const engine = await waves.run(openSiteIndex(index, home, waves.fetch));
  const { mode } = await waves.run(engine.answer(question, {}));
  const first = waves.sent;
  waves.sent = [];
  await waves.run(engine.answer(questions[(place + 1) % questions.length], {}));
  reports.push({ question, mode, first, later: waves.sent });
}
process.stdout.write(JSON.stringify(reports));
