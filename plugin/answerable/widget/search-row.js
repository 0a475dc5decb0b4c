/** Offer to ask what a reader types into Material's search, in a row below its results, and list places for it. */

const CSS = `
.answerable-search-row { position: sticky; bottom: 0; background: var(--md-default-bg-color);
  box-shadow: 0 -.05rem var(--md-default-fg-color--lightest); }
.answerable-search-row a:focus-visible { outline: 2px solid var(--md-accent-fg-color); outline-offset: -2px; }
.md-search-result .answerable-search-row p { margin-block: .6rem; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; color: var(--md-default-fg-color); }
.md-search-result .answerable-search-row :is(.places, .place) { margin-block: .2rem; font-size: .64rem; }
.md-search-result .answerable-search-row .places { margin-block: 0; font-weight: 700; }
.answerable-search-row .place span { color: var(--md-default-fg-color--light); }
.answerable-search-row [role=status] { position: absolute; clip-path: inset(50%); }
.answerable-search-row svg { position: absolute; inset-block-start: .5rem; inset-inline-start: .5rem;
  inline-size: 1.2rem; block-size: 1.2rem; fill: none; stroke: currentColor; stroke-width: 1.75;
  stroke-linecap: round; stroke-linejoin: round; }
@media (max-width: 59.984375em) { .answerable-search-row svg { display: none; } }
@media (max-height: 30em) {
  .answerable-search-row { display: contents; }
  .answerable-search-row > a { position: sticky; bottom: 0; background: var(--md-default-bg-color);
    box-shadow: 0 -.05rem var(--md-default-fg-color--lightest); }
}
`;
const ICON = "M4 4h16v13h-8l-5 4v-4H4zM10 9a2 2 0 1 1 3 2l-1 1M12 14v0";
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {HTMLElement & { ask(question: string): void }} Box */
/** @typedef {{ tag: string, dir: string, say(key: string, values: Record<string, any>): string }} Language */
/** @typedef {import("./suggest.js").Place} Place */

const MAX_PLACES = 5;

/** @type {Set<Box>} */
const boxes = new Set();
/** @type {CSSStyleSheet | null} */
let sheet = null;

/**
 * Offer a box in the search of the page, if Material has drawn one; of several boxes the first.
 * @param {Box} box
 * @param {Language} language
 * @param {AbortSignal} signal removes the row
 * @param {import("./suggest.js").Answerer & { readSite(): Promise<any> }} answerer of the box
 * @param {typeof import("./suggest.js").followTyping} followTyping
 */
export function offerAsk(box, language, signal, answerer, followTyping) {
  // It may have left the page while this module was loaded.
  if (signal.aborted) return;
  boxes.add(box);
  const { row, link, label } = drawRow(language);
  const places = draw("div", "");
  const status = draw("div", "");
  status.role = "status";
  row.append(places, status);
  let typed = "";
  const type = followTyping(
    answerer,
    (listed) => {
      // A link that has the focus stays.
      if (places.contains(document.activeElement)) return;
      places.replaceChildren(...drawPlaces(listed.slice(0, MAX_PLACES), language));
      pad(row);
    },
    () => (status.textContent = places.firstChild?.textContent ?? ""),
  );
  const update = () => {
    const list = document.querySelector(".md-search-result__list");
    const question = list && boxes.values().next().value === box ? readQuestion() : "";
    // An event of the focus brings no other text.
    if (question !== typed) type((typed = question));
    if (!list || question === "") return row.remove();
    addSheet();
    label.textContent = language.say("row", { question });
    // What a new tab opens, where the reader wants one.
    link.href = `#ask=${encodeURIComponent(question)}`;
    // Moving it would take the focus away.
    if (row.previousSibling !== list) list.after(row);
    pad(row);
  };
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    // Material would load the link's page, and close the search that a reader returns to.
    event.stopPropagation();
    box.ask(readQuestion());
    if (!box.hasAttribute("open")) closeSearch();
  });
  // It tells whether the browser answers.
  answerer.readSite().catch(() => {});
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

/**
 * Keep a result that the arrow keys reach above the row.
 * @param {HTMLElement} row
 */
function pad(row) {
  const wrap = /** @type {HTMLElement | null} */ (row.closest(".md-search__scrollwrap"));
  // In a low window only its link sticks.
  const { offsetHeight } = /** @type {HTMLElement} */ (row.offsetHeight ? row : row.firstChild);
  wrap?.style.setProperty("scroll-padding-bottom", `${offsetHeight}px`);
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

/** @param {Language} language */
function drawRow({ tag, dir }) {
  const row = draw("div", "md-search-result__item answerable-search-row");
  const label = draw("p", "");
  const link = drawEntry(drawIcon(), label);
  row.lang = tag;
  row.dir = dir;
  link.setAttribute("aria-haspopup", "dialog");
  // Material fetches links that name no target as soon as the pointer is over them, question and all.
  link.target = "_self";
  row.append(link);
  return { row, link, label };
}

/**
 * Draw links to places, under the words that say what they are.
 * @param {Place[]} places
 * @param {Language} language
 */
function drawPlaces(places, { say }) {
  const heading = draw("p", "places md-search-result__article");
  heading.textContent = say("places", { n: places.length });
  const links = places.map(({ url, title }) => {
    const label = draw("p", "place");
    const name = draw("bdi", "");
    const page = draw("span", "");
    name.textContent = title;
    page.textContent = new URL(url).pathname;
    page.dir = "ltr";
    label.append(name, " ", page);
    return Object.assign(drawEntry(label), { href: url });
  });
  return links.length ? [heading, ...links] : [];
}

/**
 * Draw an entry as Material draws results, so that its arrow keys reach the link.
 * @param {Node[]} content
 */
function drawEntry(...content) {
  const link = /** @type {HTMLAnchorElement} */ (draw("a", "md-search-result__link"));
  const entry = draw("div", "md-search-result__article md-typeset");
  // Enter in the search follows the link of the highest score, the first of several: one of these only if nothing is
  // found, and then the row, which asks.
  entry.dataset.mdScore = "-1";
  entry.append(...content);
  link.append(entry);
  return link;
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
