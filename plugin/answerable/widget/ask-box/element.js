/** The ask box as an element: its states, attributes and events, as custom-elements.json lists them. */

import BUTTON_CSS from "./button.css" with { type: "text" };
import BOX_CSS from "./box.css" with { type: "text" };
import { copyText, drawWays, loadSearch, makeSharedAddress, takeSharedQuestion } from "./actions.js";
import { buildPanel, countCharacters, dock, findFocus, MAX_CHARACTERS, nameChord, openModally } from "./dialog.js";
import { button, countSections, drawAnswer, drawNote, drawPlaces, element, icon, ICONS } from "./draw.js";
import { getStructure, groupExcerpts, listMarkedWords, nameOf, numberCitations, splitCode } from "./draw.js";
import { Answerer, checkAnswer, Problem, resolveAddress, ROOT } from "./request.js";
import { hasText, importScript, IN_ENGLISH, loadLanguage } from "./strings.js";

/**
 * @typedef {import("./dialog.js").Panel} Panel
 * @typedef {import("./draw.js").CitingElement} CitingElement
 * @typedef {import("./request.js").Answer} Answer
 * @typedef {import("./request.js").Site} Site
 */

// The text of each code, "failed" of all others.
/** @type {Record<string, string>} */
const PROBLEM_TEXTS = {
  "rate-limited": "limited",
  capped: "capped",
  paused: "paused",
  timeout: "late",
  offline: "offline",
  "bad-request": "unreadable",
  "too-large": "unreadable",
  429: "limited",
  404: "missing",
  405: "missing",
  501: "missing",
  "not-found": "missing",
  unsupported: "unsupported",
  file: "file",
  stale: "stale",
};
// What may help against the problem of a text, beside the search.
/** @type {Record<string, "retry" | "reload">} */
const REMEDIES = { failed: "retry", late: "retry", offline: "retry", limited: "retry", stale: "reload" };

/** @type {Map<string, CSSStyleSheet>} */
const sheets = new Map();

/** @param {string[]} styles of which each is parsed once for all boxes of a page */
function getSheets(...styles) {
  return styles.map((css) => {
    const sheet = sheets.get(css) ?? new CSSStyleSheet();
    if (!sheets.has(css)) sheet.replaceSync(css);
    sheets.set(css, sheet);
    return sheet;
  });
}

/** A button and a dialog that put one question to the site and draw its cited answer. */
export class AskBox extends HTMLElement {
  /** @type {Answerer | null} */
  #answerer = null;
  #language = IN_ENGLISH;
  #chord = "";
  /** @type {AbortController | null} */
  #run = null;
  #timer = 0;
  /** @type {HTMLElement | null} */
  #opener = null;
  /** @type {Panel | null} */
  #panel = null;
  #asked = "";
  /** @type {{ question: string, answer: Answer } | null} */
  #kept = null;
  #hasFocus = false;
  /** @type {((text: string) => void) | undefined} lists places for what is typed */
  #type;
  /** @type {string[]} what was suggested last while the question was typed */
  #suggested = [];
  #connection = new AbortController();
  #label = element("span", {}, IN_ENGLISH.say("ask"));
  #trigger = element(
    "button",
    { class: "trigger", type: "button", "aria-haspopup": "dialog" },
    element("slot", { name: "trigger" }, icon(ICONS.ask), this.#label),
  );
  #root = this.attachShadow({ mode: "open" });

