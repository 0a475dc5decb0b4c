/** Draw the parts of the box: elements, and the blocks of a passage as its page shows them. */

import { demand, resolveAddress } from "./request.js";
import { LOAD_MILLISECONDS } from "./strings.js";

/**
 * @typedef {import("./strings.js").Say} Say
 * @typedef {{ text: string, code?: boolean, href?: string }} Span
 * @typedef {Record<string, any> & { kind: string }} Block
 * @typedef {{ text: string, kind: string }} Piece of code
 */

/**
 * @typedef {Object} Context of the blocks
 * @property {string} [siteUrl]
 * @property {(text: string, frame: HTMLElement) => void} copy
 */

/** Paths of icons. */
export const ICONS = {
  ask: ["M4 4h16v13h-8l-5 4v-4H4z", "M10 9a2 2 0 1 1 3 2l-1 1M12 14v0"],
  close: ["M6 6l12 12M18 6L6 18"],
  copy: ["M9 9h11v11H9zM5 15H4V4h11v1"],
  go: ["M5 12h14M13 6l6 6-6 6"],
};
// Longer code is folded.
const MAX_CODE_LINES = 20;
// Bidi embeddings and overrides.
const TURNING = /[\u202a-\u202e]/g;

/**
 * Drop the signs that turn the direction of what follows them.
 * @param {string} text
 */
export function dropTurning(text) {
  return text.replace(TURNING, "");
}

