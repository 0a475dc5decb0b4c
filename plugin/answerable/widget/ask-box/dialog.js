/** Build the box: the question, what changes below it, and the dialog that they stand in. */

import { element, icon, ICONS } from "./draw.js";

/** @typedef {ReturnType<typeof buildPanel>} Panel */

/** Characters that a question may have. */
export const MAX_CHARACTERS = 500;
// A shorter question is not counted.
const MIN_COUNTED = 400;
const MAX_ROWS = 6;

/**
 * Draw a button that closes something.
 * @param {import("./strings.js").Say} say
 * @param {() => void} close
 */
export function drawCloser(say, close) {
  const node = element("button", { class: "close", type: "button", "aria-label": say("close") }, icon(ICONS.close));
  node.addEventListener("click", close);
  return node;
}

/**
 * Build a box.
 * @param {import("./strings.js").Language} language
 * @param {boolean} isInline
 * @param {() => void} close
 */
export function buildPanel({ tag, dir, say }, isInline, close) {
  const question = element("textarea", {
    "aria-label": say("question"),
    "aria-describedby": "hint",
    placeholder: say("placeholder"),
    maxlength: MAX_CHARACTERS,
    rows: "1",
    dir: "auto",
    enterkeyhint: "send",
  });
  const count = element("span", { class: "count", "aria-hidden": "true" });
  const keys = element("span", { id: "hint", class: "hidden" }, `${say("keys")} ${say("limit", { n: MAX_CHARACTERS })}`);
  const send = element("button", { class: "button primary", type: "submit" }, say("ask"));
  const form = element("form", {}, question, count, send, keys);
  const alert = element("p", { class: "alert", role: "alert" });
  const status = element("p", { class: "hidden status", role: "status" });
  const typed = element("div", { class: "places typed", role: "group", hidden: "" });
  const view = element("div", { class: "view" });
  const title = element("h2", { id: "title" }, element("slot", { name: "title" }, say("title")));
  const header = element("header", { role: "none" }, title);
  const result = element("div", { class: "result" }, typed, alert, view, element("slot", { name: "footer" }));
  const panel = element("div", { class: "panel", lang: tag, dir }, header, form, result, status);
  const labels = { class: "box", "aria-labelledby": "title" };
  /** @type {HTMLDialogElement | null} */
  let dialog = null;
  if (!isInline) {
    // A click beside it closes it.
    const node = /** @type {HTMLDialogElement} */ (element("dialog", { ...labels, closedby: "any" }, panel));
    dialog = node;
    header.append(drawCloser(say, close));
    for (const type of ["resize", "scroll"]) visualViewport?.addEventListener(type, () => fitViewport(node));
  }
  return {
    root: dialog ?? element("div", { ...labels, role: "group" }, panel),
    dialog,
    question: /** @type {HTMLTextAreaElement} */ (question),
    form: /** @type {HTMLFormElement} */ (form),
    count,
    alert,
    status,
    typed,
    view,
  };
}

/**
 * Show how long a question is once it is long, and as many lines as it needs.
 * @param {Panel} panel
 */
export function measureQuestion({ question, count }) {
  const { length } = question.value;
  count.textContent = length < MIN_COUNTED ? "" : `${length}/${MAX_CHARACTERS}`;
  count.classList.toggle("full", length >= MAX_CHARACTERS);
  if (CSS.supports("field-sizing", "content")) return;
  question.rows = 1;
  while (question.scrollHeight > question.clientHeight && question.rows < MAX_ROWS) question.rows += 1;
}

/**
 * Open a dialog above all else, whatever it was before.
 * @param {HTMLDialogElement} dialog
 */
export function openModally(dialog) {
  dialog.close();
  dialog.showModal();
  fitViewport(dialog);
}

/**
 * Keep a dialog within what a virtual keyboard leaves visible.
 * @param {HTMLDialogElement} dialog
 */
function fitViewport({ style }) {
  style.setProperty("--visible", `${visualViewport?.height}px`);
  style.setProperty("--top", `${visualViewport?.offsetTop}px`);
}

/**
 * Name the keys of an event as the attribute `shortcut` does; Cmd counts as Ctrl.
 * @param {KeyboardEvent} event
 */
export function nameChord({ ctrlKey, metaKey, altKey, shiftKey, key }) {
  const chord = [(ctrlKey || metaKey) && "ctrl", altKey && "alt", shiftKey && "shift", key?.toLowerCase()];
  return chord.filter(Boolean).join("+");
}
