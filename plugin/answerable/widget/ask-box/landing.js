/** Show a section after a click: its line highlighted, and a bar that leads on and back. */

import { button, element, icon, ICONS } from "./draw.js";
import { findQuote } from "./find.js";
import { decode } from "./request.js";

const BAR_HEIGHT = "44px";

/**
 * Highlight the current stop of a visit, and draw the bar.
 * @param {import("./visit.js").Visit} visit
 * @param {import("./strings.js").Language} language
 * @param {HTMLElement} close
 * @param {(at: number) => void} go to another stop
 * @param {[name: string, act: () => void][]} ways what else the bar offers
 */
export function land({ stops, at }, { tag, dir, say }, close, go, ways) {
  const step = (/** @type {string} */ name, /** @type {string} */ sign, /** @type {number} */ to) => {
    const node = button("step", sign, () => go(to));
    node.ariaLabel = say(name);
    node.toggleAttribute("disabled", !stops[to]);
    return node;
  };
  const show = () => showLine(stops[at]);
  show();
  // What has been loaded since may have moved it.
  if (document.readyState !== "complete") addEventListener("load", show, { once: true });
  document.body.style.paddingBlockEnd = document.documentElement.style.scrollPaddingBlockEnd = BAR_HEIGHT;
  return element(
    "div",
    { class: "bar", role: "region", "aria-label": say("sources"), lang: tag, dir, popover: "manual" },
    element("span", { class: "stop-count" }, say("of", { n: at + 1, total: stops.length })),
    step("previous", dir === "rtl" ? "›" : "‹", at - 1),
    step("next", dir === "rtl" ? "‹" : "›", at + 1),
    ...ways.map(([name, act]) => {
      const node = button(name, "", act);
      // On a phone one of them is its sign alone.
      if (name === "again") node.append(icon(ICONS.ask));
      node.append(element("span", {}, say(name)));
      return node;
    }),
    close,
  );
}

/** Take the highlight and the room of the bar away. */
export function leave() {
  CSS.highlights?.delete("answerable");
  document.body.style.paddingBlockEnd = document.documentElement.style.scrollPaddingBlockEnd = "";
}

/** @param {import("./visit.js").Stop} stop */
function showLine({ href, line }) {
  if (!CSS.highlights) return;
  const heading = document.getElementById(decode(new URL(href).hash.slice(1).split(":~:")[0]));
  const opening = line.split(/\s+/).slice(0, 8).join(" ");
  const [start, body] = [heading ?? document.body, document.body];
  const range = findQuote(body, line, start) ?? findQuote(body, line) ?? findQuote(body, opening, start);
  if (!range) return start.scrollIntoView();
  let details = range.startContainer.parentElement?.closest("details");
  for (; details; details = details.parentElement?.closest("details")) details.open = true;
  CSS.highlights.set("answerable", new Highlight(range));
  const { top, height } = range.getBoundingClientRect();
  // Below the header of a theme, however long the line is.
  scrollTo({ top: scrollY + top - Math.max(120, (innerHeight - height) / 2), behavior: "instant" });
}
