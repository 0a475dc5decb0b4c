/** The sections of an answer that a reader goes through, which the tab keeps from page to page. */

const KEY = "answerable visit";

/**
 * @typedef {{ href: string, line: string }} Stop
 * @typedef {Object} Visit
 * @property {string} question
 * @property {import("./request.js").Answer | null} answer none of places for what was typed
 * @property {import("./request.js").Place[]} places
 * @property {Stop[]} stops
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

/** Read the visit that has led to this page; null where another way has. */
export function readVisit() {
  try {
    const visit = JSON.parse(sessionStorage[KEY]);
    return isHere(new URL(visit.stops[visit.at].href)) ? visit : null;
  } catch {
    return null;
  }
}

export function forgetVisit() {
  try {
    delete sessionStorage[KEY];
  } catch {
    // There is no storage.
  }
}

/**
 * Go to the current stop of a visit.
 * @param {Visit} visit
 * @param {boolean} [replaces] the entry of the stop before it in the history
 * @returns {boolean} whether the page stays
 */
export function goToStop(visit, replaces = false) {
  const url = new URL(visit.stops[visit.at].href);
  try {
    sessionStorage[KEY] = JSON.stringify(visit);
    // Else the browser highlights the words too.
    if (CSS.highlights) url.hash = url.hash.split(":~:")[0];
  } catch {
    // Without a storage no bar is shown, and the browser highlights the words.
  }
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
