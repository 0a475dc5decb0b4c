/** The Markdown of a passage: the blocks and the plain text in it; see `markdown.py`, which tells its grammar. */

/**
 * A place in the text of a block, in UTF-16 units; a cell may be empty.
 * @typedef {{kind: "code" | "link" | "cell", start: number, end: number, url?: string}} Span
 *
 * A paragraph, list item, table row, block of code or label, with its plain text and the number of its first line.
 * @typedef {{kind: "text" | "item" | "row" | "code" | "label", text: string, level: number, detail: string,
 *   line: number, spans: Span[]}} Block
 *
 * The plain text of a passage, and its blocks by where they stand in it.
 * @typedef {{text: string, blocks: (Block & {start: number, end: number})[]}} MarkdownText
 */

const INDENT = 4;
const MAX_LEVEL = 32;
const CELL_SEPARATOR = " · ";
// The patterns of `rules.json`: the ask box has no index to read them from.
const FENCE = /^(\x60{3,})([^ \x60"]{0,32})(?: title="([^"]*)")?$/u;
const LABEL = /^(===|!!!) "([^]*)"$/u;
const ITEM = /^(?:-|(-?[0-9]{1,9})\.) +/u;
const ROW = /^\|[^]*\|$/u;
const SEPARATOR_ROW = /^\|(?: --- \|)+$/u;
const CELL_EDGE = /(?<!\\)\|/u;
const DEFINITION = /^:(?: {3}([^]*))?$/u;
const LINE_BREAK = /(?<!\\)(?:\\\\)*\\$/u;
const TOKEN = /\\([!-/:-@[-\x60{-~])|(\x60+)|\[|\](?:\(((?:\/(?!\/)|https?:\/\/)[^\x00-\x20\x7f-\xa0()<>\\]*)\))?/gu;

/**
 * Read a Markdown text: join the plain text of its blocks by a blank line, or by a line's end within a list or table.
 * @param {string} markdown
 * @returns {MarkdownText}
 */
export function readMarkdown(markdown) {
  let text = "";
  /** @type {Block | null} */
  let before = null;
  const blocks = parseMarkdown(markdown).map((block) => {
    const isLine = ["item", "row"].includes(block.kind) || block.detail === "term";
    const continues = isLine || (before?.detail === "term" && block.kind === "text");
    if (before) text += continues ? "\n" : "\n\n";
    before = block;
    const start = text.length;
    text += block.text;
    return { ...block, start, end: text.length };
  });
  return { text, blocks };
}

/**
 * Parse a Markdown text into its blocks; those without any text are left out.
 * @param {string} markdown
 * @returns {Block[]}
 */
export function parseMarkdown(markdown) {
  /** @type {Block[]} */
  const blocks = [];
  const lines = markdown.split("\n");
  /** @param {Block} block */
  const add = (block) => block.text && blocks.push(block);
  // Where the blocks begin between which there is no blank line.
  let run = 0;
  for (let place = 0; place < lines.length; ) {
    const line = place;
    let content = strip(lines[line]);
    let indent = countSpaces(lines[line]);
    place += 1;
    if (!content) {
      run = blocks.length;
      continue;
    }
    const definition = DEFINITION.exec(content);
    if (definition && markTerms(blocks, run, Math.floor(indent / INDENT))) {
      indent += INDENT;
      content = strip(definition[1] ?? "");
    }
    const level = Math.min(Math.floor(indent / INDENT), MAX_LEVEL);
    const fence = FENCE.exec(content);
    const label = LABEL.exec(content);
    if (fence) {
      const [, ticks, language, title = ""] = fence;
      add({ kind: "label", text: title.replaceAll("&quot;", '"'), level, detail: "file", line, spans: [] });
      const first = place;
      while (place < lines.length && strip(lines[place]) !== ticks) place += 1;
      const code = lines.slice(first, place).map((each) => each.slice(Math.min(indent, countSpaces(each))));
      add({ kind: "code", text: code.join("\n"), level, detail: language, line, spans: [] });
      place += 1;
    } else if (ROW.test(content)) {
      const isHeader = place < lines.length && SEPARATOR_ROW.test(strip(lines[place]));
      if (isHeader) place += 1;
      const row = parseRow(content);
      if (/[^ ·]/.test(row.text)) add({ kind: "row", level, detail: isHeader ? "header" : "", line, ...row });
    } else if (label) {
      add({ kind: "label", level, detail: label[1] === "===" ? "tab" : "title", line, ...parseInline(strip(label[2])) });
    } else {
      const item = ITEM.exec(content);
      let rest = content.slice(item?.[0].length ?? 0);
      let text = "";
      /** @type {Span[]} */
      const spans = [];
      for (;;) {
        const isBroken = LINE_BREAK.test(rest);
        const inline = parseInline(isBroken ? rest.slice(0, -1).replace(/(?<! ) +$/, "") : rest);
        spans.push(...shiftSpans(inline.spans, text.length));
        text += inline.text;
        if (!isBroken || place === lines.length) break;
        text += "\n";
        rest = strip(lines[place]);
        place += 1;
      }
      const kind = item ? "item" : "text";
      add({ kind, text: text.replace(/\n+$/, ""), level, detail: item?.[1] ?? "", line, spans });
    }
  }
  return blocks;
}

/** @param {string} line */
function countSpaces(line) {
  return line.search(/[^ ]|$/);
}

/** @param {string} line */
function strip(line) {
  return line.slice(countSpaces(line)).replace(/(?<! ) +$/, "");
}

/**
 * Make terms of the paragraphs before a definition; false if there is none.
 * @param {Block[]} blocks
 * @param {number} run
 * @param {number} level
 */
function markTerms(blocks, run, level) {
  let first = blocks.length;
  while (first > run && blocks[first - 1].kind === "text" && blocks[first - 1].level === level) {
    first -= 1;
    Object.assign(blocks[first], { kind: "label", detail: "term" });
  }
  return first < blocks.length;
}

/**
 * Parse the line of a row: its plain text, and its cells with what they hold.
 * @param {string} content
 */
function parseRow(content) {
  let text = "";
  /** @type {Span[]} */
  const spans = [];
  content.slice(1, -1).split(CELL_EDGE).forEach((cell, number) => {
    text += number ? CELL_SEPARATOR : "";
    const inline = parseInline(strip(cell).replaceAll("\\|", "|"));
    const start = text.length;
    text += inline.text;
    spans.push({ kind: "cell", start, end: text.length }, ...shiftSpans(inline.spans, start));
  });
  return { text, spans: sortSpans(spans) };
}

/**
 * Parse the inline text of one line: its plain text, and its code and links.
 * @param {string} content
 * @returns {{text: string, spans: Span[]}}
 */
function parseInline(content) {
  /** @type {string[]} */
  const parts = [];
  /** @type {Span[]} */
  const spans = [];
  // Where the last run of so many backticks begins.
  const last = new Map(Array.from(content.matchAll(/\x60+/g), ({ 0: run, index }) => [run.length, index]));
  let place = 0;
  let length = 0;
  const push = (/** @type {string} */ part) => (length += part.length, parts.push(part));
  // Of the bracket that may begin a link: its part, its place in the text, the number of spans before it.
  /** @type {{part: number, start: number, count: number} | null} */
  let bracket = null;
  for (;;) {
    TOKEN.lastIndex = place;
    const token = TOKEN.exec(content);
    push(content.slice(place, token?.index));
    if (!token) break;
    const [whole, escaped, ticks, url] = token;
    place = token.index + whole.length;
    if (escaped) {
      push(escaped);
    } else if (ticks) {
      if ((last.get(ticks.length) ?? -1) >= place) {
        const close = content.slice(place).search(new RegExp(`(?<!\x60)${ticks}(?!\x60)`)) + place;
        let code = content.slice(place, close);
        if (ticks.length > 1 && code.length > 2 && code.startsWith(" ") && code.endsWith(" ")) code = code.slice(1, -1);
        spans.push({ kind: "code", start: length, end: length + code.length });
        push(code);
        place = close + ticks.length;
      } else push(ticks);
    } else if (url && bracket && length > bracket.start + 1) {
      parts[bracket.part] = "";
      length -= 1;
      for (const span of spans.slice(bracket.count)) {
        span.start -= 1;
        span.end -= 1;
      }
      spans.push({ kind: "link", start: bracket.start, end: length, url });
      bracket = null;
    } else {
      bracket = whole === "[" ? { part: parts.length, start: length, count: spans.length } : null;
      push(whole);
    }
  }
  return { text: parts.join(""), spans: sortSpans(joinCode(spans)) };
}

/**
 * Join spans of code that touch each other.
 * @param {Span[]} spans
 */
function joinCode(spans) {
  /** @type {Span | undefined} */
  let code;
  return sortSpans(spans).filter((span) => {
    if (span.kind !== "code") return true;
    if (code && span.start <= code.end) code.end = span.end;
    else code = span;
    return code === span;
  });
}

/**
 * Sort spans by their starts, an outer one before what it holds.
 * @param {Span[]} spans
 */
function sortSpans(spans) {
  return spans.sort((one, other) => one.start - other.start || other.end - one.end || (one.kind < other.kind ? -1 : 1));
}

/**
 * Move spans to where their text stands in a longer one.
 * @param {Span[]} spans
 * @param {number} offset
 */
function shiftSpans(spans, offset) {
  return spans.map((span) => ({ ...span, start: span.start + offset, end: span.end + offset }));
}
