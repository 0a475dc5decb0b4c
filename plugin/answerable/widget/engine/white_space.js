/** Split and strip text at white space as Python's `str` does, which counts other characters than JavaScript. */

const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const RUN = new RegExp(`[${SPACE}]+`, "g");
const AT_START = new RegExp(`^[${SPACE}]+`);
const AT_END = new RegExp(`(?<![${SPACE}])[${SPACE}]+$`);

/**
 * Split a text at its runs of white space, as `split` does.
 * @param {string} text
 */
export function splitAtSpace(text) {
  return text.split(RUN).filter(Boolean);
}

/**
 * Remove the white space at both ends of a text, as `strip` does.
 * @param {string} text
 */
export function stripSpace(text) {
  return stripSpaceAtStart(stripSpaceAtEnd(text));
}

/**
 * Remove the white space before a text, as `lstrip` does.
 * @param {string} text
 */
export function stripSpaceAtStart(text) {
  return text.replace(AT_START, "");
}

/**
 * Remove the white space after a text, as `rstrip` does.
 * @param {string} text
 */
export function stripSpaceAtEnd(text) {
  return text.replace(AT_END, "");
}
