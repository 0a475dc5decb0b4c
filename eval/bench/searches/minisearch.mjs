// Asks MiniSearch the questions of the standard input, over the sections of MkDocs' search index,
// with the options of VitePress; writes for each question its results as JSON.
import { readFileSync } from "node:fs";
import MiniSearch from "minisearch";

const { docs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const search = new MiniSearch({
  idField: "location",
  fields: ["title", "text"],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2 } },
});
search.addAll(docs);
const questions = JSON.parse(readFileSync(0, "utf8"));
const lists = questions.map((question) =>
  search.search(question).map(({ id }) => ({ url: id })),
);
console.log(JSON.stringify(lists));
