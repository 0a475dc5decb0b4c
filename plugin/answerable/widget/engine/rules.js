/** The rules that both engines share: the constants, word lists and patterns of `rules.json`. */

import rules from "../../engine/rules.json" with { type: "json" };

/** @type {Record<string, any>} each pattern is a RegExp that finds all matches */
export const RULES = revive(rules);

/**
 * @param {any} value
 * @returns {any}
 */
function revive(value) {
  if (Array.isArray(value) || value === null || typeof value !== "object") return value;
  if (typeof value.source === "string") return new RegExp(value.source, `g${value.flags}`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revive(each)]));
}
