/** Ask a reader whether an answer has helped, where the site names an address for it. */

const REASONS = ["wrong", "incomplete", "outdated", "other"];

/** @typedef {{ helpful: boolean, reason: string | null }} Vote */
/**
 * @typedef {object} Box what the ask box lends
 * @property {HTMLElement} row an empty group, which is filled
 * @property {HTMLElement} status what a screen reader announces
 * @property {(tag: string, attributes: Record<string, string>, text: string) => HTMLElement} element
 * @property {(name: string, text: string, act: () => void) => HTMLElement} button
 * @property {(vote: Vote) => Promise<boolean | null>} post whether it was sent, or null if the page has taken it
 * @property {(key: string) => string} say
 */

/**
 * Draw the question, and after a No the reasons.
 * @param {Box} box
 */
export function askForVote({ row, status, element, button, post, say }) {
  const label = element("span", { class: "asked", tabindex: "-1" }, say("helpful"));
  const send = async (/** @type {boolean} */ helpful, /** @type {string | null} */ reason = null) => {
    row.replaceChildren(label);
    label.focus();
    const isSent = await post({ helpful, reason }).catch(() => false);
    if (isSent !== null && row.isConnected) label.textContent = status.textContent = say(isSent ? "thanks" : "notSent");
  };
  const askWhy = () => {
    const reasons = REASONS.map((reason) => button("", say(`reason.${reason}`), () => send(false, reason)));
    label.textContent = say("why");
    row.ariaLabel = say("why");
    row.replaceChildren(label, ...reasons);
    label.focus();
  };
  row.ariaLabel = say("helpful");
  row.append(label, button("", say("yes"), () => send(true)), button("", say("no"), askWhy));
}
