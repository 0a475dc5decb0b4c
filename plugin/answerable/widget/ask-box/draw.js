/** Draw the parts of the box: elements, icons, buttons and lines of code. */

import { LOAD_MILLISECONDS } from "./strings.js";

/** @typedef {{ text: string, kind: string }} Piece of code */

/** Paths of icons. */
export const ICONS = {
  ask: ["M4 4h16v13h-8l-5 4v-4H4z", "M10 9a2 2 0 1 1 3 2l-1 1M12 14v0"],
  close: ["M6 6l12 12M18 6L6 18"],
  copy: ["M9 9h11v11H9zM5 15H4V4h11v1"],
  go: ["M5 12h14M13 6l6 6-6 6"],
};
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
export function drawLines(pieces) {
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
