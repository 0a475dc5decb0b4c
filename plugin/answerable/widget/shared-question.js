/** Take a question that somebody has shared out of the address of the page. */

/**
 * Return the question of a link, once, and leave the rest of the address alone. It stands in the
 * fragment, which no server sees; older links have it in the query.
 * @returns {string | null}
 */
export function takeSharedQuestion() {
  const page = new URL(location.href);
  for (const part of /** @type {const} */ (["hash", "search"])) {
    const words = new URLSearchParams(page[part].slice(1));
    const question = words.get("ask");
    if (question === null) continue;
    words.delete("ask");
    page[part] = words.toString();
    history.replaceState(history.state, "", page);
    return question;
  }
  return null;
}
