/** Select a quote on its page, where the browser does not follow the text fragment of an address. */

/**
 * Select the words that an address names, and scroll to them; false while they are not on the page.
 * @param {string} address
 * @returns {boolean}
 */
export function highlight(address) {
  const [id, directive = ""] = new URL(address).hash.slice(1).split(":~:text=");
  // A dash marks their context.
  const [start, end] = directive.split("&")[0].split(",").filter((term) => !/^-|-$/.test(term)).map(decode);
  const heading = document.getElementById(decode(id));
  const selection = /** @type {Selection} */ (getSelection());
  selection.collapse(heading ?? document.body, 0);
  heading?.scrollIntoView();
  if (!start) return true;
  if (!findOnPage(start)) return false;
  const { anchorNode, anchorOffset } = selection;
  if (end && findOnPage(end) && anchorNode && selection.focusNode) {
    selection.setBaseAndExtent(anchorNode, anchorOffset, selection.focusNode, selection.focusOffset);
  }
  anchorNode?.parentElement?.scrollIntoView({ block: "center" });
  return true;
}

/**
 * Wait for a page that loads its own links, and highlight there.
 * @param {string} address
 * @param {number} [tries] ten in a second
 */
export function highlightLater(address, tries = 50) {
  const { pathname, hash } = new URL(address);
  const id = decode(hash.slice(1).split(":~:")[0]);
  const isThere = location.pathname === pathname && (!id || document.getElementById(id));
  if (!(isThere && highlight(address)) && tries > 0) setTimeout(highlightLater, 100, address, tries - 1);
}

/**
 * Find words on the page, and not in an answer.
 * @param {string} words
 * @returns {boolean}
 */
function findOnPage(words) {
  const boxes = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("answerable-ask"));
  const show = (/** @type {string} */ visibility) =>
    boxes.forEach(({ style }) => Object.assign(style, { visibility }));
  show("hidden");
  // No standard describes it, and all browsers have it.
  const isFound = /** @type {any} */ (window).find(words);
  show("");
  return isFound;
}

/**
 * Decode what is percent-encoded; a text that is not stays as it is.
 * @param {string} text
 * @returns {string}
 */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
