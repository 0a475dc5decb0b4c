// What a function without a mapped index does from cold: read vectors as base64 in JSON, decode
// them to floats and rank them by one pass of cosines. Usage: node base64_index.mjs INDEX QUERY
import { readFileSync } from "node:fs";

const [, , indexFile, queryFile] = process.argv;
const index = JSON.parse(readFileSync(indexFile, "utf8"));
const query = JSON.parse(readFileSync(queryFile, "utf8"));

const rows = index.rows.map((row) => {
  const bytes = Buffer.from(row.codes, "base64");
  const codes = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  return { id: row.id, vector: Float32Array.from(codes) };
});

const norm = Math.sqrt(query.reduce((sum, value) => sum + value * value, 0));
const scored = rows.map(({ id, vector }) => {
  let dot = 0;
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    dot += vector[i] * query[i];
    squares += vector[i] * vector[i];
  }
  return { id, score: squares ? dot / (Math.sqrt(squares) * norm) : 0 };
});

scored.sort((a, b) => b.score - a.score);
process.stdout.write(JSON.stringify(scored.slice(0, 8)));
