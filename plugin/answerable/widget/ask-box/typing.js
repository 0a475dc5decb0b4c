/** Suggest questions and list places while a reader types. */

/** @import { Place } from "./request.js" */

const PAUSE_MILLISECONDS = 150;
const REST_MILLISECONDS = 1000;

/** @typedef {{ questions: string[], places: Place[] }} Suggestions */
/** @typedef {{ suggest(question: string, signal: AbortSignal): Promise<Suggestions> }} Answerer */

/**
 * Make a function that takes each text as it is typed, and lists under the field what it begins: at the end of a word,
 * or when the reader pauses. The newest text wins; a word that is not whole yet keeps the last list where it has none.
 * @param {import("./dialog.js").Panel} panel
 * @param {Answerer} answerer
 * @param {(suggestions: Suggestions) => HTMLElement[]} draw
 */
export function followTyping({ root, question: field, typed, status }, answerer, draw) {
  let run = new AbortController();
  let pause = 0;
  let rest = 0;
  const show = (/** @type {HTMLElement[]} */ drawn) => {
    // What has the focus stays, until the question is asked.
    if (!drawn.length || !typed.matches(":focus-within")) typed.replaceChildren(...drawn);
    typed.hidden = !typed.firstChild;
    const words = Array.from(typed.querySelectorAll("h3"), (heading) => heading.textContent).join(", ");
    typed.ariaLabel = words;
    // The same words again would be said again.
    if (words && words !== status.textContent) rest = setTimeout(() => (status.textContent = words), REST_MILLISECONDS);
  };
  const list = async (/** @type {string} */ text, /** @type {boolean} */ isInWord) => {
    run.abort();
    const { signal } = (run = new AbortController());
    const none = { questions: [], places: [] };
    const suggestions = text ? await answerer.suggest(text, signal).catch(() => none) : none;
    if (signal.aborted) return;
    const drawn = draw(suggestions);
    if (drawn.length || !isInWord) show(drawn);
  };
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
  return (/** @type {string} */ text) => {
    clearTimeout(pause);
    clearTimeout(rest);
    const isInWord = /[\p{L}\p{M}\p{N}]$/u.test(text);
    const question = text.trim();
    if (!question) list("", false);
    else pause = setTimeout(list, isInWord ? PAUSE_MILLISECONDS : 0, question, isInWord);
  };
}
