/** The ask box as an element: its states, attributes and events, as custom-elements.json lists them. */

import BUTTON_CSS from "./button.css" with { type: "text" };
import BOX_CSS from "./box.css" with { type: "text" };
import PAGE_CSS from "./page.css" with { type: "text" };
import { copyText, drawOffer, drawWays, makeSharedAddress, takeSharedQuestion } from "./actions.js";
import { drawAnswer, listSources, numberCitations } from "./answer.js";
import { formatAnswer } from "./copy.js";
import { buildPanel, drawCloser, MAX_CHARACTERS, measureQuestion, nameChord, openModally } from "./dialog.js";
import { button, drawNote, element, icon, ICONS } from "./draw.js";
import { land, leave } from "./landing.js";
import { Answerer, Problem, ROOT } from "./request.js";
import { offerAsk } from "./search-row.js";
import { hasText, IN_ENGLISH, loadLanguage } from "./strings.js";
import { followTyping } from "./typing.js";
import { goToStop, readLanding, readVisit, saveVisit } from "./visit.js";

/** @import { CitingElement } from "./answer.js" */
/** @import { Panel } from "./dialog.js" */
/** @import { Answer, Place, Site } from "./request.js" */
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
  /** @type {Answerer | null} */
  #answerer = null;
  #language = IN_ENGLISH;
  #chord = "";
  /** @type {AbortController | null} */
  #run = null;
  /** @type {Panel | null} */
  #panel = null;
  #asked = "";
  /** @type {Visit | null} of the answer that is shown */
  #visit = null;
  #hasFocus = false;
  /** @type {((text: string) => void) | undefined} lists places for what is typed */
  #type;
  #connection = new AbortController();
  #label = element("span", {}, IN_ENGLISH.say("ask"));
  #keys = element("kbd", { "aria-hidden": "true" });
  #trigger = element(
    "button",
    { class: "trigger", type: "button", "aria-haspopup": "dialog" },
    element("slot", { name: "trigger" }, icon(ICONS.ask), this.#label, this.#keys),
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
    document.addEventListener("keydown", this.#onShortcut, { signal });
    this.#showShortcut(this.getAttribute("shortcut") ?? "Ctrl+I");
    addEventListener("pagehide", this.#onLeave, { signal });
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
    if (isFirst) await this.#restore();
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
    if (this.#run) this.#stop();
  }

  /**
   * Open the dialog and put the focus into the question; a question is filled in and not sent.
   * @param {string} [question]
   * @returns {boolean} false where the page has prevented it
   */
  open(question) {
    const dialog = this.#panel?.dialog;
    if (!this.#isInline && !dialog?.matches(":modal")) {
      if (!this.#emit("answerable:open", {}, true)) return false;
      // What has the focus now gets it back from the browser.
      if (document.activeElement === document.body) this.#trigger.focus({ preventScroll: true });
      openModally(/** @type {HTMLDialogElement} */ (this.#build().dialog));
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
    if (this.open(String(question))) this.#submit();
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

  #onShortcut = (/** @type {KeyboardEvent} */ event) => {
    // Ctrl+I makes italics in a text that can be edited.
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
    if (event.defaultPrevented || nameChord(event) !== this.#chord || target.isContentEditable) return;
    event.preventDefault();
    this.open();
  };

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

  #onLeave = () => {
    const visit = readVisit();
    if (visit?.from === this.#name) saveVisit({ ...visit, isOpen: this.hasAttribute("open") });
  };

  async #restore() {
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
    const visit = readVisit();
    if (!visit?.answer || visit.from !== this.#name || !["back_forward", "reload"].includes(navigation?.type)) return;
    await this.#showAgain(visit, visit.isOpen);
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
    const close = drawCloser(this.#language.say, () => {
      saveVisit({ ...visit, stops: [] });
      this.#land();
    });
    /** @type {[string, () => void][]} */
    const ways = [["again", () => this.open(visit.question)]];
    if (visit.answer) ways.unshift(["back", () => this.#showAgain(visit, true)]);
    const go = (/** @type {number} */ at) => void (goToStop({ ...visit, at }, true) && this.#land());
    const bar = land(visit, this.#language, close, go, ways);
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
    const draw = (/** @type {import("./typing.js").Suggestions} */ found) => this.#drawTyped(found);
    const type = (this.#type = followTyping(panel, /** @type {Answerer} */ (this.#answerer), draw));
    panel.question.addEventListener("input", () => {
      measureQuestion(panel);
      type(panel.question.value);
    });
    // A failure is told when something is asked.
    panel.question.addEventListener("focus", () => this.#answerer?.prepare().catch(() => {}));
    panel.question.addEventListener("keydown", (event) => {
      // 229: the Enter that ends a composition in Safari.
      const isComposing = event.isComposing || event.keyCode === 229;
      if (event.key !== "Enter" || event.shiftKey || isComposing) return;
      event.preventDefault();
      panel.form.requestSubmit();
    });
    panel.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    for (const part of [panel.view, panel.typed]) part.addEventListener("click", (event) => this.#followLink(event));
    this.#showEmpty();
    return panel;
  }

  /**
   * Draw what goes on as the reader has begun: questions, then places with their line.
   * @param {import("./typing.js").Suggestions} found
   */
  #drawTyped({ questions, places }) {
    const { say } = this.#language;
    const links = places.slice(0, 5).map(({ title, line, link }) => {
      const words = [element("span", { class: "title", dir: "auto" }, title), " ", element("span", { class: "line", dir: "auto" }, line)];
      return element("li", { class: "entry" }, Object.assign(element("a", { class: "place", href: link }, ...words), { line }));
    });
    const heading = element("h3", { class: "meta" }, say("places", { n: links.length }));
    const list = element("ul", { class: "entries", role: "list" }, ...links);
    return [...this.#drawQuestions(questions, "known"), ...(links.length ? [heading, list] : [])];
  }

  /** @param {MouseEvent} event */
  #followLink(event) {
    const anchor = /** @type {CitingElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("a.title, a.go, a.place"));
    if (!anchor) return;
    const { link: _, ...citation } = anchor.citation ?? {};
    if ("n" in citation && !this.#emit("answerable:cite", citation, true)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const list = /** @type {HTMLElement} */ (anchor.closest(".typed, .view"));
    const anchors = /** @type {NodeListOf<HTMLAnchorElement & CitingElement>} */ (list.querySelectorAll("a.title, a.go, a.place"));
    const stops = Array.from(anchors, (node) => ({ href: node.href, line: node.line ?? "" }));
    const distinct = stops.filter(({ href }, place) => stops.findIndex((other) => other.href === href) === place);
    const at = distinct.findIndex(({ href }) => href === /** @type {any} */ (anchor).href);
    const typed = this.#makeVisit(this.#build().question.value, null, []);
    event.preventDefault();
    if (!goToStop(Object.assign((list.matches(".view") && this.#visit) || typed, { stops: distinct, at }))) return;
    this.close();
    // The focus goes to where the reader goes.
    /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
    this.#land();
  }

  /**
   * @param {string} question
   * @param {Answer | null} answer
   * @param {Place[]} places
   * @returns {Visit}
   */
  #makeVisit(question, answer, places) {
    return { from: this.#name, question, answer, places, isOpen: true, stops: [], at: 0 };
  }

  #onClose() {
    // Opened again before the event came.
    if (this.#panel?.dialog?.open) return;
    if (this.#run) this.#stop();
    this.toggleAttribute("open", false);
    this.#emit("answerable:close", {});
  }

  /** @param {string} question */
  #put(question) {
    const panel = this.#build();
    panel.question.value = question.slice(0, MAX_CHARACTERS);
    measureQuestion(panel);
  }

  #submit() {
    const field = this.#build().question;
    const question = field.value.trim();
    if (question === "") return field.focus();
    if (this.#run && question === this.#asked) return;
    if (this.#emit("answerable:ask", { question }, true)) this.#ask(question);
  }

  /** @param {string} question */
  async #ask(question) {
    this.#run?.abort();
    const run = (this.#run = new AbortController());
    const { signal } = run;
    this.#asked = question;
    this.#showWorking();
    try {
      const enter = (/** @type {string} */ stage) => signal.aborted || this.#enterStage(stage);
      const answerer = /** @type {Answerer} */ (this.#answerer);
      const answer = await answerer.answer(question, signal, enter);
      const site = await this.#readSite();
      const search = () => answerer.listPlaces(question, answer.site_url).catch(() => []);
      // A refusal has nothing else to show.
      const places = answer.mode === "not-found" ? await search() : [];
      if (signal.aborted) return;
      const visit = this.#makeVisit(question, answer, places);
      const add = this.#showAnswer(visit, site, true);
      saveVisit(visit);
      if (answer.mode === "not-found") return;
      add(await search());
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
    this.#run?.abort();
    this.#run = null;
    this.#showEmpty();
    const panel = this.#build();
    panel.status.textContent = this.#language.say("stopped");
    panel.question.focus();
  }

  /** @returns {Promise<Site>} */
  async #readSite() {
    return { examples: [], ...(await this.#answerer?.readSite().catch(() => ({}))) };
  }

  /**
   * @param {string} state
   * @param {Node[]} nodes
   */
  #show(state, ...nodes) {
    const { dialog, view, alert, status } = this.#build();
    this.#hasFocus = dialog !== null || this.matches(":focus-within");
    this.setAttribute("state", state);
    this.removeAttribute("problem");
    view.setAttribute("aria-busy", String(state === "working"));
    view.replaceChildren(...nodes);
    /** @type {HTMLElement} */ (view.parentElement).scrollTop = 0;
    alert.textContent = "";
    status.textContent = "";
  }

  /**
   * Move the focus, but not from elsewhere into an inline box.
   * @param {HTMLElement} node
   */
  #focus(node) {
    if (this.#hasFocus) node.focus();
  }

  async #showEmpty() {
    const scope = element("div", { class: "scope" }, element("slot", { name: "scope" }, this.#language.say("scope")));
    this.#show("empty", scope);
    const panel = this.#build();
    measureQuestion(panel);
    const { examples } = await this.#readSite();
    if (scope.isConnected) panel.view.append(...this.#drawQuestions(examples, "examples"));
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
        this.#submit();
      }),
    );
    const title = element("h3", { class: "meta" }, this.#language.say(heading));
    return buttons.length ? [element("div", { class: "examples" }, title, ...buttons)] : [];
  }

  #showWorking() {
    const { say } = this.#language;
    const stage = element("span", { class: "stage" }, say("working"));
    const stop = button("stop", say("stop"), () => this.#stop());
    this.#visit = null;
    saveVisit(null);
    this.#type?.("");
    this.#show("working", element("div", { class: "working" }, element("span", { class: "pulse" }), stage, stop));
    // What was pressed may be gone.
    if (!this.#root.activeElement) this.#focus(stop);
  }

  /** @param {string} stage */
  #enterStage(stage) {
    const line = this.#panel?.view.querySelector(".stage");
    if (!line || !hasText(`stage.${stage}`)) return;
    line.textContent = this.#language.say(`stage.${stage}`);
    this.#emit("answerable:stage", { stage });
  }

  /**
   * @param {Visit} visit with an answer
   * @param {Site} site
   * @param {boolean} isNew and not drawn again
   * @returns {(places: Place[]) => void} adds places
   */
  #showAnswer(visit, site, isNew) {
    const { question, places } = visit;
    const answer = /** @type {Answer} */ (visit.answer);
    const { say } = this.#language;
    const { status } = this.#build();
    const numbered = numberCitations(answer);
    const copy = (/** @type {string} */ text, /** @type {HTMLElement} */ row) => copyText(text, row, status, say);
    const readSection = (/** @type {string} */ id) => /** @type {Answerer} */ (this.#answerer).readSection(id);
    const context = { siteUrl: answer.site_url, copy, readSection };
    const { nodes, drawPlaces } = drawAnswer(numbered, this.#language, context, places);
    const isRefusal = answer.mode === "not-found";
    const { feedback } = site;
    const isGap = isRefusal || (answer.claims.length > 0 && !answer.written && answer.confidence === "low");
    const differs = site.bundle && answer.bundle && site.bundle !== answer.bundle;
    const row = element("div", { class: "actions" });
    const ways = { search: isRefusal ? site.search : null, authors: isRefusal || answer.routes.length ? site.authors : null };
    if (!isRefusal) {
      row.append(
        button("copy", say("copy"), () => copy(formatAnswer(question, numbered, say), row)),
        button("share", say("share"), () => copy(makeSharedAddress(question), row)),
      );
    }
    row.append(...drawWays(question, ways, answer.bundle ?? "", say));
    if (feedback && isGap) row.append(drawOffer(say, status, () => this.#send(question, answer, feedback)));
    this.#run = null;
    this.#visit = visit;
    const more = element("div", { class: "places", role: "group", "aria-label": say("more"), hidden: "" });
    this.#show(
      answer.mode,
      ...nodes,
      ...(isRefusal ? [] : [more]),
      ...(differs ? [drawNote(say("differs"))] : []),
      ...(row.firstChild ? [row] : []),
    );
    this.#focus(nodes[0]);
    const add = (/** @type {Place[]} */ found) => {
      visit.places = found;
      more.append(...drawPlaces(found));
      more.hidden = !more.firstChild;
    };
    if (!isRefusal) add(places);
    if (!isNew) return add;
    const isUnsure = answer.claims.length === 0 || answer.confidence === "low";
    const key = isRefusal ? (places.length ? "pointers" : "notFound") : isUnsure ? "pointers" : "ready";
    status.textContent = say(key, { n: isRefusal ? Math.min(places.length, 5) : listSources(numbered).length });
    this.#emit("answerable:answer", answer);
    return add;
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
    const answerer = /** @type {Answerer} */ (this.#answerer);
    const { ok } = await answerer.call(new URL(address, ROOT), { method: "POST", headers, body: JSON.stringify(detail) });
    return ok;
  }

  /**
   * Turn any failure into one state: what is wrong, what may help, and the search of the site.
   * @param {string} question
   * @param {unknown} error
   * @param {Site} site
   */
  #showProblem(question, error, { search, preview }) {
    const { say } = this.#language;
    const panel = this.#build();
    const problem = error instanceof Problem ? error : new Problem(navigator.onLine ? "failed" : "offline");
    const status = STATUS_NAMES[problem.code] ?? problem.code;
    const code = preview && status === "not-found" ? "preview" : status;
    const key = hasText(`problem.${code}`) ? code : "failed";
    const name = REMEDIES[key];
    const remedy = button(name, name && say(name), () => {
      if (name === "retry") return this.#submit();
      history.replaceState(history.state, "", makeSharedAddress(question));
      location.reload();
    });
    const ways = [...(name ? [remedy] : []), ...drawWays(question, { search }, "", say)];
    this.#run = null;
    this.#show("problem", ...(ways.length ? [element("div", { class: "actions" }, ...ways)] : []));
    panel.alert.textContent = say(`problem.${key}`, { n: problem.seconds }) + (!name && ways.length ? ` ${say("searchWorks")}` : "");
    this.setAttribute("problem", String(problem.code));
    this.#focus(panel.question);
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
