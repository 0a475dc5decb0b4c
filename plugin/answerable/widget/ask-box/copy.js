/** Format an answer as Markdown with its links, for the clipboard. */

import { listSources, nameOf } from "./answer.js";
import { dropTurning } from "./draw.js";
import { resolveAddress } from "./request.js";

// An escaped sign, code, or what stands between a link's text and the rest of an address of the site.
const ROOTED = /\\.|(\x60+)(?!\x60)[^]*?(?<!\x60)\1(?!\x60)|\]\((\/[^()\s]*)\)/g;

/**
 * Format a question and its answer.
 * @param {string} question
 * @param {import("./answer.js").NumberedAnswer} answer
 * @param {import("./strings.js").Say} say
 */
export function formatAnswer(question, answer, say) {
  const { claims, routes, site_url: siteUrl, written, complete } = answer;
  const sources = listSources(answer);
  const formatMarkdown = (/** @type {string} */ markdown) => {
    return markdown.replace(ROOTED, (match, _, path) => (path ? `](${resolveAddress(path, siteUrl) ?? path})` : match));
  };
  const formatClaim = (/** @type {import("./answer.js").Claim} */ { markdown, citations }) => {
    const numbers = [...new Set(citations.map(({ n }) => `[${n}]`))].join("");
    return `${formatMarkdown(markdown)}${markdown.includes("\n") ? "\n\n" : " "}${numbers}`;
  };
  const formatPassage = (/** @type {import("./answer.js").Claim} */ { markdown, citations: [citation] }) => {
    return `${formatSource(citation)}\n\n${formatMarkdown(markdown)}`;
  };
  const related = routes.map(({ text, citations }) => formatClaim({ markdown: escape(text), citations }));
  const numbered = sources.map((citation) => `${citation.n}. ${formatSource(citation)}`).join("\n");
  const grade = written && !complete ? [say("grade.part", { n: sources.length })] : [];
  const parts = written || !claims.length
    ? [...grade, ...claims.map(formatClaim), ...related, `${say("sources")}:`, numbered]
    : [...claims.map(formatPassage), ...sources.filter(({ kind }) => kind === "hint").map(formatSource)];
  return `**${escape(question)}**\n\n${dropTurning(parts.join("\n\n"))}\n`;
}

/** @param {import("./answer.js").Citation} citation */
function formatSource(citation) {
  const { link, locator } = citation;
  return `[${escape(nameOf(citation))}](<${link ?? ""}>)${locator ? ` – ${escape(locator)}` : ""}`;
}

/**
 * Escape what Markdown would read as a link, as emphasis, code or HTML.
 * @param {string} text
 */
function escape(text) {
  return dropTurning(text).replace(/[\\\x60*[\]<>]/g, "\\$&");
}
