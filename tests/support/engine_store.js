// A store that the engine's modules read, made of what a test describes instead of the index's files.
const TYPES = { "<f4": Float32Array, "<u4": Uint32Array, "|u1": Uint8Array, "|i1": Int8Array };

function unpack([type, bytes]) {
  return new TYPES[type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

export async function makeStore({ rawRecipe, columns, terms, phrases, passages, words, ...values }) {
  const { reviveRecipe } = await import(`${process.argv[2]}/recipe.js`);
  const arrays = Object.fromEntries(Object.entries(columns).map(([name, each]) => [name, unpack(each)]));
  const { codes, inverseNorms, edges, holders, counts, inText } = arrays;
  const { dimensions } = values.manifest;
  const places = new Map(Object.entries(terms));
  const loaded = new Set();

  function estimateCosines(unit) {
    const scale = 1 / Math.sqrt(dimensions) / Math.sqrt(2 / Math.PI);
    return Float32Array.from(inverseNorms, (_, row) => {
      let dot = 0;
      for (let at = 0; at < dimensions; at += 1) dot += codes[row * dimensions + at] > 0 ? unit[at] : -unit[at];
      return dot * scale;
    });
  }

  function computeCosine(unit, row) {
    let dot = 0;
    for (let at = 0; at < dimensions; at += 1) dot += codes[row * dimensions + at] * unit[at];
    return Math.fround(dot) * inverseNorms[row];
  }

  return {
    ...values,
    ...arrays,
    ...Object.fromEntries(Object.entries(phrases).map(([name, entries]) => [name, new Map(entries)])),
    recipe: reviveRecipe(rawRecipe),
    passageTitles: passages.map(({ title }) => title),
    passageIds: passages.map(({ id }) => id),
    loadPostings: async (asked) => [...asked].forEach((term) => loaded.add(term)),
    postings(term) {
      if (!loaded.has(term)) throw new Error(`the postings of ${term} are not loaded`);
      const place = places.get(term);
      const [start, end] = place === undefined ? [0, 0] : [edges[place], edges[place + 1]];
      const [passages, own, marks] = [holders, counts, inText].map((each) => each.subarray(start, end));
      return { passages, counts: own, inText: marks };
    },
    loadWords: async () => words,
    estimateCosines,
    loadCosines: async (unit, rows) => Float32Array.from(rows, (row) => computeCosine(unit, row)),
    loadPassages: async (rows) => new Map([...rows].map((row) => [row, { row, ...passages[row] }])),
  };
}

// Loads the postings that a test's next calls read at once.
export const loadPostings = (store, terms) => store.loadPostings(terms);
