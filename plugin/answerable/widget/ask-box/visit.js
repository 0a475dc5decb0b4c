/** The last answer of the tab, the sections that its reader goes through from page to page, and the bar on each. */

import { button, drawCloser, element, icon } from "./draw.js";
import { findQuote } from "./find.js";

const KEY = "answerable visit";

/**
 * @typedef {{ href: string, line: string }} Stop
 * @typedef {Object} Visit
 * @property {string} from the box and the page that were asked
 * @property {string} question
 * @property {import("./request.js").Answer | null} answer none of places for what was typed
 * @property {import("./request.js").Place[]} places
 * @property {boolean} isOpen whether the dialog was open when the reader left
 * @property {Stop[]} stops none before a link is followed
 * @property {number} at the place of the current one
 */

/** @returns {Visit | null} */
export function readVisit() {
  try {
    return JSON.parse(sessionStorage[KEY]);
  } catch {
    return null;
  }
}

/**
 * Keep a visit in place of the one before.
 * @param {Visit | null} visit
 * @returns {boolean} false where there is no storage, or it is full
 */
export function saveVisit(visit) {
  try {
    sessionStorage[KEY] = JSON.stringify(visit);
    return true;
  } catch {
    return false;
  }
}

/** Read the visit whose current stop is this page; null where another way has led here. */
export function readLanding() {
  const visit = readVisit();
  const stop = visit?.stops[visit.at];
  return stop && isHere(new URL(stop.href)) ? visit : null;
}

/**
 * Test whether an address is of this page, whatever its query and fragment.
 * @param {URL} url
 */
function isHere({ origin, pathname }) {
  // Of a page of a disk, this origin is null and that of the location is not.
  return origin === new URL(location.href).origin && pathname === location.pathname;
}

/**
 * Go to the current stop of a visit.
 * @param {Visit} visit
 * @param {boolean} [replaces] the entry of the stop before it in the history
 * @returns {boolean} whether the page stays
 */
export function goToStop(visit, replaces = false) {
  const url = new URL(visit.stops[visit.at].href);
  // The bar highlights the words, and so would the browser. Without a storage, no bar is shown.
  if (saveVisit(visit) && CSS.highlights) url.hash = url.hash.split(":~:")[0];
  const stays = isHere(url);
  if (stays) {
    url.search = location.search;
    if (url.href === location.href) return true;
    // Without a fragment, the page would be loaded again.
    if (!url.hash) url.href += "#";
  }
  // A page that loads its own links would make two entries of one.
  if (replaces) location.replace(url);
  else location.assign(url);
  return stays;
}

/**
 * Show the bar of the visit that has led to this page, and highlight its stop; none where no visit has.
 * @param {ShadowRoot} root of the box
 * @param {import("./strings.js").Language} language
 * @param {(visit: Visit) => void} askAgain
 * @param {(visit: Visit) => void} showAgain shows its answer
 */
export function showBar(root, { tag, dir, say }, askAgain, showAgain) {
  const visit = readLanding();
  root.querySelector(".bar")?.remove();
  // The bar's height.
  document.body.style.paddingBlockEnd = document.documentElement.style.scrollPaddingBlockEnd = visit ? "44px" : "";
  CSS.highlights?.delete("answerable");
  if (!visit) return;
  const { stops, at } = visit;
  const show = () => showLine(stops[at]);
  show();
  // What has been loaded since may have moved it.
  if (document.readyState !== "complete") addEventListener("load", show, { once: true });
  const land = () => showBar(root, { tag, dir, say }, askAgain, showAgain);
  const step = (/** @type {string} */ name, /** @type {string} */ sign, /** @type {number} */ to) => {
    const node = button("step", sign, () => goToStop({ ...visit, at: to }, true) && land());
    node.ariaLabel = say(name);
    node.toggleAttribute("disabled", !stops[to]);
    return node;
  };
  const ways = [button("again", element("span", {}, say("again")), () => askAgain(visit))];
  // On a phone it is its sign alone.
  ways[0].prepend(icon("ask"));
  if (visit.answer) ways.unshift(button("back", element("span", {}, say("back")), () => showAgain(visit)));
  const close = () => {
    saveVisit({ ...visit, stops: [] });
    land();
  };
  const bar = element(
    "div",
    { class: "bar", role: "region", "aria-label": say("sources"), lang: tag, dir, popover: "manual" },
    element("span", { class: "stop-count" }, say("of", { n: at + 1, total: stops.length })),
    step("previous", dir === "rtl" ? "›" : "‹", at - 1),
    step("next", dir === "rtl" ? "‹" : "›", at + 1),
    ...ways,
    drawCloser(say, close),
  );
  root.append(bar);
  // Above all else, whatever the page does with the header that the box may stand in.
  bar.showPopover?.();
}

/** @param {Stop} stop */
function showLine({ href, line }) {
  if (!CSS.highlights) return;
  const { body } = document;
  const start = document.getElementById(decode(new URL(href).hash.slice(1).split(":~:")[0])) ?? body;
  const opening = line.split(/\s+/).slice(0, 8).join(" ");
  const range = findQuote(body, line, start) ?? findQuote(body, line) ?? findQuote(body, opening, start);
  if (!range) return start.scrollIntoView();
  let details = range.startContainer.parentElement?.closest("details");
  for (; details; details = details.parentElement?.closest("details")) details.open = true;
  CSS.highlights.set("answerable", new Highlight(range));
  const { top, height } = range.getBoundingClientRect();
  // Below the header of a theme, however long the line is.
  scrollTo({ top: scrollY + top - Math.max(120, (innerHeight - height) / 2), behavior: "instant" });
}

/**
 * Decode what is percent-encoded; a text that is not stays as it is.
 * @param {string} text
 */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
