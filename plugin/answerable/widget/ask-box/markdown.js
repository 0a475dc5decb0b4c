/** Draw the Markdown of a passage as its page shows it, with the colors of its code. It becomes nodes, never HTML. */

import { parseMarkdown } from "../engine/markdown.js";
import { button, dropTurning, element, icon } from "./draw.js";
import { resolveAddress } from "./request.js";

/** @import { Block } from "../engine/markdown.js" */

/** @typedef {{ text: string, kind: string }} Piece of code */

/** @type {Record<string, Promise<Piece[][]>>} */
const pageCodes = {};
/** @type {Record<string, string>} */
const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", "#39": "'", "#x27": "'" };

/**
 * Make a function that draws a text of Markdown.
 * @param {import("./strings.js").Say} say
 * @param {string | undefined} siteUrl where the site was built for
 * @param {(text: string, frame: HTMLElement) => void} copy
 */
export function makeMarkdownDrawer(say, siteUrl, copy) {
  /**
   * Draw the words of a block, or of one of its cells with the spans in that.
   * @param {Pick<Block, "text" | "spans">} block
   * @param {number} [start]
   * @param {number} [end]
   */
  function drawWords({ text, spans }, start = 0, end = text.length) {
    const ahead = [...spans];
    const drawUntil = (/** @type {number} */ last, at = start) => {
      /** @type {(Node | string)[]} */
      const nodes = [];
      while (ahead[0]?.start < last) {
        const [span] = ahead.splice(0, 1);
        nodes.push(text.slice(at, span.start));
        at = Math.min(span.end, last);
        // A link may begin in code and end outside.
        if (span.end > last) ahead.unshift({ ...span, start: last });
        const children = drawUntil(at, span.start);
        const href = resolveAddress(span.url, siteUrl);
        if (span.kind === "code") nodes.push(element("code", {}, ...children));
        else nodes.push(...(href ? [element("a", { href }, ...children)] : children));
      }
      nodes.push(text.slice(at, last));
      return nodes;
    };
    return drawUntil(end);
  }

  /** @param {string} text */
  function drawCode(text) {
    const lines = drawLines([{ text, kind: "" }]);
    const block = element("pre", { tabindex: "0", dir: "ltr" }, element("code", {}, ...lines));
    const copyButton = element("button", { type: "button", "aria-label": say("copyCode") }, icon("copy"));
    const frame = element("div", { class: "code" }, copyButton, block);
    copyButton.addEventListener("click", () => copy(text, frame));
    if (lines.length <= 20) return frame;
    return element("details", { class: "fold" }, element("summary", {}, say("lines", { n: lines.length })), frame);
  }

  /** @param {Block[][]} items each with the blocks that it owns */
  function drawList(items) {
    const isNumbered = items[0][0].detail !== "";
    const drawn = items.map(([item, ...owned]) => {
      return element("li", { dir: "auto", value: item.detail || null }, ...drawWords(item), ...drawBlocks(owned));
    });
    return element(isNumbered ? "ol" : "ul", { class: "list" }, ...drawn);
  }

  /** @param {Block[]} rows */
  function drawTable(rows) {
    const drawn = rows.map((row) => {
      const [tag, scope] = row.detail ? ["th", "col"] : ["td", null];
      /** @type {import("../engine/markdown.js").Span[][]} */
      const cells = [];
      for (const span of row.spans) span.kind === "cell" ? cells.push([span]) : cells.at(-1)?.push(span);
      const drawCell = (/** @type {typeof row.spans} */ [{ start, end }, ...spans]) =>
        element(tag, { dir: "auto", scope }, ...drawWords({ text: row.text, spans }, start, end));
      return element("tr", {}, ...cells.map(drawCell));
    });
    const head = rows[0].detail ? [element("thead", {}, ...drawn.splice(0, 1))] : [];
    return element("div", { class: "table", tabindex: "0" }, element("table", {}, ...head, element("tbody", {}, ...drawn)));
  }

  /**
   * Draw a set of tabs, of which one is shown.
   * @param {Block[][]} tabs each with the blocks that it owns
   */
  function drawTabs(tabs) {
    const panels = tabs.map(([, ...owned]) => element("div", { class: "tab" }, ...drawBlocks(owned)));
    const names = tabs.map(([{ text }], place) => button("tab-name", text, () => show(place)));
    const show = (/** @type {number} */ shown) => {
      panels.forEach((panel, place) => (panel.hidden = place !== shown));
      names.forEach((name, place) => (name.ariaPressed = String(place === shown)));
    };
    show(0);
    return element("div", { class: "tabs" }, element("div", { class: "tab-names", role: "group" }, ...names), ...panels);
  }

  /**
   * Draw a block with the blocks that it owns, and all that are of one list, table or set of tabs with it.
   * @param {Block[][]} group
   */
  function drawGroup(group) {
    const [[block, ...owned]] = group;
    const { kind, detail } = block;
    if (kind === "item") return [drawList(group)];
    if (kind === "row") return [drawTable(group.map(([row]) => row))];
    if (kind === "code") return [drawCode(block.text)];
    if (detail === "tab" && group.length > 1) return [drawTabs(group)];
    const words = element("p", { class: kind === "label" ? "label" : null, dir: "auto" }, ...drawWords(block));
    return [words, ...drawBlocks(owned)];
  }

  /**
   * @param {Block[]} blocks
   * @returns {HTMLElement[]}
   */
  function drawBlocks(blocks) {
    /** @type {Block[][][]} */
    const groups = [];
    for (const block of blocks) {
      const [last] = groups.at(-1)?.at(-1) ?? [];
      if (last && block.level > last.level) groups.at(-1)?.at(-1)?.push(block);
      else if (last && continues(block, last)) groups.at(-1)?.push([block]);
      else groups.push([[block]]);
    }
    return groups.flatMap(drawGroup);
  }

  return (/** @type {string} */ markdown) => drawBlocks(parseMarkdown(markdown));
}

