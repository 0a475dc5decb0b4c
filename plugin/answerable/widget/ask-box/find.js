/** Find a quote in what is drawn, by its letters and digits alone: white space and marks differ from page to page. */

const LETTER = /[\p{L}\p{N}]/gu;
const UNITS = "p, li, tr, .code-line";

/** @param {string} text */
function fold(text) {
  return text.match(LETTER)?.join("") ?? "";
}

/**
 * Find where a quote stands; null where it does not.
 * @param {Node} root
 * @param {string} quote
 * @param {Node} [start] where the search begins
 */
export function findQuote(root, quote, start = root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {{ node: Text, from: number }[]} */
  const places = [];
  let letters = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = /** @type {Text} */ (node);
    const isBefore = start.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING;
    if (isBefore || text.parentElement?.closest("script, style, template, answerable-ask")) continue;
    places.push({ node: text, from: letters.length });
    letters += fold(text.data);
  }
  const wanted = fold(quote);
  const from = wanted ? letters.indexOf(wanted) : -1;
  if (from < 0) return null;
  const locate = (/** @type {number} */ place) => {
    const { node, from: first } = /** @type {typeof places[number]} */ (places.findLast((part) => part.from <= place));
    let rest = place - first;
    for (const { 0: letter, index } of node.data.matchAll(LETTER)) {
      if (rest <= 0) return { node, index, end: index + letter.length };
      rest -= letter.length;
    }
    return { node, index: node.length, end: node.length };
  };
  const [first, last] = [locate(from), locate(from + wanted.length - 1)];
  const range = document.createRange();
  range.setStart(first.node, first.index);
  range.setEnd(last.node, last.end);
  return range;
}

/**
 * Mark the paragraphs, items, rows and lines of code that hold the line of a passage.
 * @param {HTMLElement} words
 * @param {string | undefined} line
 */
export function markLine(words, line) {
  const range = findQuote(words, line ?? "");
  const walker = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); range && node; node = walker.nextNode()) {
    const unit = range.intersectsNode(node) && fold(/** @type {Text} */ (node).data) && node.parentElement?.closest(UNITS);
    if (unit) unit.classList.add("here");
  }
  for (const part of words.querySelectorAll("details, .tab")) {
    if (!part.querySelector(".here")) continue;
    if (part instanceof HTMLDetailsElement) part.open = true;
    const siblings = [.../** @type {HTMLElement} */ (part.parentElement).children];
    const name = /** @type {HTMLElement | undefined} */ (siblings[0].children[siblings.indexOf(part) - 1]);
    if (name?.matches(".tab-name")) name.click();
  }
}
