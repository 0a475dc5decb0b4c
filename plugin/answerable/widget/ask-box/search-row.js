/** Offer to ask what a reader types into Material's search, in one row above its results. */

import { element, icon } from "./draw.js";

/**
 * Show the row while something is typed into the search, if Material has drawn one.
 * @param {HTMLElement & { ask(question: string): void }} box
 * @param {import("./strings.js").Language} language
 * @param {AbortSignal} signal removes the row
 */
export function offerAsk(box, { tag, dir, say }, signal) {
  const label = element("p");
  // As Material draws results, so that its arrow keys reach the link. Enter in the search follows the link of the
  // highest score, or the first of them: the row if nothing is found.
  const entry = element("div", { class: "md-search-result__article md-typeset", "data-md-score": "-1" }, icon("ask"), label);
  // Material fetches links that name no target as soon as the pointer is over them, question and all.
  const attributes = { class: "md-search-result__link", "aria-haspopup": "dialog", target: "_self" };
  const link = /** @type {HTMLAnchorElement} */ (element("a", attributes, entry));
  const row = element("div", { class: "md-search-result__item answerable-search-row", lang: tag, dir }, link);
  const read = () => /** @type {HTMLInputElement | null} */ (document.querySelector("input.md-search__input"))?.value.trim();
  const update = () => {
    const list = document.querySelector(".md-search-result__list");
    const question = read();
    if (!list || !question) return row.remove();
    label.textContent = say("row", { question });
    // What a new tab opens, where the reader wants one.
    link.href = `#ask=${encodeURIComponent(question)}`;
    // Moving it would take the focus away.
    if (row.nextSibling !== list) list.before(row);
  };
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    // Material would load the link's page, and close the search that a reader returns to.
    event.stopPropagation();
    box.ask(read() ?? "");
    const toggle = /** @type {HTMLInputElement | null} */ (document.querySelector("input#__search:checked"));
    // A box in the page would be hidden below the search.
    if (!box.hasAttribute("open")) toggle?.click();
  });
  // By focus: a link to a search has filled it in.
  for (const name of ["input", "focusin"]) document.addEventListener(name, update, { signal });
  // The form is empty after this event.
  document.addEventListener("reset", () => setTimeout(update), { signal });
  signal.addEventListener("abort", () => row.remove());
  // A reader may have typed before the words of the row were there.
  update();
}
