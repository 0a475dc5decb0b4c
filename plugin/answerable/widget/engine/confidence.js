/** Rate the passages that answer a question; see `keyless.py`. */

import { RULES } from "./rules.js";

/**
 * Rate passages, best first: low where no section is clearly meant, or where the site lacks a word of the question.
 * @param {import("./store.js").Store} store
 * @param {import("./question.js").QuestionReading} reading
 * @param {import("./rank.js").Scored[]} passages
 */
export function ratePassages({ manifest, passageRecords }, { remarks }, passages) {
  const { FIRST_PASSAGES, MANY_PAGES, SURE_ABOVE_FLOOR } = RULES.confidence;
  // Its author says that the section answers this very question.
  if (passages[0].question > RULES.rank.SAME_QUESTION) return "medium";
  if (remarks.some(({ kind }) => kind === "unknown")) return "low";
  const pages = new Set(passages.slice(0, FIRST_PASSAGES).map(({ row }) => passageRecords[row]));
  const best = Math.max(...passages.map(({ base }) => base));
  return pages.size < MANY_PAGES && best >= manifest.profile.floor + SURE_ABOVE_FLOOR ? "medium" : "low";
}
