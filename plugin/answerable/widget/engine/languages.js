/** Match language tags (BCP 47). */

/**
 * Find the languages that a reader of a language can read; none if the site has none of them.
 *
 * The most specific match wins: "fr-CA" takes "fr-CA", else "fr", else every variety of French.
 * @param {string | null} tag
 * @param {readonly string[]} languages
 */
export function matchLanguages(tag, languages) {
  if (tag === null) return [];
  const parts = splitTag(tag);
  for (let length = parts.length; length > 0; length -= 1) {
    const range = parts.slice(0, length).join("-");
    const matches = languages.filter((language) => splitTag(language).join("-") === range);
    if (matches.length) return matches;
  }
  return languages.filter((language) => baseLanguage(language) === parts[0]);
}

/**
 * Split a language tag into its parts.
 * @param {string} tag
 */
function splitTag(tag) {
  return tag.toLowerCase().split(/[-_]/);
}

/**
 * Return the language of a tag, without its region.
 * @param {string} language
 */
export function baseLanguage(language) {
  return splitTag(language)[0];
}
