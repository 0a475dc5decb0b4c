// Finds the matches of a pattern in many texts at once, for a test that compares them with Python's.

/** Return the offsets and groups of each match: one list a text. */
export async function findSpans({ source, flags }, texts) {
  const { findAll } = await import(`${process.argv[2]}/patterns.js`);
  const pattern = new RegExp(source, flags);
  return texts.map((text) => findAll(pattern, text).map((match) => [match.index, ...match]));
}