/**
 * Tell whether a block is of one list, table or set of tabs with the one before it.
 * @param {Block} block
 * @param {Block} last
 */
function continues({ kind, detail, line }, last) {
  if (kind !== last.kind) return false;
  if (kind === "item") return (detail === "") === (last.detail === "");
  // Below column names is a line; another table is further away.
  return kind === "row" ? detail === "" && line <= last.line + 2 : detail === "tab" && last.detail === "tab";
}

/**
 * Draw pieces of code as lines, each piece with its kind as a class, and no part of the box.
 * @param {Piece[]} pieces
 */
function drawLines(pieces) {
  const makeSpan = (/** @type {string} */ name, text = "") => {
    return Object.assign(document.createElement("span"), { className: name, textContent: dropTurning(text) });
  };
  const lines = [makeSpan("code-line")];
  for (const { text, kind } of pieces) {
    for (const part of text.split(/(?<=\n)/)) {
      if (lines.at(-1)?.textContent?.endsWith("\n")) lines.push(makeSpan("code-line"));
      lines.at(-1)?.append(makeSpan(kind, part));
    }
  }
  return lines;
}

/**
 * Read the blocks of code of a page. Nothing of it is parsed as HTML: a policy would tell of its styles.
 * @param {string} address
 */
async function readCodes(address) {
  const isHere = address === location.href.split("#")[0];
  const page = isHere ? document.body.innerHTML : await fetch(address).then((response) => response.text());
  return (page.match(/<pre[\s>].*?<\/pre>/gs) ?? []).map((block) => {
    /** @type {string[]} */
    const kinds = [];
    return block.split(/(<[^>]*>)/).flatMap((part) => {
      if (part.startsWith("</")) kinds.pop();
      else if (part.startsWith("<")) kinds.push(/ class=["']?(\w{1,3})(?=["'\s>])/.exec(part)?.[1] ?? "");
      else if (part) return { text: part.replace(/&([^;]+);/g, (whole, name) => ENTITIES[name] ?? whole), kind: kinds.at(-1) ?? "" };
      return [];
    });
  });
}

/**
 * Give the code of a passage the classes of the same code on its page, if that is of this site.
 * @param {HTMLElement} words
 * @param {string | null} link
 */
export async function colorCode(words, link) {
  const blocks = [...words.querySelectorAll("pre > code")];
  if (!blocks.length || !link?.startsWith(`${location.origin}/`) || location.protocol === "file:") return;
  const [address] = link.split("#");
  const sources = await (pageCodes[address] ??= readCodes(address).catch(() => []));
  for (const block of blocks) {
    const read = (/** @type {Piece[]} */ pieces) => pieces.map(({ text }) => text).join("").trim();
    const pieces = sources.find((source) => read(source) === block.textContent?.trim());
    if (!pieces) continue;
    const marks = Array.from(block.children, ({ className }) => className);
    block.replaceChildren(...drawLines(pieces));
    [...block.children].forEach((line, place) => (line.className = marks[place] ?? line.className));
  }
}
