// Reads, retrieves and selects in the engine what a test compares with Python, many questions at once.
const load = (name) => import(`${process.argv[2]}/${name}.js`);

export async function openFiles(home) {
  const { SiteFiles } = await load("site_files");
  return new SiteFiles(home);
}

export async function openStore(home, entry) {
  const { openStore } = await load("store");
  const store = await openStore(await openFiles(home), entry);
  return store;
}

export async function answerAll(store, cases) {
  const [{ readQuestion }, { retrieve }, { arrangePool, fitBudget, selectEvidence }] = await Promise.all(
    ["question", "retrieve", "selection"].map(load),
  );
  const answers = [];
  for (const { question, ranks, vector, language } of cases) {
    const reading = await readQuestion(store, question, (word) => ranks[word] ?? null);
    const floats = vector && Float32Array.from(vector);
    const retrieved = await retrieve(store, reading, floats, store.recipe.selection.POOL_SIZE, language);
    const pool = await arrangePool(store, retrieved);
    const evidence = fitBudget(store, await selectEvidence(store, pool));
    answers.push({
      reading,
      passages: retrieved.passages,
      siblings: retrieved.siblings,
      pool: pool.passages,
      evidence: {
        ids: evidence.passages.map(({ id }) => id),
        sections: evidence.sectionScores,
        terms: evidence.terms,
        hasVector: evidence.vector !== null,
      },
    });
  }
  return answers;
}
