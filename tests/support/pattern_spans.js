// Finds the matches of a pattern in many texts at once, for a test that compares them with Python's.

/** Return the offsets and groups of each match: one list a text. */
export async function findSpans({ source, flags }, texts) {
  const pattern = new RegExp(source, `${flags}g`);
  return texts.map((text) => [...text.matchAll(pattern)].map((match) => [match.index, ...match]));
}
