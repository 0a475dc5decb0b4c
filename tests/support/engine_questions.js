// Reads, retrieves and chooses in the engine what a test compares with Python, many questions at once.
const load = (name) => import(`${process.argv[2]}/${name}.js`);

export async function openFiles(home) {
  const { SiteFiles } = await load("site_files");
  return new SiteFiles(home);
}

export async function unpackContainer(data, most = 2 ** 20) {
  const { inflate, parseContainer } = await load("container");
  return parseContainer(await inflate(data, most));
}

export async function openStore(home, entry) {
  const { openStore } = await load("store");
  const store = await openStore(await openFiles(home), entry);
  return store;
}

export async function answerAll(store, cases) {
  const [{ readQuestion }, { retrieve }, { choosePassages }] = await Promise.all(
    ["question", "retrieve", "sections"].map(load),
  );
  const answers = [];
  for (const { question, ranks, vector, language } of cases) {
    const reading = await readQuestion(store, question, (word) => ranks[word] ?? null);
    const floats = vector && Float32Array.from(vector);
    const retrieved = await retrieve(store, reading, floats, store.recipe.sections.POOL_SIZE, language);
    const { passages, siblings } = retrieved;
    answers.push({ reading, passages, siblings, chosen: choosePassages(store, retrieved) });
  }
  return answers;
}
