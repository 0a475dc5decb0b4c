/** Offer what a reader can do next: copy and share an answer, search the site, tell its authors what it lacks. */

import { button, drawLink, element } from "./draw.js";
import { ROOT } from "./request.js";

/** @import { Site } from "./request.js" */
/** @import { Say } from "./strings.js" */

/**
 * Return the address of the page with a question in its fragment, which no server sees.
 * @param {string} question
 */
export function makeSharedAddress(question) {
  const page = new URL(location.href);
  page.search = "";
  page.hash = `ask=${encode(question)}`;
  return page.href;
}

/** Take the question of a link out of the fragment of the address, once, and leave the rest alone. */
export function takeSharedQuestion() {
  const page = new URL(location.href);
  const parameters = new URLSearchParams(page.hash.slice(1));
  const question = parameters.get("ask");
  if (question === null) return null;
  parameters.delete("ask");
  page.hash = parameters.toString();
  history.replaceState(history.state, "", page);
  return question;
}

/**
 * Draw the links that lead on from a refusal or a problem.
 * @param {string} question
 * @param {Partial<Site>} site
 * @param {string} bundle
 * @param {Say} say
 */
export function drawWays(question, { search, authors }, bundle, say) {
  return Object.entries({ search, authors }).flatMap(([name, template]) => {
    const href = fillAddress(template, question, bundle);
    return href ? [drawLink(href, { class: `button ${name}` }, say(name))] : [];
  });
}

/**
 * @param {string | null | undefined} template
 * @param {string} question
 * @param {string} bundle
 */
function fillAddress(template, question, bundle) {
  if (!template) return null;
  try {
    const text = template.replaceAll("{question}", encode(question)).replaceAll("{bundle}", encode(bundle));
    const url = new URL(text, ROOT);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * Draw the offer to send a question that the site does not answer to its authors. Nothing leaves before the click.
 * @param {Say} say
 * @param {HTMLElement} status what a screen reader announces
 * @param {() => Promise<boolean>} send
 */
export function drawOffer(say, status, send) {
  let isSent = false;
  const press = button("send", say("send"), async () => {
    if (isSent) return;
    isSent = true;
    isSent = await send().catch(() => false);
    press.textContent = status.textContent = say(isSent ? "thanks" : "notSent");
  });
  return press;
}

/** @param {string} text */
function encode(text) {
  // Half surrogate pairs have no encoding.
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, ""));
}

/**
 * Copy a text, and say in a row whether the browser allowed it.
 * @param {string} text
 * @param {HTMLElement} row
 * @param {HTMLElement} status what a screen reader announces
 * @param {Say} say
 */
export async function copyText(text, row, status, say) {
  let key = "copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    key = "notCopied";
  }
  if (!row.isConnected) return;
  const message = say(key);
  status.textContent = message;
  row.querySelector(".said")?.remove();
  row.append(element("span", { class: "said", "aria-hidden": "true" }, message));
}
