/** The ask box as an element: its states, attributes and events, as custom-elements.json lists them. */

import BUTTON_CSS from "./button.css" with { type: "text" };
import BOX_CSS from "./box.css" with { type: "text" };
import PAGE_CSS from "./page.css" with { type: "text" };
import { copyText, drawWays, formatAnswer, makeSharedAddress, takeSharedQuestion } from "./actions.js";
import { drawAnswer, listSources, numberCitations } from "./answer.js";
import { buildPanel, followTyping } from "./dialog.js";
import { button, element, icon } from "./draw.js";
import { Answerer, Problem, ROOT } from "./request.js";
import { offerAsk } from "./search-row.js";
import { IN_ENGLISH, loadLanguage } from "./strings.js";
import { goToStop, readLanding, readVisit, saveVisit, showBar } from "./visit.js";

/** @import { CitingElement } from "./answer.js" */
/** @import { Panel } from "./dialog.js" */
/** @import { Answer, Site } from "./request.js" */
/** @import { Visit } from "./visit.js" */

// What may help against a problem, beside the search.
/** @type {Record<string, "retry" | "reload">} */
const REMEDIES = { failed: "retry", timeout: "retry", offline: "retry", "rate-limited": "retry", stale: "reload" };
// An HTTP status and what it means here.
/** @type {Record<string, string>} */
const STATUS_NAMES = { 429: "rate-limited", 404: "not-found", 405: "not-found", 501: "not-found", "too-large": "bad-request" };

const [BUTTON_SHEET, BOX_SHEET, PAGE_SHEET] = [BUTTON_CSS, BOX_CSS, PAGE_CSS].map((css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
});

