/** Define the element `<answerable-ask>`, and place it; `make widget` bundles this script with all that it imports. */

import { AskBox } from "./ask-box/element.js";

export { AskBox };

const MATERIAL_HEADER = "nav.md-header__inner";
/** @type {Record<string, string[]>} where no option names a place, the box stands in a header of Material alone */
const PLACES = {
  "": [MATERIAL_HEADER],
  // Of Bootstrap themes, and of Read the Docs.
  header: [MATERIAL_HEADER, "ul.navbar-nav.ms-md-auto", ".wy-side-nav-search"],
  inline: ["[itemprop=articleBody]", "article", "[role=main]", "main"],
};

/** Place a box as the attributes of the script's tag say, on each page that has none of its author's. */
function placeBox() {
  const { placement, shortcut } = /** @type {HTMLElement | null} */ (document.querySelector("script[data-placement]"))?.dataset ?? {};
  if (placement === undefined) return;
  // It floats where its place is not found.
  const insertBox = () => {
    const box = document.createElement("answerable-ask");
    if (shortcut) box.setAttribute("shortcut", shortcut);
    const place = (PLACES[placement] ?? []).map((selector) => document.querySelector(selector)).find(Boolean);
    if (place) box.setAttribute("placement", placement || "header");
    const item = place?.matches("ul") ? document.createElement("li") : box;
    if (item !== box) {
      item.className = "nav-item d-flex align-items-center";
      item.append(box);
    }
    const parent = place ?? document.body;
    // In Material beside the search, which the link to the repository follows.
    parent.insertBefore(item, parent.querySelector(":scope > .md-header__source"));
    return box;
  };
  /** @type {HTMLElement | null} */
  let placed = null;
  const follow = () => {
    const isOnlyOne = [...document.querySelectorAll("answerable-ask")].every((box) => box === placed);
    if (!isOnlyOne) placed?.remove();
    else if (!placed?.isConnected) placed = insertBox();
  };
  follow();
  // Material's instant navigation replaces the article.
  /** @type {any} */ (window).document$?.subscribe?.(follow);
}

if (!customElements.get("answerable-ask")) {
  customElements.define("answerable-ask", AskBox);
  placeBox();
}
