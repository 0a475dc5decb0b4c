/** Draw the parts of the box: elements, icons and buttons. */

const ICONS = {
  ask: ["M4 4h16v13h-8l-5 4v-4H4z", "M10 9a2 2 0 1 1 3 2l-1 1M12 14v0"],
  close: ["M6 6l12 12M18 6L6 18"],
  copy: ["M9 9h11v11H9zM5 15H4V4h11v1"],
  go: ["M5 12h14M13 6l6 6-6 6"],
};

/**
 * Drop the signs that turn the direction of what follows them: embeddings and overrides.
 * @param {string} text
 */
export function dropTurning(text) {
  return text.replace(/[\u202a-\u202e]/g, "");
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

/** @param {keyof typeof ICONS} name */
export function icon(name) {
  const make = (/** @type {string} */ tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const svg = make("svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  for (const path of ICONS[name]) svg.appendChild(make("path")).setAttribute("d", path);
  return svg;
}

/**
 * @param {string} name its class
 * @param {Node | string} content
 * @param {() => unknown} act
 */
export function button(name, content, act) {
  const node = element("button", { class: `button ${name}`, type: "button" }, content);
  node.addEventListener("click", act);
  return node;
}

/**
 * Draw a button that closes something.
 * @param {import("./strings.js").Say} say
 * @param {() => void} close
 */
export function drawCloser(say, close) {
  const node = element("button", { class: "close", type: "button", "aria-label": say("close") }, icon("close"));
  node.addEventListener("click", close);
  return node;
}
