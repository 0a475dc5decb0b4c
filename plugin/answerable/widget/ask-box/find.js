/** Find a quote in what is drawn, by its letters and digits alone: white space and marks differ from page to page. */

const LETTER = /[\p{L}\p{N}]/gu;

/**
 * Find where a quote stands; null where it does not.
 * @param {Node} root
 * @param {string} quote
 * @param {Node} [start] where the search begins
 */
export function findQuote(root, quote, start = root) {
  // The letters of the page, and for each unit of them the place of its letter.
  let letters = "";
  /** @type {{ node: Text, index: number, end: number }[]} */
  const places = [];
  for (const node of listTexts(root)) {
    const isBefore = start.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING;
    if (isBefore || node.parentElement?.closest("script, style, template, answerable-ask")) continue;
    for (const { 0: letter, index } of node.data.matchAll(LETTER)) {
      letters += letter;
      while (places.length < letters.length) places.push({ node, index, end: index + letter.length });
    }
  }
  const wanted = quote.match(LETTER)?.join("") ?? "";
  const from = wanted ? letters.indexOf(wanted) : -1;
  if (from < 0) return null;
  const [first, last] = [places[from], places[from + wanted.length - 1]];
  const range = document.createRange();
  range.setStart(first.node, first.index);
  range.setEnd(last.node, last.end);
  return range;
}

/**
 * Mark the paragraphs, items, rows and lines of code that hold the line of a passage, and open what hides them.
 * @param {HTMLElement} words
 * @param {string | undefined} line
 */
export function markLine(words, line) {
  const range = findQuote(words, line ?? "");
  for (const node of listTexts(words)) {
    const isMarked = range?.intersectsNode(node) && node.data.search(LETTER) >= 0;
    if (isMarked) node.parentElement?.closest("p, li, tr, .code-line")?.classList.add("here");
  }
  for (const part of words.querySelectorAll("details, .tab")) {
    if (!part.querySelector(".here")) continue;
    if (part instanceof HTMLDetailsElement) part.open = true;
    const siblings = [.../** @type {HTMLElement} */ (part.parentElement).children];
    const name = /** @type {HTMLElement | undefined} */ (siblings[0].children[siblings.indexOf(part) - 1]);
    if (name?.matches(".tab-name")) name.click();
  }
}

/** @param {Node} root */
function* listTexts(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) yield /** @type {Text} */ (node);
}
