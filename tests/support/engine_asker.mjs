// Asks an engine questions for a test, in Node and in a page of a browser alike.

/** Ask and search a site's index, below its home; each result is {reply, places, sections}, {problem} or {error: its stack}. */
export async function askAll(engineUrl, home, index, questions) {
  const { openSiteIndex } = await import(engineUrl);
  const engine = await openSiteIndex(index, home);
  const results = [];
  for (const { text, language } of questions) {
    try {
      const options = { language: language ?? undefined };
      const reply = await engine.answer(text, options);
      const places = Object.entries(await engine.search(text, options));
      const sections = await Promise.all(reply.citations.map(({ id }) => engine.readSection(id)));
      results.push({ reply, places, sections });
    } catch (error) {
      results.push(error?.code ? { problem: error.code } : { error: error?.stack ?? String(error) });
    }
  }
  return results;
}

// In Node: a line of JSON in, a line of JSON out.
if (globalThis.process?.argv[2] === "--lines") {
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await askAll(...JSON.parse(line)))}\n`);
  }
}
