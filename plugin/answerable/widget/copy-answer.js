/** Format an answer as Markdown with its links, for the clipboard. */

/**
 * @typedef {import("./ask-box/draw.js").Span} Span
 * @typedef {import("./ask-box/draw.js").Block} Block
 * @typedef {import("./ask-box/answer.js").Citation} Citation
 * @typedef {import("./ask-box/answer.js").Sentence} Sentence
 */

/**
 * @typedef {object} Box what the ask box lends
 * @property {(key: string, values?: Record<string, any>) => string} say
 * @property {(address: any, siteUrl?: string) => string | null} resolve
 * @property {(citation: Citation) => string} nameOf
 * @property {Citation[]} sources the first citation of each number
 * @property {(claim: Sentence) => Block[] | null} structureOf the verified blocks of a claim that is more than text
 * @property {(text: string) => Span[]} spansOf the pieces of a sentence, those between backticks as code
 */

/**
 * Format a question and its answer.
 * @param {string} question
 * @param {import("./ask-box/answer.js").NumberedAnswer} answer
 * @param {Box} box
 * @returns {string}
 */
export function formatAnswer(question, { claims, routes, site_url: siteUrl, written, complete }, box) {
  const link = (/** @type {Citation} */ citation) => `[${escape(box.nameOf(citation))}](<${citation.link ?? ""}>)`;
  const source = (/** @type {Citation} */ citation) =>
    link(citation) + (citation.locator ? ` – ${escape(citation.locator)}` : "");
  const formatBlocks = (/** @type {Block[]} */ blocks) => blocks.map((block) => formatBlock(block, siteUrl, box)).join("\n\n");
  const formatText = (/** @type {string} */ text) => {
    return escapeStart(formatBlock({ kind: "text", spans: box.spansOf(text) }, siteUrl, box));
  };
  const formatSentence = (/** @type {Sentence} */ claim) => {
    const blocks = box.structureOf(claim);
    const numbers = [...new Set(claim.citations.map(({ n }) => `[${n}]`))].join("");
    return blocks ? `${formatBlocks(blocks)}\n\n${numbers}` : `${formatText(claim.text)} ${numbers}`;
  };
  const formatPassage = (/** @type {Sentence} */ { text, blocks, citations: [citation] }) => {
    return `${link(citation)}\n\n${blocks ? formatBlocks(blocks) : formatText(text)}`;
  };
  const parts = written || !claims.length
    ? [
        ...(written && !complete ? [box.say("grade.part", { n: box.sources.length })] : []),
        ...[...claims, ...routes].map(formatSentence),
        `${box.say("sources")}:`,
        box.sources.map((citation) => `${citation.n}. ${source(citation)}`).join("\n"),
      ]
    : [...claims.map(formatPassage), ...box.sources.filter(({ kind }) => kind === "hint").map(source)];
  return `**${escape(question)}**\n\n${parts.join("\n\n")}\n`;
}

/**
 * @param {Block} block
 * @param {string | undefined} siteUrl
 * @param {Box} box
 * @returns {string}
 */
function formatBlock(block, siteUrl, { resolve }) {
  const formatSpan = (/** @type {Span} */ { text, code, href }) => {
    const ticks = text.includes("`") ? "``" : "`";
    const words = code ? ticks + text + ticks : escape(text).replace(/[*`]/g, "\\$&");
    const link = resolve(href, siteUrl);
    return link ? `[${words}](<${link}>)` : words;
  };
  const inline = (/** @type {Span[]} */ spans) => spans.map(formatSpan).join("").replace(/\s+/g, " ");
  const formatRow = (/** @type {Span[][]} */ cells) =>
    `| ${cells.map((spans) => inline(spans).replaceAll("|", "\\|")).join(" | ")} |`;
  if (block.kind === "code") {
    const fence = block.text.includes("```") ? "~~~~~" : "```";
    return `${fence}${block.language}\n${block.text}\n${fence}`;
  }
  if (block.kind === "list") {
    const items = block.items.map(
      (/** @type {{ level: number, number: number | null, spans: Span[] }} */ { level, number, spans }) =>
        `${"    ".repeat(level)}${number ? `${number}.` : "-"} ${inline(spans)}`,
    );
    return items.join("\n");
  }
  if (block.kind === "table") {
    const head = block.columns.length ? block.columns : (block.rows[0] ?? []).map(() => []);
    return [formatRow(head), `|${" --- |".repeat(head.length)}`, ...block.rows.map(formatRow)].join("\n");
  }
  if (block.kind === "gap") return "…";
  return block.kind === "label" ? `**${inline(block.spans)}**` : inline(block.spans);
}

/**
 * Escape what would make a sentence a heading, a list or a fence of code.
 * @param {string} text
 * @returns {string}
 */
function escapeStart(text) {
  return text.trimStart().replace(/^[#+~=-]|(?<=^\d{1,9})[.)]/, "\\$&");
}

/**
 * Escape what Markdown would read as a link or as HTML, and drop bidi embeddings and overrides.
 * @param {string} text
 * @returns {string}
 */
function escape(text) {
  return text.replace(/[\u202a-\u202e]/g, "").replace(/[\\[\]<>]/g, "\\$&");
}
