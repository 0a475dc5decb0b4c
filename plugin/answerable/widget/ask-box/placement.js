/** Put the ask box where the site's owner wants it, on each page that has none of its author's. */

const MATERIAL_HEADER = "nav.md-header__inner";
// Of Bootstrap themes, and of Read the Docs.
const HEADERS = [MATERIAL_HEADER, "ul.navbar-nav.ms-md-auto", ".wy-side-nav-search"];
const ARTICLES = ["[itemprop=articleBody]", "article", "[role=main]", "main"];

/** @type {HTMLElement | null} the box that stands in the page because the script says so */
let placed = null;

/** Place the box as the attributes of the script's tag say, now and after instant navigation. */
export function placeBox() {
  const { placement, shortcut } = /** @type {HTMLElement | null} */ (document.querySelector("script[data-placement]"))?.dataset ?? {};
  if (placement === undefined) return;
  const follow = () => {
    const isOnlyOne = [...document.querySelectorAll("answerable-ask")].every((box) => box === placed);
    if (!isOnlyOne) placed?.remove();
    else if (!placed?.isConnected) placed = insertBox(placement, shortcut);
  };
  follow();
  // Material's instant navigation replaces the article.
  /** @type {any} */ (window).document$?.subscribe?.(follow);
}

/**
 * Insert a box. Where the place is not found it floats, as it does where no option names a place but in Material.
 * @param {string} placement
 * @param {string} [shortcut]
 */
function insertBox(placement, shortcut) {
  const box = document.createElement("answerable-ask");
  if (shortcut) box.setAttribute("shortcut", shortcut);
  const places = { "": [MATERIAL_HEADER], header: HEADERS, inline: ARTICLES }[placement] ?? [];
  const place = places.map((selector) => document.querySelector(selector)).find(Boolean);
  if (!place) {
    document.body.append(box);
    return box;
  }
  box.setAttribute("placement", placement || "header");
  const item = document.createElement("li");
  item.className = "nav-item d-flex align-items-center";
  if (place.matches("ul")) item.append(box);
  // In Material beside the search, which the link to the repository follows.
  place.insertBefore(place.matches("ul") ? item : box, place.querySelector(":scope > .md-header__source"));
  return box;
}
