/** Revive the recipe: the constants, word lists and patterns that Python's modules hold. */

/**
 * @typedef {Record<string, Record<string, any>>} Recipe
 */

/**
 * Revive the values of a recipe: each translated pattern becomes a RegExp.
 * @param {any} value
 * @returns {any}
 */
export function reviveRecipe(value) {
  if (Array.isArray(value)) return value.map(reviveRecipe);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.source === "string" && typeof value.flags === "string") {
    return new RegExp(value.source, value.flags);
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, reviveRecipe(each)]));
}
