/** Draw the parts of the box: elements, icons, buttons and lines of code. */

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
 * @param {{ text: string, kind: string }[]} pieces
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

/**
 * Give the code of a passage the classes of the same code on its page, once that is loaded.
 * @param {HTMLElement} words
 * @param {string | null} link
 */
export function colorCode(words, link) {
  const blocks = [...words.querySelectorAll("pre > code")];
  if (!blocks.length || !link?.startsWith(`${location.origin}/`) || location.protocol === "file:") return;
  // It is read as data: nothing in it runs.
  const request = new XMLHttpRequest();
  request.open("GET", link.split("#")[0]);
  request.responseType = "document";
  request.onload = () => {
    const sources = [...(request.response?.querySelectorAll("pre code") ?? [])];
    for (const block of blocks) {
      const source = sources.find(({ textContent }) => textContent.trimEnd() === block.textContent?.trimEnd());
      if (!source) continue;
      const walker = document.createTreeWalker(source, NodeFilter.SHOW_TEXT);
      const pieces = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const { className = "" } = node.parentElement ?? {};
        pieces.push({ text: node.textContent ?? "", kind: /^\w{1,3}$/.test(className) ? className : "" });
      }
      const marks = Array.from(block.children, ({ className }) => className);
      block.replaceChildren(...drawLines(pieces));
      [...block.children].forEach((line, place) => (line.className = marks[place] ?? line.className));
    }
  };
  request.send();
}

/**
 * Draw a remark on an answer.
 * @param {string} text
 */
export function drawNote(text) {
  return element("p", { class: "meta" }, text);
}
