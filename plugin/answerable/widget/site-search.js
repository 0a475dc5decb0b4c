/** Find the search that a theme has put into the page, and ask it for the words of a question. */

// Themes name the parts of their search in English, whatever language they speak.
const NAMES = ["[type=search]", "[role=search] *", "[class*=search i]", "[id*=search i]", "[name=q]"].join();
const FIELDS = `input:is(${NAMES}):is([type=search], [type=text], :not([type]))`;
const OPENERS = `:is(button, label, a, [role=button]):is([class*=search i], [for*=search i], [data-bs-target*=search i])`;
const OPENED_MILLISECONDS = 2000;

/**
 * Where a search is: the address of its results, or a function that opens it in the page.
 * @typedef {{ href: string } | { open: () => void }} Search
 */

/**
 * Find the search of the page; null where there is none.
 * @param {string} words
 * @returns {Search | null}
 */
export function findSearch(words) {
  const fields = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll(FIELDS)]);
  for (const { form, name } of fields) {
    if (form?.method !== "get" || !form.hasAttribute("action") || !name) continue;
    const address = new URL(form.getAttribute("action") ?? "", document.baseURI);
    const values = /** @type {any} */ (new FormData(form));
    values.set(name, words);
    address.search = new URLSearchParams(values).toString();
    if (/^https?:$/.test(address.protocol)) return { href: address.href };
  }
  const openers = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(OPENERS)]);
  const isVisible = (/** @type {HTMLElement} */ node) => node.checkVisibility({ visibilityProperty: true });
  // A narrow window hides it in a menu, and it opens the search there too.
  const opener = [...fields, ...openers].find(isVisible) ?? openers[0];
  return opener ? { open: () => openSearch(opener, words) } : null;
}

/**
 * Open a search as a reader does, and type the words as soon as it has taken the focus.
 * @param {HTMLElement} opener its field, or what shows it
 * @param {string} words
 */
function openSearch(opener, words) {
  opener.focus();
  opener.click();
  const end = performance.now() + OPENED_MILLISECONDS;
  const type = () => {
    const field = findFocus();
    if (field?.matches("input:not([type=checkbox])")) {
      /** @type {HTMLInputElement} */ (field).select();
      // Types as a keyboard would, for whatever listens to the field.
      document.execCommand("insertText", false, words);
      field.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true, composed: true }));
    } else if (performance.now() < end) requestAnimationFrame(type);
  };
  type();
}

/** @returns {Element | null} what has the focus, inside of shadow roots too */
function findFocus() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return node;
}
