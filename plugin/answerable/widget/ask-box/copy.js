/** Format an answer as Markdown with its links, for the clipboard. */

import { getStructure, listSources, nameOf } from "./answer.js";
import { dropTurning, splitCode } from "./draw.js";
import { resolveAddress } from "./request.js";

/**
 * @typedef {import("./draw.js").Block} Block
 * @typedef {import("./draw.js").Span} Span
 * @typedef {import("./answer.js").Citation} Citation
 * @typedef {import("./answer.js").Sentence} Sentence
 */

/**
 * Format a question and its answer.
 * @param {string} question
 * @param {import("./answer.js").NumberedAnswer} answer
 * @param {import("./strings.js").Say} say
 */
export function formatAnswer(question, answer, say) {
  const { claims, routes, site_url: siteUrl, written, complete } = answer;
  const sources = listSources(answer);
  const formatBlocks = (/** @type {Block[]} */ blocks) => blocks.map((block) => formatBlock(block, siteUrl)).join("\n\n");
  const formatText = (/** @type {string} */ text) => escapeStart(formatBlock({ kind: "text", spans: splitCode(text) }, siteUrl));
  const formatSentence = (/** @type {Sentence} */ claim) => {
    const blocks = getStructure(claim);
    const numbers = [...new Set(claim.citations.map(({ n }) => `[${n}]`))].join("");
    return blocks ? `${formatBlocks(blocks)}\n\n${numbers}` : `${formatText(claim.text)} ${numbers}`;
  };
  const formatPassage = (/** @type {Sentence} */ { text, blocks, citations: [citation] }) => {
    return `${formatSource(citation)}\n\n${blocks ? formatBlocks(blocks) : formatText(text)}`;
  };
  const numbered = sources.map((citation) => `${citation.n}. ${formatSource(citation)}`).join("\n");
  const grade = written && !complete ? [say("grade.part", { n: sources.length })] : [];
  const parts = written || !claims.length
    ? [...grade, ...[...claims, ...routes].map(formatSentence), `${say("sources")}:`, numbered]
    : [...claims.map(formatPassage), ...sources.filter(({ kind }) => kind === "hint").map(formatSource)];
  return `**${escape(question)}**\n\n${parts.join("\n\n")}\n`;
}

/** @param {Citation} citation */
function formatSource(citation) {
  const { link, locator } = citation;
  return `[${escape(nameOf(citation))}](<${link ?? ""}>)${locator ? ` – ${escape(locator)}` : ""}`;
}

/**
 * @param {Block} block
 * @param {string | undefined} siteUrl
 */
function formatBlock({ kind, text, language, spans, items, columns, rows }, siteUrl) {
  const formatSpan = (/** @type {Span} */ { text: words, code, href }) => {
    const ticks = words.includes("`") ? "``" : "`";
    const formatted = code ? ticks + words + ticks : escape(words).replace(/[*`]/g, "\\$&");
    const link = resolveAddress(href, siteUrl);
    return link ? `[${formatted}](<${link}>)` : formatted;
  };
  const inline = (/** @type {Span[]} */ pieces) => pieces.map(formatSpan).join("").replace(/\s+/g, " ");
  const formatRow = (/** @type {Span[][]} */ cells) => {
    return `| ${cells.map((pieces) => inline(pieces).replaceAll("|", "\\|")).join(" | ")} |`;
  };
  if (kind === "gap") return "…";
  if (kind === "code") {
    const fence = text.includes("```") ? "~~~~~" : "```";
    return `${fence}${language}\n${text}\n${fence}`;
  }
  if (kind === "list") {
    const formatItem = (/** @type {any} */ item) => `${"    ".repeat(item.level)}${item.number ? `${item.number}.` : "-"} ${inline(item.spans)}`;
    return items.map(formatItem).join("\n");
  }
  if (kind === "table") {
    const head = columns.length ? columns : (rows[0] ?? []).map(() => []);
    return [formatRow(head), `|${" --- |".repeat(head.length)}`, ...rows.map(formatRow)].join("\n");
  }
  return kind === "label" ? `**${inline(spans)}**` : inline(spans);
}

/**
 * Escape what would make a sentence a heading, a list or a fence of code.
 * @param {string} text
 */
function escapeStart(text) {
  return text.trimStart().replace(/^[#+~=-]|(?<=^\d{1,9})[.)]/, "\\$&");
}

/**
 * Escape what Markdown would read as a link or as HTML.
 * @param {string} text
 */
function escape(text) {
  return dropTurning(text).replace(/[\\[\]<>]/g, "\\$&");
}
