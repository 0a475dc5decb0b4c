/** Build the box: the question, what changes below it while it is typed and after, and the dialog that they stand in. */

import { button, drawCloser, element } from "./draw.js";

/** @typedef {ReturnType<typeof buildPanel>} Panel */

const MAX_CHARACTERS = 500;

/**
 * Build a box.
 * @param {import("./strings.js").Language} language
 * @param {boolean} isInline
 * @param {() => void} close
 */
export function buildPanel({ tag, dir, say }, isInline, close) {
  const field = element("textarea", {
    "aria-label": say("question"),
    "aria-describedby": "hint",
    placeholder: say("placeholder"),
    maxlength: MAX_CHARACTERS,
    rows: "1",
    dir: "auto",
    enterkeyhint: "send",
  });
  const question = /** @type {HTMLTextAreaElement} */ (field);
  const count = element("span", { class: "count", "aria-hidden": "true" });
  const keys = element("span", { id: "hint", class: "hidden" }, `${say("keys")} ${say("limit", { n: MAX_CHARACTERS })}`);
  const send = element("button", { class: "button primary", type: "submit" }, say("ask"));
  const form = /** @type {HTMLFormElement} */ (element("form", {}, question, count, send, keys));
  const alert = element("p", { class: "alert", role: "alert" });
  const status = element("p", { class: "hidden status", role: "status" });
  const typed = element("div", { class: "places typed", role: "group", hidden: "" });
  const view = element("div", { class: "view" });
  const title = element("h2", { id: "title" }, element("slot", { name: "title" }, say("title")));
  const header = element("header", { role: "none" }, title);
  const result = element("div", { class: "result" }, typed, alert, view, element("slot", { name: "footer" }));
  const panel = element("div", { class: "panel", lang: tag, dir }, header, form, result, status);
  // A click beside the dialog closes it.
  const [tagName, attributes] = isInline ? ["div", { role: "group" }] : ["dialog", { closedby: "any" }];
  const root = element(tagName, { class: "box", "aria-labelledby": "title", ...attributes }, panel);
  if (!isInline) {
    header.append(drawCloser(say, close));
    // Within what a virtual keyboard leaves visible.
    const fit = () => {
      root.style.setProperty("--visible", `${visualViewport?.height}px`);
      root.style.setProperty("--top", `${visualViewport?.offsetTop}px`);
    };
    fit();
    for (const type of ["resize", "scroll"]) visualViewport?.addEventListener(type, fit);
  }
  // Show how long a question is once it is long, and as many lines as it needs.
  const measure = () => {
    const { length } = question.value;
    count.textContent = length < 400 ? "" : `${length}/${MAX_CHARACTERS}`;
    count.classList.toggle("full", length >= MAX_CHARACTERS);
    if (CSS.supports("field-sizing", "content")) return;
    question.rows = 1;
    while (question.scrollHeight > question.clientHeight && question.rows < 6) question.rows += 1;
  };
  question.addEventListener("input", measure);
  const put = (/** @type {string} */ text) => {
    question.value = text.slice(0, MAX_CHARACTERS);
    measure();
  };
  // Draw questions as buttons that ask them, below a heading by the name of its text.
  const drawQuestions = (/** @type {string[]} */ questions, /** @type {string} */ heading) => {
    const ask = (/** @type {string} */ text) => {
      put(text);
      form.requestSubmit();
    };
    const buttons = questions.map((text) => button("example", text, () => ask(text)));
    return buttons.length ? [element("div", { class: "examples" }, element("h3", { class: "meta" }, say(heading)), ...buttons)] : [];
  };
  const dialog = isInline ? null : /** @type {HTMLDialogElement} */ (root);
  return { root, dialog, question, form, alert, status, typed, view, put, drawQuestions };
}

/**
 * List under the field what a text that is typed begins: at the end of a word, or when the reader pauses.
 * @param {Panel} panel
 * @param {import("./request.js").Answerer} answerer
 * @param {import("./strings.js").Say} say
 */
export function followTyping({ root, form, question: field, typed, status, drawQuestions }, answerer, say) {
  let newest = "";
  let pause = 0;
  let rest = 0;
  const show = (/** @type {HTMLElement[]} */ drawn) => {
    // What has the focus stays, until the question is asked.
    if (!drawn.length || !typed.matches(":focus-within")) typed.replaceChildren(...drawn);
    typed.hidden = !typed.firstChild;
    const words = Array.from(typed.querySelectorAll("h3"), (heading) => heading.textContent).join(", ");
    typed.ariaLabel = words;
    // It is told when the reader rests, and the same words again would be said again.
    if (words && words !== status.textContent) rest = setTimeout(() => (status.textContent = words), 1000);
  };
  const list = async (/** @type {string} */ text, /** @type {boolean} */ isInWord) => {
    newest = text;
    const { questions, places } = await answerer.suggest(text).catch(() => ({ questions: [], places: [] }));
    if (newest !== text) return;
    const links = places.slice(0, 5).map(({ title, line, link: href }) => {
      const words = [element("span", { class: "title", dir: "auto" }, title), " ", element("span", { class: "line", dir: "auto" }, line)];
      return element("li", { class: "entry" }, Object.assign(element("a", { class: "place", href }, ...words), { line }));
    });
    const heading = element("h3", { class: "meta" }, say("places", { n: links.length }));
    const entries = element("ul", { class: "entries", role: "list" }, ...links);
    const drawn = [...drawQuestions(questions, "known"), ...(links.length ? [heading, entries] : [])];
    // A word that is not whole yet keeps the last list where it has none.
    if (drawn.length || !isInWord) show(drawn);
  };
  const follow = (/** @type {string} */ text) => {
    clearTimeout(pause);
    clearTimeout(rest);
    const question = text.trim();
    const isInWord = /[\p{L}\p{M}\p{N}]$/u.test(text);
    if (question) {
      pause = setTimeout(list, isInWord ? 150 : 0, question, isInWord);
    } else {
      newest = "";
      show([]);
    }
  };
  field.addEventListener("input", () => follow(field.value));
  form.addEventListener("submit", () => follow(""));
  root.addEventListener("keydown", (event) => {
    const step = Number(event.key === "ArrowDown") - Number(event.key === "ArrowUp");
    const stops = [field, .../** @type {NodeListOf<HTMLElement>} */ (typed.querySelectorAll("a, button"))];
    const place = stops.findIndex((stop) => stop.matches(":focus"));
    const isInText = place === 0 && (event.isComposing || field.selectionStart < field.value.length);
    const next = stops[place + step];
    if (!step || place < 0 || isInText || !next) return;
    event.preventDefault();
    next.focus();
  });
}
