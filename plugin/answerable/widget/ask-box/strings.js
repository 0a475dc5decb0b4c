/** The box's own texts in the language of the page, and what of a question is matched with words. */

import { baseLanguage } from "../engine/languages.js";
import ENGLISH from "../strings/en.json" with { type: "json" };

/**
 * @typedef {(key: string, values?: Record<string, any>) => string} Say a text with its values; "" for one that there is not
 * @typedef {{ tag: string, dir: string, say: Say }} Language
 */

// The other files of the folder.
const LANGUAGES = "ar de es fr ja";

/** The folder that the script is published in. */
export const HOME = new URL(".", import.meta.url);

/** Texts in English, which also stand for those that a translation lacks. */
export const IN_ENGLISH = makeLanguage("en", {});

/**
 * @param {string} tag
 * @param {Record<string, any>} strings each a text, or one for each plural category
 * @returns {Language}
 */
function makeLanguage(tag, strings) {
  /** @type {Say} */
  const say = (key, values = {}) => {
    const entry = strings[key] ?? /** @type {typeof strings} */ (ENGLISH)[key] ?? "";
    /** @type {string} */
    const text = typeof entry === "string" ? entry : (entry[new Intl.PluralRules(tag).select(values.n)] ?? entry.other);
    return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  };
  return { tag, dir: say("dir"), say };
}

/**
 * Load the texts in a language; English where there are none, or after five seconds: the button waits for them.
 * @param {string} language
 */
export async function loadLanguage(language) {
  const base = baseLanguage(language);
  if (!LANGUAGES.includes(base)) return IN_ENGLISH;
  return fetch(new URL(`strings/${base}.json`, HOME), { signal: AbortSignal.timeout(5000) })
    .then(async (response) => makeLanguage(base, await response.json()))
    .catch(() => IN_ENGLISH);
}

/** @returns {string | undefined} the tag of the page's language, if it is one */
export function getPageLanguage() {
  const { lang } = document.documentElement;
  return /^(?=.{2,35}$)[a-z]{2,8}([-_][a-z0-9]{1,8})*$/i.test(lang) ? lang : undefined;
}

/**
 * Name a language in the words of another.
 * @param {string} language
 * @param {string} tag of the words
 */
export function nameLanguage(language, tag) {
  try {
    return new Intl.DisplayNames(tag, { type: "language" }).of(language.replaceAll("_", "-")) ?? language;
  } catch {
    return language;
  }
}