  constructor() {
    super();
    this.#root.adoptedStyleSheets = getSheets(BUTTON_CSS);
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
    const answerer = (this.#answerer ??= new Answerer(this));
    const { signal } = (this.#connection = new AbortController());
    document.addEventListener("keydown", this.#onShortcut, { signal });
    this.#showShortcut(this.getAttribute("shortcut") ?? "Ctrl+I");
    addEventListener("pagehide", this.#onLeave, { signal });
    await this.#localize();
    const offerRow = async () => {
      if (!document.activeElement?.matches(".md-search__input")) return;
      document.removeEventListener("focusin", offerRow);
      const scripts = ["search-row.js", "suggest.js"].map((name) => importScript(name));
      const [{ offerAsk }, { followTyping }] = await Promise.all(scripts);
      offerAsk(this, this.#language, signal, { answerer, followTyping, element, icon: icon(ICONS.ask) });
    };
    // Nothing is loaded before a reader uses the search of Material.
    document.addEventListener("focusin", offerRow, { signal });
    offerRow();
    if (this.#isInline) this.#build();
    else this.#root.append(this.#trigger);
    if (isFirst && !this.hasAttribute("placement")) this.#avoidContents();
    if (isFirst) await this.#restore();
    const openShared = () => this === document.querySelector(this.localName) && this.#openShared();
    openShared();
    addEventListener("hashchange", openShared, { signal });
    // Material's instant navigation changes the address without an event.
    const visits = /** @type {any} */ (window).location$?.subscribe?.(openShared);
    signal.addEventListener("abort", () => visits?.unsubscribe());
  }

  disconnectedCallback() {
    this.#connection.abort();
    this.close();
    if (this.#run) this.#stop();
    clearTimeout(this.#timer);
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
      this.#opener = findFocus() ?? this.#trigger;
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
    this.#trigger.title = shortcut;
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

  get #storageKey() {
    const index = [...document.querySelectorAll(this.localName)].indexOf(this);
    return `answerable ${index} ${location.pathname}${location.search}`;
  }

  #onLeave = () => {
    try {
      const isOpen = this.hasAttribute("open");
      if (this.#kept) sessionStorage[this.#storageKey] = JSON.stringify({ ...this.#kept, isOpen });
      else delete sessionStorage[this.#storageKey];
    } catch {
      // There is no storage, or it is full.
    }
  };

  async #restore() {
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
    if (!["back_forward", "reload"].includes(navigation?.type)) return;
    try {
      const { question, answer, isOpen } = JSON.parse(sessionStorage[this.#storageKey]);
      checkAnswer(answer);
      this.#build();
      this.#put(question);
      if (isOpen) this.open();
      this.#showAnswer(question, answer, await this.#readSite(), false);
    } catch {
      // Nothing was kept.
    }
  }

  /** Keep the floating button off the navigation at the page's side. */
  #avoidContents() {
    if (this.parentElement === document.body) this.#root.append(element("div", { class: "room" }));
    const covered = new Map();
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting, boundingClientRect: { left, right, width } } of entries) {
        const far = this.#trigger.dir === "rtl" ? right : innerWidth - left;
        if (isIntersecting && far - width < 160 && far < innerWidth / 2) covered.set(target, far);
        else covered.delete(target);
      }
      this.#trigger.style.marginInlineEnd = `${Math.max(0, ...covered.values())}px`;
    }, { rootMargin: "-88% 0px 0px" });
    const look = () => document.querySelectorAll("nav, aside").forEach((node) => watch.observe(node));
    look();
    /** @type {any} */ (window).document$?.subscribe?.(look);
  }

  async #localize() {
    this.#language = await loadLanguage(this.getAttribute("lang") || document.documentElement.lang || "en");
    const { tag, dir, say } = this.#language;
    this.#label.textContent = say("ask");
    Object.assign(this.#trigger, { lang: tag, dir });
  }

  /** @returns {Panel} built at its first use */
  #build() {
    if (this.#panel) return this.#panel;
    this.#root.adoptedStyleSheets = getSheets(BUTTON_CSS, BOX_CSS);
    const panel = (this.#panel = buildPanel(this.#language, this.#isInline, () => this.close()));
    this.#root.append(panel.root);
    panel.dialog?.addEventListener("close", () => this.#onClose());
    panel.question.addEventListener("input", () => {
      countCharacters(panel);
      this.#type?.(panel.question.value);
    });
    panel.question.addEventListener("focus", () => {
      loadSearch();
      this.#prepare(panel, /** @type {Answerer} */ (this.#answerer));
    });
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
   * Load what a question needs, and where the browser answers, list places while it is typed.
   * @param {Panel} panel
   * @param {Answerer} answerer
   */
  async #prepare(panel, answerer) {
    const { value } = panel.question;
    if (!(await answerer.prepare()) || this.#type) return;
    const { suggestInBox } = await importScript("suggest.js").catch(() => ({}));
    const { say } = this.#language;
    const draw = (/** @type {import("../suggest.js").Suggestions} */ { questions, places }) => {
      this.#suggested = questions;
      return [...this.#drawQuestions(questions, "known"), ...drawPlaces(places, (n) => ["h3", say("places", { n })])];
    };
    this.#type ??= suggestInBox?.(panel, answerer, draw);
    const typed = panel.question.value;
    if (typed !== value && typed.trim() !== this.#asked) this.#type?.(typed);
  }

  /** @param {MouseEvent} event */
  #followLink(event) {
    const anchor = /** @type {HTMLElement} */ (event.target).closest("a");
    if (!anchor?.closest(".card, .sentence, .places")) return;
    const { link: _, ...citation } = /** @type {CitingElement} */ (anchor).citation ?? {};
    if ("n" in citation && !this.#emit("answerable:cite", citation, true)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const isHere = anchor.href.split("#")[0] === location.href.split("#")[0];
    const isTyped = anchor.closest(".typed") !== null;
    if (isHere || isTyped) this.#closeForGood();
    /** @type {Event} */
    let click = event;
    if (/** @type {any} */ (window).document$) {
      // Material sees no link in a shadow root.
      event.preventDefault();
      const twin = element("a", { href: anchor.href });
      twin.addEventListener("click", (own) => (click = own));
      this.append(twin);
      twin.click();
      twin.remove();
    }
    setTimeout(() => {
      // A page that loads its own links swallows fragments.
      if (!click.defaultPrevented) return;
      const dialog = this.#panel?.dialog;
      if (!isHere && !isTyped && dialog) {
        this.#opener = null;
        dock(dialog, anchor);
      }
      importScript("highlight.js").then(({ highlightLater }) => highlightLater(anchor.href));
    });
  }

  /** Close, and leave the focus to where the reader goes. */
  #closeForGood() {
    this.#opener = null;
    this.close();
  }

  #onClose() {
    // Opened again before the event came.
    if (this.#panel?.dialog?.open) return;
    if (this.#run) this.#stop();
    this.toggleAttribute("open", false);
    this.#opener?.focus({ preventScroll: true });
    this.#emit("answerable:close", {});
  }

  /** @param {string} question */
  #put(question) {
    const panel = this.#build();
    panel.question.value = question.slice(0, MAX_CHARACTERS);
    countCharacters(panel);
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
    // It is answered if the reader chooses it, and never because it is like what was typed.
    const nearest = this.#suggested.includes(question) ? [] : this.#suggested.slice(0, 1);
    this.#showWorking();
    try {
      const enter = (/** @type {string} */ stage) => signal.aborted || this.#enterStage(stage);
      const answerer = /** @type {Answerer} */ (this.#answerer);
      const answer = await answerer.answer(question, signal, enter);
      const site = await this.#readSite();
      if (!signal.aborted) this.#showAnswer(question, answer, site, true, answer.stored ? [] : nearest);
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

  /** @returns {Promise<Site>} with what the attributes of the element say in place of the site */
  async #readSite() {
    await loadSearch();
    const site = { bundles: [], examples: [], ...(await this.#answerer?.readSite().catch(() => ({}))) };
    const attributes = ["search", "authors", "feedback"].filter((name) => this.hasAttribute(name));
    return { ...site, ...Object.fromEntries(attributes.map((name) => [name, this.getAttribute(name)])) };
  }

  /**
   * @param {string} state
   * @param {Node[]} nodes
   */
  #show(state, ...nodes) {
    const { dialog, view, alert, status } = this.#build();
    this.#hasFocus = dialog !== null || this.matches(":focus-within");
    clearTimeout(this.#timer);
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
    const { say } = this.#language;
    const scope = element("div", { class: "scope" }, element("slot", { name: "scope" }, say("scope")));
    this.#show("empty", scope);
    const panel = this.#build();
    countCharacters(panel);
    const { examples, index } = await this.#readSite();
    if (scope.isConnected) panel.view.append(...this.#drawQuestions(examples, "examples"));
    const copy = (/** @type {string} */ text, /** @type {HTMLElement} */ row) => copyText(text, row, panel.status, say);
    const lent = { say, element, button, copy, root: ROOT, endpoint: this.#answerer?.endpoint, index };
    const { drawAgents } = await importScript("agents.js").catch(() => ({}));
    if (scope.isConnected && drawAgents) panel.view.append(...drawAgents(lent));
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
    this.#kept = null;
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
   * @param {string} question
   * @param {Answer} answer
   * @param {Site} site
   * @param {boolean} [isNew] and not drawn again
   * @param {string[]} [nearest] of the questions that the site is known to answer
   */
  #showAnswer(question, answer, site, isNew = true, nearest = []) {
    const { say } = this.#language;
    const { status } = this.#build();
    const numbered = numberCitations(answer);
    const copy = (/** @type {string} */ text, /** @type {HTMLElement} */ row) => copyText(text, row, status, say);
    const words = listMarkedWords(question, answer, say);
    const readSection = (/** @type {string} */ id) => /** @type {Answerer} */ (this.#answerer).readSection(id);
    const context = { words, siteUrl: answer.site_url, copy, readSection };
    const nodes = drawAnswer(numbered, this.#language, context);
    const after = answer.excerpts ? drawAnswer(numberCitations(answer.excerpts), this.#language, context) : [];
    const isRefusal = answer.mode === "not-found";
    const differs = site.bundles.length > 0 && answer.bundle && !site.bundles.includes(answer.bundle);
    const row = element("div", { class: "actions" });
    // Loaded before it is pressed, since a browser copies only at once.
    const script = importScript("copy-answer.js");
    script.catch(() => copyAnswer.remove());
    const copyAnswer = button("copy", say("copy"), async () => {
      const lent = { say, resolve: resolveAddress, nameOf, excerptsOf: groupExcerpts, structureOf: getStructure };
      copy((await script).formatAnswer(question, numbered, { ...lent, spansOf: splitCode }), row);
    });
    row.append(copyAnswer, button("share", say("share"), () => copy(makeSharedAddress(question), row)));
    this.#run = null;
    this.#kept = { question, answer };
    const places = element("div", { class: "places", role: "group", "aria-label": say("more"), hidden: "" });
    this.#show(
      answer.mode,
      ...nodes,
      ...after,
      ...this.#drawQuestions(nearest, "known"),
      ...(differs ? [drawNote(say("differs"))] : []),
      ...(isRefusal ? [places, ...this.#drawWays(question, site, answer.bundle ?? "")] : [row]),
      ...(site.feedback ? [this.#drawFeedback(question, answer, site.feedback)] : []),
      ...(isRefusal ? [] : [places]),
    );
    this.#addPlaces(places, question, answer);
    this.#focus(nodes[0]);
    if (!isNew) return;
    const isUnsure = answer.claims.length === 0 || answer.confidence === "low";
    status.textContent = say(isRefusal ? "notFound" : isUnsure ? "pointers" : "ready", { n: countSections(numbered) });
    this.#emit("answerable:answer", answer);
  }

  /**
   * Add where to look further, as soon as the search has found it; without a word where it fails.
   * @param {HTMLElement} node
   * @param {string} question
   * @param {Answer} answer
   */
  async #addPlaces(node, question, answer) {
    const answerer = /** @type {Answerer} */ (this.#answerer);
    const places = await answerer.listPlaces(question, answer.site_url).catch(() => []);
    const shown = new Set([answer, answer.excerpts].flatMap((part) => part?.citations ?? []).map(({ url }) => url));
    const others = places.filter(({ url }) => !shown.has(url));
    node.append(...drawPlaces(others, () => ["h4", this.#language.say("more")]));
    node.hidden = !node.firstChild;
  }

  /**
   * @param {string} question
   * @param {Partial<Site>} site
   * @param {string} bundle
   * @param {HTMLElement[]} others
   */
  #drawWays(question, site, bundle, ...others) {
    const leave = (/** @type {() => void} */ open) => {
      this.#closeForGood();
      open();
    };
    return drawWays(question, site, bundle, this.#language.say, leave, ...others);
  }

  /**
   * @param {string} question
   * @param {Answer} answer
   * @param {string} address
   */
  #drawFeedback(question, { mode, bundle, request_id }, address) {
    const row = element("div", { class: "actions feedback", role: "group" });
    const post = async (/** @type {import("../feedback.js").Vote} */ vote) => {
      const detail = { ...vote, question, mode, bundle, request_id };
      if (!this.#emit("answerable:feedback", detail, true)) return null;
      const headers = { "Content-Type": "application/json" };
      const answerer = /** @type {Answerer} */ (this.#answerer);
      const { ok } = await answerer.call(new URL(address, ROOT), { method: "POST", headers, body: JSON.stringify(detail) });
      return ok;
    };
    const lent = { row, status: this.#build().status, element, button, post, say: this.#language.say };
    importScript("feedback.js").then(({ askForVote }) => askForVote(lent)).catch(() => row.remove());
    return row;
  }

  /**
   * Turn any failure into one state: what is wrong, what may help, and the search of the site.
   * @param {string} question
   * @param {unknown} error
   * @param {Site} site
   */
  #showProblem(question, error, { search }) {
    const { say } = this.#language;
    const panel = this.#build();
    const problem = error instanceof Problem ? error : new Problem(navigator.onLine ? "failed" : "offline");
    const key = Object.hasOwn(PROBLEM_TEXTS, problem.code) ? PROBLEM_TEXTS[problem.code] : "failed";
    const name = REMEDIES[key];
    const remedy = button(name, name && say(name), () => {
      if (name === "retry") return remedy.ariaDisabled === "true" || this.#submit();
      history.replaceState(history.state, "", makeSharedAddress(question));
      location.reload();
    });
    const ways = this.#drawWays(question, { search }, "", ...(name ? [remedy] : []));
    this.#run = null;
    this.#show("problem", ...ways);
    panel.alert.textContent = say(key, { n: problem.seconds }) + (!name && ways.length ? ` ${say("searchWorks")}` : "");
    if (key === "limited") this.#countDown(remedy, problem.seconds);
    this.setAttribute("problem", String(problem.code));
    this.#focus(panel.question);
    this.#emit("answerable:problem", { code: problem.code });
  }

  /**
   * @param {HTMLElement} retry
   * @param {number} seconds
   */
  #countDown(retry, seconds) {
    const { say } = this.#language;
    retry.ariaDisabled = String(seconds > 0);
    retry.textContent = seconds > 0 ? say("retryIn", { n: seconds }) : say("retry");
    if (seconds <= 0) this.#build().alert.textContent = "";
    else this.#timer = setTimeout(() => this.#countDown(retry, seconds - 1), 1000);
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
