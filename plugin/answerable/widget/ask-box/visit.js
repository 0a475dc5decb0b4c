/** The last answer of the tab and the sections that its reader goes through, kept from page to page. */

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

/**
 * Test whether an address is of this page, whatever its query and fragment.
 * @param {URL} url
 */
function isHere({ origin, pathname }) {
  // Of a page of a disk, this origin is null and that of the location is not.
  return origin === new URL(location.href).origin && pathname === location.pathname;
}

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
