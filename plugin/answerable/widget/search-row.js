/** Offer to ask what a reader types into Material's search, in a row below its results, and list places for it. */

const CSS = `
.answerable-search-row { position: sticky; bottom: 0; z-index: 2; max-height: 45vh; overflow: auto;
  background: var(--md-default-bg-color); box-shadow: 0 -.05rem var(--md-default-fg-color--lightest); }
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
`;
const MAX_PLACES = 5;

/** @typedef {HTMLElement & { ask(question: string): void }} Box */
/** @typedef {{ tag: string, dir: string, say(key: string, values: Record<string, any>): string }} Language */

/**
 * What the script of the box lends.
 * @typedef {Object} Lent
 * @property {import("./suggest.js").Answerer & { readSite(): Promise<any> }} answerer
 * @property {typeof import("./suggest.js").followTyping} followTyping
 * @property {typeof import("./ask-box/draw.js").element} element
 * @property {Node} icon
 */

/** @type {Set<Box>} */
const boxes = new Set();
/** @type {CSSStyleSheet | null} */
let sheet = null;

/**
 * Offer a box in the search of the page, if Material has drawn one; of several boxes the first.
 * @param {Box} box
 * @param {Language} language
 * @param {AbortSignal} signal removes the row
 * @param {Lent} lent
 */
export function offerAsk(box, language, signal, { answerer, followTyping, element, icon }) {
  // It may have left the page while this module was loaded.
  if (signal.aborted) return;
  boxes.add(box);
  const { tag, dir, say } = language;

  /**
   * Draw an entry as Material draws results, so that its arrow keys reach the link.
   * @param {Record<string, string>} attributes
   * @param {Node[]} content
   */
  function drawEntry(attributes, ...content) {
    // Enter in the search follows the link of the highest score, or the first of them: the row if nothing is found.
    const entry = element("div", { class: "md-search-result__article md-typeset", "data-md-score": "-1" }, ...content);
    return /** @type {HTMLAnchorElement} */ (element("a", { class: "md-search-result__link", ...attributes }, entry));
  }

  const label = element("p");
  // Material fetches links that name no target as soon as the pointer is over them, question and all.
  const link = drawEntry({ "aria-haspopup": "dialog", target: "_self" }, icon, label);
  const places = element("div");
  const status = element("div", { role: "status" });
  const row = element("div", { class: "md-search-result__item answerable-search-row", lang: tag, dir }, link, places, status);
  const show = (/** @type {import("./suggest.js").Suggestions} */ suggestions) => {
    const links = suggestions.places.slice(0, MAX_PLACES).map(({ link: href, title }) => {
      const page = element("span", { dir: "ltr" }, new URL(href).pathname);
      return drawEntry({ href }, element("p", { class: "place" }, element("bdi", {}, title), " ", page));
    });
    const words = links.length ? say("places", { n: links.length }) : "";
    const heading = element("p", { class: "places md-search-result__article" }, words);
    // A link that has the focus stays.
    if (!places.matches(":focus-within")) places.replaceChildren(...(links.length ? [heading, ...links] : []));
    const wrap = /** @type {HTMLElement | null} */ (row.closest(".md-search__scrollwrap"));
    // Above it stays a result that the arrow keys reach.
    wrap?.style.setProperty("scroll-padding-bottom", `${row.offsetHeight}px`);
    return words;
  };
  const type = followTyping(answerer, show, status);
  let typed = "";
  const update = () => {
    const list = document.querySelector(".md-search-result__list");
    const question = list && boxes.values().next().value === box ? readQuestion() : "";
    // An event of the focus brings no other text.
    if (question !== typed) type((typed = question));
    if (!list || question === "") return row.remove();
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(CSS);
      document.adoptedStyleSheets.push(sheet);
    }
    label.textContent = say("row", { question });
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
  // It tells whether the browser answers.
  answerer.readSite().catch(() => {});
  // By focus: a link to a search has filled it in.
  for (const name of ["input", "focusin"]) document.addEventListener(name, update, { signal });
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