/** A button and a dialog that put one question to the site and draw its cited answer. */
export class AskBox extends HTMLElement {
  /** @type {Answerer} made when the box is first in a page */
  #answerer = /** @type {any} */ (null);
  #language = IN_ENGLISH;
  /** @type {Panel | null} */
  #panel = null;
  /** @type {string | null} the question that is being answered */
  #asked = null;
  #run = new AbortController();
  /** @type {Visit | null} of the answer that is shown */
  #visit = null;
  #connection = new AbortController();
  #trigger = element("button", { class: "trigger", type: "button", "aria-haspopup": "dialog" });
  #root = this.attachShadow({ mode: "open" });

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [BUTTON_SHEET];
    this.#trigger.addEventListener("click", () => this.open());
    // Themes bind bare letters.
    for (const type of /** @type {const} */ (["keydown", "keypress", "keyup"])) {
      this.addEventListener(type, (event) => {
        const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
        if (isPlain && (this.#panel?.dialog?.open || this.#isInline)) event.stopPropagation();
      });
    }
  }

  async connectedCallback() {
    const isFirst = !this.#answerer;
    // Once: instant navigation changes the base.
    this.#answerer ??= new Answerer(this);
    const { signal } = (this.#connection = new AbortController());
    if (!document.adoptedStyleSheets.includes(PAGE_SHEET)) document.adoptedStyleSheets.push(PAGE_SHEET);
    document.addEventListener("keydown", (event) => this.#followKeys(event), { signal });
    const keepOpen = () => {
      const visit = readVisit();
      if (visit?.from === this.#name) saveVisit({ ...visit, isOpen: this.hasAttribute("open") });
    };
    addEventListener("pagehide", keepOpen, { signal });
    this.#language = await loadLanguage(this.getAttribute("lang") || document.documentElement.lang || "en");
    this.#fillTrigger();
    const isMain = this === document.querySelector(this.localName);
    if (isMain) offerAsk(this, this.#language, signal);
    if (this.#isInline) this.#build();
    else this.#root.append(this.#trigger);
    // Room below the end of the page.
    if (isFirst && this.parentElement === document.body) this.#root.append(element("div", { class: "room" }));
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
    const isBack = ["back_forward", "reload"].includes(navigation?.type);
    const visit = readVisit();
    if (isFirst && isBack && visit?.answer && visit.from === this.#name) await this.#showAgain(visit);
    if (!isMain) return;
    const follow = () => {
      this.#openShared();
      if (!readLanding()) this.#land();
    };
    this.#openShared();
    this.#land();
    addEventListener("hashchange", follow, { signal });
    // Material's instant navigation changes the address without an event.
    const visits = /** @type {any} */ (window).location$?.subscribe?.(follow);
    signal.addEventListener("abort", () => visits?.unsubscribe());
  }

  disconnectedCallback() {
    this.#connection.abort();
    this.close();
    if (this.#asked) this.#stop();
  }

  /**
   * Open the dialog and put the focus into the question; a question is filled in and not sent.
   * @param {string} [question]
   * @returns {boolean} false where the page has prevented it
   */
  open(question) {
    if (!this.#isInline && !this.#panel?.dialog?.open) {
      if (!this.#emit("answerable:open", {}, true)) return false;
      // What has the focus now gets it back from the browser.
      if (document.activeElement === document.body) this.#trigger.focus({ preventScroll: true });
      this.#build().dialog?.showModal();
      this.toggleAttribute("open", true);
    }
    const panel = this.#build();
    if (typeof question === "string") panel.put(question);
    panel.question.focus();
    panel.question.select();
    return true;
  }

  /** Close the dialog and stop a running question. */
  close() {
    this.#panel?.dialog?.close();
  }

  /**
   * Open the dialog and ask.
   * @param {string} question
   */
  ask(question) {
    if (this.open(String(question))) this.#build().form.requestSubmit();
  }

  get #isInline() {
    return this.getAttribute("placement") === "inline";
  }

  get #shortcut() {
    return this.getAttribute("shortcut") ?? "Ctrl+I";
  }

  #fillTrigger() {
    const { tag, dir, say } = this.#language;
    const shortcut = this.#shortcut;
    const names = shortcut.replace(/ctrl/i, "Control");
    const keys = element("kbd", { "aria-hidden": "true" });
    if (shortcut.toLowerCase() !== "none") {
      keys.textContent = navigator.platform.startsWith("Mac") ? shortcut.replace(/ctrl\+?/i, "⌘") : shortcut;
      this.#trigger.ariaKeyShortcuts = names === shortcut ? names : `${names} ${names.replace("Control", "Meta")}`;
    }
    Object.assign(this.#trigger, { lang: tag, dir });
    this.#trigger.replaceChildren(element("slot", { name: "trigger" }, icon("ask"), element("span", {}, say("ask")), keys));
  }

  /** @param {KeyboardEvent} event */
  #followKeys(event) {
    const { ctrlKey, metaKey, altKey, shiftKey, key } = event;
    const chord = [(ctrlKey || metaKey) && "ctrl", altKey && "alt", shiftKey && "shift", key?.toLowerCase()];
    const isMeant = chord.filter(Boolean).join("+") === this.#shortcut.toLowerCase();
    // Ctrl+I makes italics in a text that can be edited.
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
    if (event.defaultPrevented || !isMeant || target.isContentEditable) return;
    event.preventDefault();
    this.open();
  }

  #openShared() {
    const question = takeSharedQuestion();
    if (question === null || !this.open(question) || !question.trim()) return;
    const { view } = this.#build();
    view.querySelector(".tip:first-child")?.remove();
    view.prepend(element("p", { class: "tip" }, this.#language.say("press")));
  }

  get #name() {
    const index = [...document.querySelectorAll(this.localName)].indexOf(this);
    return `${index} ${location.pathname}${location.search}`;
  }

  /** @param {Visit} visit with an answer */
  async #showAgain(visit) {
    this.#build().put(visit.question);
    if (visit.isOpen) this.open();
    this.#showAnswer(visit, await this.#readSite(), false);
  }

  #land() {
    const showAgain = (/** @type {Visit} */ visit) => this.#showAgain({ ...visit, isOpen: true });
    showBar(this.#root, this.#language, ({ question }) => this.open(question), showAgain);
  }

  /** @returns {Panel} built at its first use */
  #build() {
    if (this.#panel) return this.#panel;
    this.#root.adoptedStyleSheets = [BUTTON_SHEET, BOX_SHEET];
    const panel = (this.#panel = buildPanel(this.#language, this.#isInline, () => this.close()));
    this.#root.append(panel.root);
    panel.dialog?.addEventListener("close", () => this.#onClose());
    followTyping(panel, this.#answerer, this.#language.say);
    // A failure is told when something is asked.
    panel.question.addEventListener("focus", () => this.#answerer.open().catch(() => {}));
    panel.question.addEventListener("keydown", (event) => {
      // 229: the Enter that ends a composition in Safari.
      const isComposing = event.isComposing || event.keyCode === 229;
      if (event.key !== "Enter" || event.shiftKey || isComposing) return;
      event.preventDefault();
      panel.form.requestSubmit();
    });
    panel.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const question = panel.question.value.trim();
      if (question === "") panel.question.focus();
      else if (question !== this.#asked && this.#emit("answerable:ask", { question }, true)) this.#ask(question);
    });
    for (const part of [panel.view, panel.typed]) part.addEventListener("click", (event) => this.#followLink(event));
    this.#showEmpty();
    return panel;
  }

  /** @param {MouseEvent} event */
  #followLink(event) {
    const anchor = /** @type {HTMLAnchorElement & CitingElement | null} */ (
      /** @type {HTMLElement} */ (event.target).closest("a.title, a.go, a.place")
    );
    // Of a link in a slot neither is there.
    const list = /** @type {HTMLElement | null | undefined} */ (anchor?.closest(".typed, .view"));
    if (!anchor || !list) return;
    const { link: _, name: __, ...citation } = anchor.citation ?? {};
    if ("n" in citation && !this.#emit("answerable:cite", citation, true)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const anchors = /** @type {NodeListOf<typeof anchor>} */ (list.querySelectorAll("a.title, a.go, a.place"));
    const lines = new Map(Array.from(anchors, ({ href, line = "" }) => [href, line]));
    // Of several lines of one address, the one that is followed.
    lines.set(anchor.href, anchor.line ?? "");
    const stops = Array.from(lines, ([href, line]) => ({ href, line }));
    const at = [...lines.keys()].indexOf(anchor.href);
    const question = this.#build().question.value;
    const typed = { from: this.#name, question, answer: null, places: [], isOpen: true };
    if (!goToStop(Object.assign((list.matches(".view") && this.#visit) || typed, { stops, at }))) return;
    this.close();
    // The focus goes to where the reader goes.
    /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
    this.#land();
  }

  #onClose() {
    // Opened again before the event came.
    if (this.#panel?.dialog?.open) return;
    if (this.#asked) this.#stop();
    this.toggleAttribute("open", false);
    this.#emit("answerable:close", {});
  }

  /** @param {string} question */
  async #ask(question) {
    const { say } = this.#language;
    this.#run.abort();
    const run = (this.#run = new AbortController());
    const { signal } = run;
    const line = element("span", { class: "stage" }, say("working"));
    const stop = button("stop", say("stop"), () => this.#stop());
    saveVisit(null);
    this.#show("working", [element("div", { class: "working" }, element("span", { class: "pulse" }), line, stop)]);
    this.#asked = question;
    // What was pressed may be gone.
    if (!this.#root.activeElement) stop.focus();
    const enterStage = (/** @type {string} */ stage) => {
      const text = say(`stage.${stage}`);
      if (signal.aborted || !text) return;
      line.textContent = text;
      this.#emit("answerable:stage", { stage });
    };
    try {
      const answer = await this.#answerer.answer(question, signal, enterStage);
      const site = await this.#readSite();
      const search = () => this.#answerer.listPlaces(question, answer.site_url).catch(() => []);
      const isRefusal = answer.mode === "not-found";
      /** @type {Visit} */
      const visit = { from: this.#name, question, answer, places: [], isOpen: true, stops: [], at: 0 };
      // A refusal has nothing else to show.
      if (isRefusal) visit.places = await search();
      if (signal.aborted) return;
      const addPlaces = this.#showAnswer(visit, site, true);
      saveVisit(visit);
      if (isRefusal) return;
      visit.places = await search();
      if (signal.aborted) return;
      addPlaces(visit.places);
      saveVisit(visit);
    } catch (error) {
      const site = await this.#readSite();
      if (!signal.aborted) this.#showProblem(question, error, site);
    } finally {
      // A stream may stay open.
      run.abort();
    }
  }

  #stop() {
    this.#run.abort();
    this.#showEmpty();
    const panel = this.#build();
    panel.status.textContent = this.#language.say("stopped");
    panel.question.focus();
  }

  /** @returns {Promise<Site>} */
  async #readSite() {
    return { examples: [], ...(await this.#answerer.readSite().catch(() => ({}))) };
  }

  /**
   * Show a state, and move the focus, but not from elsewhere into an inline box.
   * @param {string} state
   * @param {Node[]} nodes
   * @param {HTMLElement} [focused]
   */
  #show(state, nodes, focused) {
    const { dialog, view, alert, status } = this.#build();
    const hasFocus = dialog !== null || this.matches(":focus-within");
    this.#asked = null;
    this.setAttribute("state", state);
    this.removeAttribute("problem");
    view.setAttribute("aria-busy", String(state === "working"));
    view.replaceChildren(...nodes);
    /** @type {HTMLElement} */ (view.parentElement).scrollTop = 0;
    alert.textContent = "";
    status.textContent = "";
    if (hasFocus) focused?.focus();
  }

  async #showEmpty() {
    const { view, drawQuestions } = this.#build();
    const scope = element("div", { class: "scope" }, element("slot", { name: "scope" }, this.#language.say("scope")));
    this.#show("empty", [scope]);
    const { examples } = await this.#readSite();
    if (scope.isConnected) view.append(...drawQuestions(examples, "examples"));
  }

  /**
   * @param {Visit} visit with an answer
   * @param {Site} site
   * @param {boolean} isNew and not drawn again
   */
  #showAnswer(visit, { search, authors, feedback, bundle }, isNew) {
    const { question, places } = visit;
    const answer = /** @type {Answer} */ (visit.answer);
    const { mode, confidence, claims } = answer;
    const { say } = this.#language;
    const { status } = this.#build();
    const numbered = numberCitations(answer);
    const copy = (/** @type {string} */ text, /** @type {HTMLElement} */ frame) => copyText(text, frame, status, say);
    const readSection = (/** @type {string} */ id) => this.#answerer.readSection(id);
    const { nodes, addPlaces } = drawAnswer(numbered, this.#language, copy, readSection, places);
    const isRefusal = mode === "not-found";
    const row = element("div", { class: "actions" });
    if (!isRefusal) {
      row.append(
        button("copy", say("copy"), () => copy(formatAnswer(question, numbered, say), row)),
        button("share", say("share"), () => copy(makeSharedAddress(question), row)),
      );
    }
    const ways = { search: isRefusal ? search : null, authors: isRefusal || answer.routes.length ? authors : null };
    row.append(...drawWays(question, ways, answer.bundle ?? "", say));
    const isGap = isRefusal || (claims.length > 0 && !answer.written && confidence === "low");
    if (feedback && isGap) row.append(this.#drawOffer(question, answer, feedback));
    this.#visit = visit;
    const differs = bundle && answer.bundle && bundle !== answer.bundle;
    const notice = differs ? [element("p", { class: "meta" }, say("differs"))] : [];
    this.#show(mode, [...nodes, ...notice, ...(row.firstChild ? [row] : [])], nodes[0]);
    if (!isNew) return addPlaces;
    const isUnsure = claims.length === 0 || confidence === "low";
    const key = isRefusal && !places.length ? "notFound" : isUnsure ? "pointers" : "ready";
    status.textContent = say(key, { n: isRefusal ? Math.min(places.length, 5) : listSources(numbered.citations).length });
    this.#emit("answerable:answer", answer);
    return addPlaces;
  }

  /**
   * Draw the offer to send a question that the site does not answer to its authors. Nothing leaves before the click.
   * @param {string} question
   * @param {Answer} answer
   * @param {string} address
   */
  #drawOffer(question, { mode, confidence, bundle }, address) {
    const { say } = this.#language;
    const detail = { question, mode, confidence, page: location.origin + location.pathname, bundle };
    const send = async () => {
      if (!this.#emit("answerable:feedback", detail, true)) return true;
      const headers = { "Content-Type": "application/json" };
      const options = { method: "POST", headers, body: JSON.stringify(detail) };
      return (await this.#answerer.call(new URL(address, ROOT), options)).ok;
    };
    let isSent = false;
    const offer = button("send", say("send"), async () => {
      if (isSent) return;
      isSent = true;
      isSent = await send().catch(() => false);
      offer.textContent = this.#build().status.textContent = say(isSent ? "thanks" : "notSent");
    });
    return offer;
  }

  /**
   * Turn any failure into one state: what is wrong, what may help, and the search of the site.
   * @param {string} question
   * @param {any} error
   * @param {Site} site
   */
  #showProblem(question, error, { search, preview }) {
    const { say } = this.#language;
    const { form, alert, question: field } = this.#build();
    const failure = navigator.onLine ? "failed" : "offline";
    const problem = error instanceof Problem ? error : new Problem(typeof error.code === "string" ? error.code : failure);
    const status = STATUS_NAMES[problem.code] ?? problem.code;
    const code = preview && status === "not-found" ? "preview" : status;
    const key = say(`problem.${code}`) ? code : "failed";
    const remedy = REMEDIES[key];
    const ways = drawWays(question, { search }, "", say);
    const isSearched = !remedy && ways.length > 0;
    const reload = () => {
      history.replaceState(history.state, "", makeSharedAddress(question));
      location.reload();
    };
    if (remedy) ways.unshift(button(remedy, say(remedy), remedy === "retry" ? () => form.requestSubmit() : reload));
    this.#show("problem", ways.length ? [element("div", { class: "actions" }, ...ways)] : [], field);
    alert.textContent = say(`problem.${key}`, { n: problem.seconds }) + (isSearched ? ` ${say("searchWorks")}` : "");
    this.setAttribute("problem", String(problem.code));
    this.#emit("answerable:problem", { code: problem.code });
  }

  /**
   * @param {string} type
   * @param {object} detail
   * @param {boolean} [cancelable]
   * @returns {boolean} false where the page has prevented it
   */
  #emit(type, detail, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(type, { detail, cancelable, bubbles: true, composed: true }));
  }
}
