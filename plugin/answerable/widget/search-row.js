/** Offer to ask what a reader types into Material's search, in a row below its results. */

const CSS = `
.answerable-search-row { position: sticky; bottom: 0; background: var(--md-default-bg-color);
  box-shadow: 0 -.05rem var(--md-default-fg-color--lightest); }
.answerable-search-row a:focus-visible { outline: 2px solid var(--md-accent-fg-color); outline-offset: -2px; }
.md-search-result .answerable-search-row p { margin-block: .6rem; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; color: var(--md-default-fg-color); }
.answerable-search-row svg { position: absolute; inset-block-start: .5rem; inset-inline-start: .5rem;
  inline-size: 1.2rem; block-size: 1.2rem; fill: none; stroke: currentColor; stroke-width: 1.75;
  stroke-linecap: round; stroke-linejoin: round; }
.md-search__scrollwrap:has(.answerable-search-row) { scroll-padding-bottom: 2.5rem; }
@media (max-width: 59.984375em) { .answerable-search-row svg { display: none; } }
`;
const ICON = "M4 4h16v13h-8l-5 4v-4H4zM10 9a2 2 0 1 1 3 2l-1 1M12 14v0";
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {HTMLElement & { ask(question: string): void }} Box */
/** @typedef {{ tag: string, dir: string, say(key: string, values: Record<string, string>): string }} Language */

/** @type {Set<Box>} */
const boxes = new Set();
/** @type {CSSStyleSheet | null} */
let sheet = null;

/**
 * Offer a box in the search of the page, if Material has drawn one; of several boxes the first.
 * @param {Box} box
 * @param {Language} language
 * @param {AbortSignal} signal removes the row
 */
export function offerAsk(box, language, signal) {
  // It may have left the page while this module was loaded.
  if (signal.aborted) return;
  boxes.add(box);
  const { row, link, label } = drawRow(language);
  const update = () => {
    const question = readQuestion();
    const list = document.querySelector(".md-search-result__list");
    if (!list || question === "" || boxes.values().next().value !== box) return row.remove();
    addSheet();
    label.textContent = language.say("row", { question });
    // What a new tab opens, where the reader wants one.
    link.href = `#ask=${encodeURIComponent(question)}`;
    // Moving it would take the focus away.
    if (row.previousSibling !== list) list.after(row);
  };
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    // Material would load the link's page, and close the search that a reader returns to.
    event.stopPropagation();
    box.ask(readQuestion());
    if (!box.hasAttribute("open")) closeSearch();
  });
  // By focus: a link to a search has filled it in.
  for (const type of ["input", "focusin"]) document.addEventListener(type, update, { signal });
  // The form is empty after this event.
  document.addEventListener("reset", () => setTimeout(update), { signal });
  signal.addEventListener("abort", () => {
    boxes.delete(box);
    row.remove();
  });
  update();
}

/** @returns {string} what is typed into the search, if there is one */
function readQuestion() {
  const input = document.querySelector("input.md-search__input");
  return /** @type {HTMLInputElement | null} */ (input)?.value.trim() ?? "";
}

function closeSearch() {
  const toggle = /** @type {HTMLInputElement | null} */ (document.querySelector("input#__search"));
  if (toggle?.checked) toggle.click();
}

function addSheet() {
  if (sheet) return;
  sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  document.adoptedStyleSheets.push(sheet);
}

/**
 * Draw an entry as Material draws results, so that its arrow keys reach the link.
 * @param {Language} language
 */
function drawRow({ tag, dir }) {
  const row = draw("div", "md-search-result__item answerable-search-row");
  const link = /** @type {HTMLAnchorElement} */ (draw("a", "md-search-result__link"));
  const entry = draw("div", "md-search-result__article md-typeset");
  const label = draw("p", "");
  row.lang = tag;
  row.dir = dir;
  link.setAttribute("aria-haspopup", "dialog");
  // Material fetches links that name no target as soon as the pointer is over them, question and all.
  link.target = "_self";
  // Enter in the search follows the link of the highest score: this one only if nothing is found.
  entry.dataset.mdScore = "-1";
  entry.append(drawIcon(), label);
  link.append(entry);
  row.append(link);
  return { row, link, label };
}

/**
 * @param {string} tag
 * @param {string} classes
 */
function draw(tag, classes) {
  const node = document.createElement(tag);
  node.className = classes;
  return node;
}

function drawIcon() {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICON);
  svg.append(path);
  return svg;
}
