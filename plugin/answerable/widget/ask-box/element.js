/** The ask box as an element: its states, attributes and events, as custom-elements.json lists them. */

import BUTTON_CSS from "./button.css" with { type: "text" };
import BOX_CSS from "./box.css" with { type: "text" };
import PAGE_CSS from "./page.css" with { type: "text" };
import { copyText, drawOffer, drawWays, formatAnswer, makeSharedAddress, takeSharedQuestion } from "./actions.js";
import { drawAnswer, listSources, numberCitations } from "./answer.js";
import { buildPanel, followTyping } from "./dialog.js";
import { button, element, icon } from "./draw.js";
import { Answerer, Problem, ROOT } from "./request.js";
import { offerAsk } from "./search-row.js";
import { hasText, IN_ENGLISH, loadLanguage } from "./strings.js";
import { drawBar, goToStop, leave, readLanding, readVisit, saveVisit } from "./visit.js";

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
  #chord = "";
  /** @type {Panel | null} */
  #panel = null;
  /** @type {string | null} the question that is being answered */
  #asked = null;
  #run = new AbortController();
  /** @type {Visit | null} of the answer that is shown */
  #visit = null;
  #connection = new AbortController();
  #label = element("span", {}, IN_ENGLISH.say("ask"));
  #keys = element("kbd", { "aria-hidden": "true" });
  #trigger = element(
    "button",
    { class: "trigger", type: "button", "aria-haspopup": "dialog" },
    element("slot", { name: "trigger" }, icon("ask"), this.#label, this.#keys),
  );
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
    this.#showShortcut(this.getAttribute("shortcut") ?? "Ctrl+I");
    const keepOpen = () => {
      const visit = readVisit();
      if (visit?.from === this.#name) saveVisit({ ...visit, isOpen: this.hasAttribute("open") });
    };
    addEventListener("pagehide", keepOpen, { signal });
    this.#language = await loadLanguage(this.getAttribute("lang") || document.documentElement.lang || "en");
    const { tag, dir, say } = this.#language;
    this.#label.textContent = say("ask");
    Object.assign(this.#trigger, { lang: tag, dir });
    const isMain = this === document.querySelector(this.localName);
    if (isMain) offerAsk(this, this.#language, signal);
    if (this.#isInline) this.#build();
    else this.#root.append(this.#trigger);
    // Room below the end of the page.
    if (isFirst && this.parentElement === document.body) this.#root.append(element("div", { class: "room" }));
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
    const isBack = ["back_forward", "reload"].includes(navigation?.type);
    const visit = readVisit();
    if (isFirst && isBack && visit?.answer && visit.from === this.#name) await this.#showAgain(visit, visit.isOpen);
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
    if (typeof question === "string") this.#put(question);
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

  /** @param {string} shortcut */
  #showShortcut(shortcut) {
    this.#chord = shortcut.toLowerCase();
    if (this.#chord === "none") return;
    const keys = shortcut.replace(/ctrl/i, "Control");
    this.#keys.textContent = navigator.platform.startsWith("Mac") ? shortcut.replace(/ctrl\+?/i, "⌘") : shortcut;
    const isCtrl = keys !== shortcut;
    this.#trigger.ariaKeyShortcuts = isCtrl ? `${keys} ${keys.replace("Control", "Meta")}` : keys;
  }

  /** @param {KeyboardEvent} event */
  #followKeys(event) {
    const { ctrlKey, metaKey, altKey, shiftKey, key } = event;
    const chord = [(ctrlKey || metaKey) && "ctrl", altKey && "alt", shiftKey && "shift", key?.toLowerCase()];
    const isMeant = chord.filter(Boolean).join("+") === this.#chord;
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

  /**
   * @param {Visit} visit
   * @param {boolean} opens
   */
  async #showAgain(visit, opens) {
    this.#put(visit.question);
    if (opens) this.open();
    this.#showAnswer(visit, await this.#readSite(), false);
  }

  /** Show the bar of the visit that has led to this page, if one has. */
  #land() {
    const visit = readLanding();
    this.#root.querySelector(".bar")?.remove();
    if (!visit) return leave();
    /** @type {[string, () => void][]} */
    const ways = [["again", () => this.open(visit.question)]];
    if (visit.answer) ways.unshift(["back", () => this.#showAgain(visit, true)]);
    const bar = drawBar(visit, this.#language, () => this.#land(), ways);
    this.#root.append(bar);
    // Above all else, whatever the page does with the header that the box may stand in.
    bar.showPopover?.();
  }

  /** @returns {Panel} built at its first use */
  #build() {
    if (this.#panel) return this.#panel;
    this.#root.adoptedStyleSheets = [BUTTON_SHEET, BOX_SHEET];
    const panel = (this.#panel = buildPanel(this.#language, this.#isInline, () => this.close()));
    this.#root.append(panel.root);
    panel.dialog?.addEventListener("close", () => this.#onClose());
    followTyping(panel, this.#answerer, this.#language.say, (...drawn) => this.#drawQuestions(...drawn));
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
    if (!anchor) return;
    const { link: _, ...citation } = anchor.citation ?? {};
    if ("n" in citation && !this.#emit("answerable:cite", citation, true)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const list = /** @type {HTMLElement} */ (anchor.closest(".typed, .view"));
    const anchors = /** @type {NodeListOf<typeof anchor>} */ (list.querySelectorAll("a.title, a.go, a.place"));
    const lines = new Map(Array.from(anchors, ({ href, line = "" }) => [href, line]));
    const stops = Array.from(lines, ([href, line]) => ({ href, line }));
    const at = [...lines.keys()].indexOf(anchor.href);
    const typed = this.#makeVisit(this.#build().question.value, null);
    if (!goToStop(Object.assign((list.matches(".view") && this.#visit) || typed, { stops, at }))) return;
    this.close();
    // The focus goes to where the reader goes.
    /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
    this.#land();
  }

  /**
   * @param {string} question
   * @param {Answer | null} answer
   * @returns {Visit}
   */
  #makeVisit(question, answer) {
    return { from: this.#name, question, answer, places: [], isOpen: true, stops: [], at: 0 };
  }

  #onClose() {
    // Opened again before the event came.
    if (this.#panel?.dialog?.open) return;
    if (this.#asked) this.#stop();
    this.toggleAttribute("open", false);
    this.#emit("answerable:close", {});
  }

  /** @param {string} question */
  #put(question) {
    const panel = this.#build();
    panel.question.value = question.slice(0, panel.question.maxLength);
    panel.measure();
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
      if (signal.aborted || !hasText(`stage.${stage}`)) return;
      line.textContent = say(`stage.${stage}`);
      this.#emit("answerable:stage", { stage });
    };
    try {
      const answer = await this.#answerer.answer(question, signal, enterStage);
      const site = await this.#readSite();
      const search = () => this.#answerer.listPlaces(question, answer.site_url).catch(() => []);
      const isRefusal = answer.mode === "not-found";
      const visit = this.#makeVisit(question, answer);
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
    const scope = element("div", { class: "scope" }, element("slot", { name: "scope" }, this.#language.say("scope")));
    this.#show("empty", [scope]);
    const { examples } = await this.#readSite();
    if (scope.isConnected) this.#build().view.append(...this.#drawQuestions(examples, "examples"));
  }

  /**
   * Draw questions as buttons that ask them.
   * @param {string[]} questions
   * @param {string} heading the name of its text
   * @returns {HTMLElement[]} none without a question
   */
  #drawQuestions(questions, heading) {
    const buttons = questions.map((question) =>
      button("example", question, () => {
        this.#put(question);
        this.#build().form.requestSubmit();
      }),
    );
    const title = element("h3", { class: "meta" }, this.#language.say(heading));
    return buttons.length ? [element("div", { class: "examples" }, title, ...buttons)] : [];
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
    if (feedback && isGap) row.append(drawOffer(say, status, () => this.#send(question, answer, feedback)));
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
   * Send a question to the authors, unless the page does it.
   * @param {string} question
   * @param {Answer} answer
   * @param {string} address
   */
  async #send(question, { mode, confidence, bundle }, address) {
    const detail = { question, mode, confidence, page: location.origin + location.pathname, bundle };
    if (!this.#emit("answerable:feedback", detail, true)) return true;
    const headers = { "Content-Type": "application/json" };
    const { ok } = await this.#answerer.call(new URL(address, ROOT), { method: "POST", headers, body: JSON.stringify(detail) });
    return ok;
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
    const key = hasText(`problem.${code}`) ? code : "failed";
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
