/** Ask a reader whether an answer has helped, where the site names an address for it. */

import { button, element } from "./draw.js";

/**
 * Draw the question, and after a No the reasons.
 * @param {import("./strings.js").Say} say
 * @param {HTMLElement} status what a screen reader announces
 * @param {(vote: { helpful: boolean, reason: string | null }) => Promise<boolean | null>} post whether it was sent, or
 *   null if the page has taken it
 */
export function askForVote(say, status, post) {
  const row = element("div", { class: "actions feedback", role: "group" });
  const label = element("span", { class: "asked", tabindex: "-1" });
  const ask = (/** @type {string} */ question, /** @type {HTMLElement[]} */ ...answers) => {
    label.textContent = row.ariaLabel = say(question);
    row.replaceChildren(label, ...answers);
  };
  const send = async (/** @type {boolean} */ helpful, /** @type {string | null} */ reason = null) => {
    row.replaceChildren(label);
    label.focus();
    const isSent = await post({ helpful, reason }).catch(() => false);
    if (isSent !== null && row.isConnected) label.textContent = status.textContent = say(isSent ? "thanks" : "notSent");
  };
  const reasons = ["wrong", "incomplete", "outdated", "other"];
  const askWhy = () => {
    ask("why", ...reasons.map((reason) => button("", say(`reason.${reason}`), () => send(false, reason))));
    label.focus();
  };
  ask("helpful", button("", say("yes"), () => send(true)), button("", say("no"), askWhy));
  return row;
}
