/** Suggest questions and list places while a reader types: in the ask box, and in the search of Material. */

const PAUSE_MILLISECONDS = 250;
const REST_MILLISECONDS = 1000;

/** @typedef {import("./ask-box/request.js").Place} Place */
/** @typedef {{ questions: string[], places: Place[] }} Suggestions */
/** @typedef {{ suggest(question: string, signal: AbortSignal): Promise<Suggestions> }} Answerer */

/**
 * Make a function that takes each text as it is typed: at the end of a word, or when the reader pauses, it asks for
 * suggestions, and the newest text wins. The last list stays until the next one is there.
 * @param {Answerer} answerer
 * @param {(suggestions: Suggestions) => string} show returns what there is, in words; empty without any
 * @param {HTMLElement} status takes these words once the reader rests
 * @returns {(text: string) => void}
 */
export function followTyping(answerer, show, status) {
  let run = new AbortController();
  let pause = 0;
  let rest = 0;
  const list = async (/** @type {string} */ question) => {
    run.abort();
    const { signal } = (run = new AbortController());
    const suggestions = question && (await answerer.suggest(question, signal).catch(() => null));
    if (signal.aborted) return;
    const words = show(suggestions || { questions: [], places: [] });
    // The same words again would be said again.
    if (words && words !== status.textContent) rest = setTimeout(() => (status.textContent = words), REST_MILLISECONDS);
  };
  return (text) => {
    clearTimeout(pause);
    clearTimeout(rest);
    const question = text.trim();
    const isInWord = /[\p{L}\p{M}\p{N}]$/u.test(text);
    if (!question) list("");
    else pause = setTimeout(list, isInWord ? PAUSE_MILLISECONDS : 0, question);
  };
}

/**
 * List suggestions under the field of an ask box, and let the arrow keys reach them from it.
 * @param {import("./ask-box/dialog.js").Panel} panel
 * @param {Answerer} answerer
 * @param {(suggestions: Suggestions) => HTMLElement[]} draw
 */
export function suggestInBox({ root, question, typed, status }, answerer, draw) {
  const show = (/** @type {Suggestions} */ suggestions) => {
    const drawn = draw(suggestions);
    // What has the focus stays, until the question is asked.
    if (!drawn.length || !typed.matches(":focus-within")) typed.replaceChildren(...drawn);
    typed.hidden = !typed.firstChild;
    return (typed.ariaLabel = Array.from(typed.querySelectorAll("h3"), (heading) => heading.textContent).join(", "));
  };
  root.addEventListener("keydown", (event) => {
    const step = Number(event.key === "ArrowDown") - Number(event.key === "ArrowUp");
    const stops = [question, .../** @type {NodeListOf<HTMLElement>} */ (typed.querySelectorAll("a, button"))];
    const place = stops.findIndex((stop) => stop.matches(":focus"));
    const isInText = place === 0 && (event.isComposing || question.selectionStart < question.value.length);
    const next = stops[place + step];
    if (!step || place < 0 || isInText || !next) return;
    event.preventDefault();
    next.focus();
  });
  return followTyping(answerer, show, status);
}
