/** Offer what a reader can do next: copy and share an answer, search the site, tell its authors what it lacks. */

import { listSources } from "./answer.js";
import { dropTurning, element } from "./draw.js";
import { resolveAddress, ROOT } from "./request.js";

/** @import { Claim } from "./answer.js" */
/** @import { Say } from "./strings.js" */

// An escaped sign, code, or what stands between a link's text and the rest of an address of the site.
const ROOTED = /\\.|(\x60+)(?!\x60)[^]*?(?<!\x60)\1(?!\x60)|\]\((\/[^()\s]*)\)/g;

/** @param {string} text */
function encode(text) {
  // Half surrogate pairs have no encoding.
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, ""));
}

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
 * @param {Partial<import("./request.js").Site>} site whose owner may have written any address
 * @param {string} bundle
 * @param {Say} say
 */
export function drawWays(question, { search, authors }, bundle, say) {
  return Object.entries({ search, authors }).flatMap(([name, template]) => {
    const address = template?.replaceAll("{question}", encode(question)).replaceAll("{bundle}", encode(bundle));
    try {
      const { protocol, href } = new URL(address || "about:blank", ROOT);
      const isSafe = ["http:", "https:", "mailto:"].includes(protocol);
      return isSafe ? [element("a", { class: `button ${name}`, href }, say(name))] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Copy a text, and say in a row whether the browser allowed it.
 * @param {string} text
 * @param {HTMLElement} row
 * @param {HTMLElement} status what a screen reader announces
 * @param {Say} say
 */
export async function copyText(text, row, status, say) {
  const copied = navigator.clipboard?.writeText(text) ?? Promise.reject();
  const message = await copied.then(() => say("copied"), () => say("notCopied"));
  if (!row.isConnected) return;
  status.textContent = message;
  row.querySelector(".said")?.remove();
  row.append(element("span", { class: "said", "aria-hidden": "true" }, message));
}

/**
 * Format a question and its answer as Markdown with its links, for the clipboard.
 * @param {string} question
 * @param {import("./answer.js").NumberedAnswer} answer
 * @param {Say} say
 */
export function formatAnswer(question, answer, say) {
  const { claims, routes, site_url: siteUrl, written, confidence } = answer;
  const sources = listSources(answer.citations);
  // What Markdown would read as a link, as emphasis, code or HTML.
  const escape = (/** @type {string} */ text) => text.replace(/[\\\x60*[\]<>]/g, "\\$&");
  const formatMarkdown = (/** @type {string} */ markdown) => {
    return markdown.replace(ROOTED, (match, _, path) => (path ? `](${resolveAddress(path, siteUrl) ?? path})` : match));
  };
  const formatSource = (/** @type {import("./answer.js").Citation} */ { name, link, locator }) => {
    return `[${escape(name)}](<${link ?? ""}>)${locator ? ` – ${escape(locator)}` : ""}`;
  };
  const formatClaim = (/** @type {Claim} */ { markdown, citations }) => {
    const numbers = listSources(citations).map(({ n }) => `[${n}]`).join("");
    return `${formatMarkdown(markdown)}${markdown.includes("\n") ? "\n\n" : " "}${numbers}`;
  };
  const formatPassage = (/** @type {Claim} */ { markdown, citations: [citation] }) => {
    return `${formatSource(citation)}\n\n${formatMarkdown(markdown)}`;
  };
  const related = routes.map(({ text, citations }) => formatClaim({ markdown: escape(text), citations }));
  const numbered = sources.map((citation) => `${citation.n}. ${formatSource(citation)}`).join("\n");
  const grade = written && confidence !== "high" ? [say("grade.part", { n: sources.length })] : [];
  const parts = written || !claims.length
    ? [...grade, ...claims.map(formatClaim), ...related, `${say("sources")}:`, numbered]
    : [...claims.map(formatPassage), ...sources.filter(({ kind }) => kind === "hint").map(formatSource)];
  return dropTurning(`**${escape(question)}**\n\n${parts.join("\n\n")}\n`);
}
