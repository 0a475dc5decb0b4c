/** Show a section after a click: its line highlighted, and a bar that leads on and back. */

const CSS_TEXT = `
::highlight(answerable) { color: #1c1400; background-color: #ffe066; }
`;
const BAR_HEIGHT = "44px";

/**
 * What the ask box lends.
 * @typedef {Object} Lent
 * @property {import("./ask-box/visit.js").Visit} visit
 * @property {import("./ask-box/strings.js").Language} language
 * @property {typeof import("./ask-box/draw.js").element} element
 * @property {typeof import("./ask-box/draw.js").button} button
 * @property {Node} cross
 * @property {typeof import("./ask-box/find.js").findQuote} findQuote
 * @property {(at: number) => void} go to another stop
 * @property {() => void} back to the answer
 * @property {() => void} again
 * @property {() => void} close
 */

/** @type {CSSStyleSheet | null} */
let sheet = null;

/**
 * Highlight the current stop, and draw the bar.
 * @param {Lent} lent
 * @returns {HTMLElement}
 */
export function land({ visit, language, element, button, cross, findQuote, go, back, again, close }) {
  const { tag, dir, say } = language;
  const { stops, at, answer } = visit;
  const step = (/** @type {string} */ name, /** @type {string} */ sign, /** @type {number} */ to) => {
    const node = button("step", sign, () => go(to));
    node.ariaLabel = say(name);
    node.toggleAttribute("disabled", !stops[to]);
    return node;
  };
  const leave = element("button", { class: "close", type: "button", "aria-label": say("close") }, cross);
  leave.addEventListener("click", close);
  const bar = element(
    "div",
    { class: "bar", role: "region", "aria-label": say("sources"), lang: tag, dir, popover: "manual" },
    element("span", { class: "count" }, say("of", { n: at + 1, total: stops.length })),
    step("previous", dir === "rtl" ? "›" : "‹", at - 1),
    step("next", dir === "rtl" ? "‹" : "›", at + 1),
    ...(answer ? [button("back", say("back"), back)] : []),
    button("again", say("again"), again),
    leave,
  );
  document.body.style.paddingBlockEnd = BAR_HEIGHT;
  document.documentElement.style.scrollPaddingBlockEnd = BAR_HEIGHT;
  const show = () => showLine(stops[at], findQuote);
  show();
  // What has been loaded since may have moved it.
  if (document.readyState !== "complete") addEventListener("load", show, { once: true });
  return bar;
}

/** Take the highlight and the room of the bar away. */
export function leave() {
  CSS.highlights?.delete("answerable");
  document.body.style.paddingBlockEnd = document.documentElement.style.scrollPaddingBlockEnd = "";
}

/**
 * @param {import("./ask-box/visit.js").Stop} stop
 * @param {Lent["findQuote"]} findQuote
 */
function showLine({ href, line }, findQuote) {
  if (!CSS.highlights) return;
  const heading = document.getElementById(decode(new URL(href).hash.slice(1).split(":~:")[0]));
  const opening = line.split(/\s+/).slice(0, 8).join(" ");
  const [start, body] = [heading ?? document.body, document.body];
  const range = findQuote(body, line, start) ?? findQuote(body, line) ?? findQuote(body, opening, start);
  if (!range) return heading?.scrollIntoView();
  const unfold = (/** @type {Element | null | undefined} */ node) => {
    const details = node?.closest("details:not([open])");
    if (!details) return;
    details.setAttribute("open", "");
    unfold(details.parentElement);
  };
  unfold(range.startContainer.parentElement);
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS_TEXT);
    document.adoptedStyleSheets.push(sheet);
  }
  CSS.highlights.set("answerable", new Highlight(range));
  const { top, height } = range.getBoundingClientRect();
  // Below the header of a theme, however long the line is.
  scrollTo({ top: scrollY + top - Math.max(120, (innerHeight - height) / 2), behavior: "instant" });
}

/**
 * Decode what is percent-encoded; a text that is not stays as it is.
 * @param {string} text
 */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
