// What a function does from cold whose vectors are base64 in JSON, as the reference's are: parse,
// decode to plain arrays of floats, rank by one pass of cosines.
// Usage: node base64_index.mjs INDEX QUERY
import { readFileSync } from "node:fs";

const [indexFile, queryFile] = process.argv.slice(2);
const index = JSON.parse(readFileSync(indexFile, "utf8"));
const query = JSON.parse(readFileSync(queryFile, "utf8"));

const rows = index.rows.map(({ id, scale, codes }) => {
  const bytes = Buffer.from(codes, "base64");
  const whole = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const vector = new Array(whole.length);
  for (let i = 0; i < whole.length; i++) vector[i] = whole[i] * scale;
  return { id, vector };
});

const scored = rows.map(({ id, vector }) => {
  let dot = 0;
  let own = 0;
  let other = 0;
  for (let i = 0; i < vector.length; i++) {
    dot += vector[i] * query[i];
    own += vector[i] * vector[i];
    other += query[i] * query[i];
  }
  return { id, score: own && other ? dot / Math.sqrt(own * other) : 0 };
});

scored.sort((a, b) => b.score - a.score);
process.stdout.write(JSON.stringify(scored.slice(0, 8)));