/**
 * Make an element; its classes are its parts.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] without those that are null
 * @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null) node.setAttribute(name, dropTurning(String(value)));
    if (name === "class") node.part.value = value;
  }
  node.append(...children.map((child) => (typeof child === "string" ? dropTurning(child) : child)));
  return node;
}

/** @param {string[]} paths */
export function icon(paths) {
  const make = (/** @type {string} */ tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const svg = make("svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  for (const path of paths) svg.appendChild(make("path")).setAttribute("d", path);
  return svg;
}

/**
 * @param {string} name its class
 * @param {string} text
 * @param {() => unknown} act
 */
export function button(name, text, act) {
  const node = element("button", { class: `button ${name}`, type: "button" }, text);
  node.addEventListener("click", act);
  return node;
}

/**
 * Draw a link, or its text alone where there is no address.
 * @param {string | null | undefined} href
 * @param {Record<string, any>} attributes
 * @param {(Node | string)[]} text
 */
export function drawLink(href, attributes, ...text) {
  return href ? element("a", { ...attributes, href }, ...text) : element("span", attributes, ...text);
}

/**
 * Split a sentence; code is what the contract has checked as code, by the same pattern.
 * @param {string} text
 */
export function splitCode(text) {
  return text.split(/\x60([^\x60\n]+)\x60/).map((piece, index) => ({ text: piece, code: index % 2 > 0 }));
}

/**
 * Make a function that draws blocks; it throws for those of another form.
 * @param {Say} say
 * @param {Context} context
 */
export function makeBlockDrawer(say, { siteUrl, copy }) {
  /** @param {Span} span */
  function drawSpan({ text, code, href }) {
    demand(typeof text === "string");
    const piece = code ? element("code", {}, text) : text;
    const link = resolveAddress(href, siteUrl);
    return link ? element("a", { href: link }, piece) : piece;
  }

  const drawSpans = (/** @type {Span[]} */ spans) => spans.map(drawSpan);

  /** @param {Block} block */
  function drawCode({ text }) {
    const lines = drawLines([{ text: text.slice(), kind: "" }]);
    const block = element("pre", { tabindex: "0", dir: "ltr" }, element("code", {}, ...lines));
    const copyButton = element("button", { type: "button", "aria-label": say("copyCode") }, icon(ICONS.copy));
    const frame = element("div", { class: "code" }, copyButton, block);
    copyButton.addEventListener("click", () => copy(text, frame));
    if (lines.length <= MAX_CODE_LINES) return frame;
    return element("details", { class: "fold" }, element("summary", {}, say("lines", { n: lines.length })), frame);
  }

  /** @param {{ level: number, number: any, spans: Span[] }[]} items */
  function drawList(items) {
    const root = element("div", { class: "list" });
    /** @type {HTMLElement[]} */
    const lists = [];
    for (const { level, number, spans } of items) {
      demand(!(level < 0));
      const depth = Math.min(level | 0, lists.length, 8);
      const isNumbered = /^\d{1,9}$/.test(number);
      lists.length = Math.min(lists.length, depth + 1);
      if (lists[depth]?.localName !== (isNumbered ? "ol" : "ul")) {
        lists[depth] = element(isNumbered ? "ol" : "ul");
        (lists[depth - 1]?.lastElementChild ?? root).append(lists[depth]);
      }
      lists[depth].append(element("li", { dir: "auto", value: isNumbered ? number : null }, ...drawSpans(spans)));
    }
    return root;
  }

  /**
   * @param {Span[][]} cells
   * @param {string} tag
   * @param {string | null} [scope]
   */
  function drawRow(cells, tag, scope = null) {
    return element("tr", {}, ...cells.map((spans) => element(tag, { dir: "auto", scope }, ...drawSpans(spans))));
  }

  /** @param {Block} block */
  function drawTable({ columns, rows }) {
    const head = columns.length ? [element("thead", {}, drawRow(columns, "th", "col"))] : [];
    const body = element("tbody", {}, ...rows.map((/** @type {Span[][]} */ cells) => drawRow(cells, "td")));
    return element("div", { class: "table", tabindex: "0" }, element("table", {}, ...head, body));
  }

  /** @type {Record<string, (block: Block) => HTMLElement>} */
  const drawers = {
    text: ({ spans }) => element("p", { dir: "auto" }, ...drawSpans(spans)),
    label: ({ spans }) => element("p", { class: "label", dir: "auto" }, ...drawSpans(spans)),
    code: drawCode,
    list: ({ items }) => drawList(items),
    table: drawTable,
    gap: () => element("p", {}, "…"),
  };
  const drawBlock = (/** @type {Block} */ block) => {
    demand(Object.hasOwn(drawers, block.kind));
    return drawers[block.kind](block);
  };

  /**
   * Draw a set of tabs, of which one is shown.
   * @param {Block[][]} tabs each with its label first
   */
  function drawTabs(tabs) {
    const panels = tabs.map(([, ...blocks]) => element("div", { class: "tab" }, ...blocks.map(drawBlock)));
    const names = tabs.map(([{ spans }], place) => {
      const name = spans.map((/** @type {Span} */ { text }) => text).join("");
      return button("tab-name", name, () => show(place));
    });
    const show = (/** @type {number} */ shown) => {
      panels.forEach((panel, place) => (panel.hidden = place !== shown));
      names.forEach((name, place) => (name.ariaPressed = String(place === shown)));
    };
    show(0);
    return element("div", { class: "tabs" }, element("div", { class: "tab-names", role: "group" }, ...names), ...panels);
  }

  return (/** @type {Block[]} */ blocks) => {
    const drawn = [];
    for (let place = 0; place < blocks.length; ) {
      const tabs = readTabs(blocks, place);
      drawn.push(tabs.length > 1 ? drawTabs(tabs) : drawBlock(blocks[place]));
      place += tabs.length > 1 ? tabs.flat().length : 1;
    }
    return drawn;
  };
}

/**
 * Read the set of tabs that begins at a block. Of the last tab no block says where it ends: it has at most as many
 * blocks, of the same kinds, as the first.
 * @param {Block[]} blocks
 * @param {number} start
 */
function readTabs(blocks, start) {
  const isTab = (/** @type {Block | undefined} */ block) => block?.kind === "label" && block.label === "tab";
  /** @type {Block[][]} */
  const tabs = [];
  for (const block of isTab(blocks[start]) ? blocks.slice(start) : []) {
    if (isTab(block)) tabs.push([block]);
    else tabs.at(-1)?.push(block);
  }
  const [first = [], last = []] = [tabs[0], tabs.at(-1)];
  const end = last.findIndex(({ kind }, place) => place > 1 && kind !== first[place]?.kind);
  return end > 0 ? [...tabs.slice(0, -1), last.slice(0, end)] : tabs;
}

/**
 * Make a span that no part of the box is named by.
 * @param {string} name its class
 * @param {string} [text]
 */
function makeSpan(name, text = "") {
  const node = document.createElement("span");
  node.className = name;
  node.textContent = dropTurning(text);
  return node;
}

/**
 * Draw pieces of code as lines, each piece with its kind as a class.
 * @param {Piece[]} pieces
 */
function drawLines(pieces) {
  const lines = [makeSpan("code-line")];
  for (const { text, kind } of pieces) {
    for (const part of text.split(/(?<=\n)/)) {
      if (lines.at(-1)?.textContent?.endsWith("\n")) lines.push(makeSpan("code-line"));
      lines.at(-1)?.append(makeSpan(kind, part));
    }
  }
  return lines;
}

/** @type {Record<string, Promise<Piece[][]>>} */
const pageCodes = {};
/** @type {Record<string, string>} */
const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", "#39": "'", "#x27": "'" };

/**
 * Read the blocks of code of a page, once. Nothing of it is parsed as HTML: a policy would tell of its styles.
 * @param {string} address
 */
async function readCodes(address) {
  const isHere = address === location.href.split("#")[0];
  const signal = AbortSignal.timeout(LOAD_MILLISECONDS);
  const page = isHere ? document.body.innerHTML : await fetch(address, { signal }).then((response) => response.text());
  return (page.match(/<pre[\s>].*?<\/pre>/gs) ?? []).map(readPieces);
}

/** @param {string} html of a block of code */
function readPieces(html) {
  /** @type {string[]} */
  const kinds = [];
  return html.split(/(<[^>]*>)/).flatMap((part) => {
    if (part.startsWith("</")) kinds.pop();
    else if (part.startsWith("<")) kinds.push(/ class=["']?(\w{1,3})(?=["'\s>])/.exec(part)?.[1] ?? "");
    else if (part) return { text: part.replace(/&([^;]+);/g, (whole, name) => ENTITIES[name] ?? whole), kind: kinds.at(-1) ?? "" };
    return [];
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

/**
 * Draw a remark on an answer.
 * @param {string} text
 */
export function drawNote(text) {
  return element("p", { class: "meta" }, text);
}
