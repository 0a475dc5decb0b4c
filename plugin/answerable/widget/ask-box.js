const TEXT = {
  ask: "Ask",
  title: "Ask this site",
  close: "Close",
  question: "Your question",
  placeholder: "How do I …?",
  keys: "Enter to ask, Shift+Enter for a new line",
  scope: "Answers come only from this site, with their sources. When it does not know, it says so.",
  working: "Looking through this site …",
  stop: "Stop",
  stopped: "Stopped.",
  headings: {
    supported: "Answer",
    partial: "Answer",
    "related-material": "Where to look",
    "not-found": "This site does not answer that.",
  },
  tip: "Try other words, or name the feature, option or error message you mean.",
  sources: "Sources",
  relatedNote: "Related material",
  source: (n, title) => `Source ${n}: ${title}`,
  confidence: (word) => `Confidence: ${word}`,
  otherLanguage: (names) => `The sources are in ${names}.`,
  dropped: (n) => `${n} ${n === 1 ? "sentence" : "sentences"} removed: source not verified.`,
  ready: (n) => `Answer ready, ${n} ${n === 1 ? "source" : "sources"}.`,
  pointers: (n) => `No direct answer, ${n} ${n === 1 ? "place" : "places"} to look.`,
  notFound: "Not found on this site.",
  failed: "Your question could not be answered just now. It is still here: please try again.",
  refused: "This question could not be read. Please change it and try again.",
  retry: "Try again",
};

const UNREADABLE = [400, 413, 422];
const CONFIDENCE = ["high", "medium", "low"];
const ICONS = {
  ask: [
    "M5 4h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-7l-5 4v-4H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z",
    "M9.7 8.7a2.3 2.3 0 1 1 3.5 1.9c-.8.5-1.2.9-1.2 1.6M12 14.4v.1",
  ],
  close: ["M6 6l12 12M18 6L6 18"],
};

// What the function reads as a language tag; a page's own attribute may hold anything.
const LANGUAGE = /^(?=.{2,35}$)[a-z]{2,8}([-_][a-z0-9]{1,8})*$/i;

const ROOT = new URL("../../", import.meta.url);

// `all: initial` keeps a theme's inherited type out and sets the reader's own font size, whatever
// the theme did to `rem`. The accent is mixed with the text colour because the links of several
// Material palettes are too pale for WCAG AA.
const CSS = `
:host {
  all: initial;
  font-family: var(--answerable-font, inherit);
  line-height: 1.55;
  color-scheme: inherit;
  --bg: var(--answerable-bg, var(--md-default-bg-color, var(--bs-body-bg, #fff)));
  --fg: var(--answerable-fg, var(--md-default-fg-color, var(--bs-body-color, #1d2129)));
  --link: var(--md-typeset-a-color, var(--md-primary-fg-color, var(--bs-link-color, #2457c5)));
}
@media (prefers-color-scheme: dark) {
  :host {
    --bg: var(--answerable-bg, var(--md-default-bg-color, var(--bs-body-bg, #191c22)));
    --fg: var(--answerable-fg, var(--md-default-fg-color, var(--bs-body-color, #e3e6eb)));
    --link: var(--md-typeset-a-color, var(--md-primary-fg-color, var(--bs-link-color, #8fb4ff)));
  }
}
.trigger, dialog {
  --accent: var(--answerable-accent, color-mix(in srgb, var(--link) 60%, var(--fg)));
  --focus: var(--answerable-focus, var(--accent));
  --muted: color-mix(in srgb, var(--fg) 76%, var(--bg));
  --edge: color-mix(in srgb, var(--fg) 58%, var(--bg));
  --line: color-mix(in srgb, var(--fg) 16%, var(--bg));
  --tint: color-mix(in srgb, var(--fg) 5%, var(--bg));
}
:host([placement="header"]) { color: inherit; flex: none; margin-inline: .5em; }
[hidden], :host([hidden]), :host([placement="none"]) .trigger { display: none !important; }
button, textarea { font: inherit; color: inherit; margin: 0; }
button { cursor: pointer; }
svg { inline-size: 1.25em; block-size: 1.25em; flex: none; fill: none; stroke: currentColor;
  stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
h2, h3, p, ul, blockquote { margin: 0; padding: 0; }
h2, h3 { line-height: 1.3; font-weight: 650; text-wrap: balance; }
p { text-wrap: pretty; }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }

.trigger { display: inline-flex; align-items: center; gap: .5em; font-weight: 600; line-height: 1;
  border: 1px solid transparent; border-radius: 99em; }
:host(:not([placement="header"])) .trigger { position: fixed; z-index: var(--answerable-z-index, 3);
  inset-block-end: max(1.25em, env(safe-area-inset-bottom)); inset-inline-end: 1.25em;
  padding-block: .8em; padding-inline: .95em 1.15em; color: var(--bg); background: var(--accent);
  box-shadow: 0 1px 2px #0003, 0 6px 20px #0003; }
:host([placement="header"]) .trigger { padding-block: .45em; padding-inline: .7em .9em; font-size: .9em;
  background: transparent; border-color: color-mix(in srgb, currentColor 55%, transparent); }
:host([placement="header"]) .trigger:focus-visible { outline-color: currentColor; }
.trigger:hover { filter: brightness(1.1); }
:host([placement="header"]) .trigger:hover { filter: none;
  background: color-mix(in srgb, currentColor 14%, transparent); }

dialog { box-sizing: border-box; inline-size: min(44em, calc(100vw - 2em));
  max-block-size: min(84dvh, 54em); margin: 8dvh auto auto; padding: 0; overflow: hidden;
  color: var(--fg); background: var(--bg); border: 1px solid var(--line); border-radius: 16px;
  box-shadow: 0 24px 64px #0006, 0 2px 8px #0002; }
dialog[open] { display: flex; flex-direction: column; }
dialog::backdrop { background: #0b0e1480; }
header { display: flex; align-items: center; justify-content: space-between;
  padding-block: 1em 0; padding-inline: 1.5em .9em; }
h2 { font-size: 1.0625em; }
.close { display: grid; place-items: center; inline-size: 2.5em; block-size: 2.5em; padding: 0;
  color: var(--muted); background: none; border: 1px solid transparent; border-radius: 10px; }
.close:hover { color: var(--fg); background: var(--tint); }

form { flex: none; margin: .6em 1.5em 1.25em; border: 1px solid var(--edge); border-radius: 12px; }
form:has(textarea:focus) { border-color: transparent; outline: 2px solid var(--focus);
  outline-offset: -1px; }
textarea { display: block; box-sizing: border-box; inline-size: 100%; min-block-size: 2.7em;
  max-block-size: 9em; padding: .8em 1em .2em; font-size: 16px; line-height: 1.5; resize: none;
  field-sizing: content; background: none; border: 0; }
textarea:focus-visible { outline: none; }
textarea::placeholder { color: var(--muted); opacity: 1; }
.row { display: flex; align-items: center; justify-content: space-between; gap: 1em;
  padding-block: .4em .5em; padding-inline: 1em .5em; }
.keys { font-size: .8125em; color: var(--muted); }
.button { padding: .5em 1.1em; font-size: .9375em; font-weight: 600; line-height: 1.4;
  color: var(--accent); background: none; border: 1px solid var(--edge); border-radius: 9px; }
.button:hover { background: var(--tint); }
.primary { color: var(--bg); background: var(--accent); border-color: transparent; }
.primary:hover { background: color-mix(in srgb, var(--accent) 88%, var(--fg)); }

.result { flex: 1; min-block-size: 0; overflow: auto; overscroll-behavior: contain;
  padding: 0 1.5em 1.5em; overflow-wrap: anywhere; }
.view { display: grid; gap: .75em; }
h3:focus { outline: none; }
h3 { font-size: 1.1875em; }
.scope, .tip { color: var(--muted); font-size: .9375em; }
.meta { color: var(--muted); font-size: .875em; }
.sentence { max-inline-size: 66ch; white-space: pre-wrap; }
.mark { margin-inline-start: .25em; font-size: .8125em; font-weight: 600;
  font-variant-numeric: tabular-nums; text-decoration: none; white-space: nowrap; }
.mark:hover { text-decoration: underline; }
h4 { margin: .6em 0 0; font-size: .8125em; font-weight: 650; color: var(--muted); }
.cards { display: grid; gap: .6em; list-style: none; }
.card { display: grid; grid-template-columns: 1.6em 1fr; column-gap: .5em; padding: .8em 1em;
  border: 1px solid var(--line); border-radius: 12px; }
.card > * { grid-column: 2; }
.number { grid-column: 1; grid-row: 1; font-size: .875em; line-height: 1.7; color: var(--muted);
  font-variant-numeric: tabular-nums; }
.title { font-weight: 600; }
blockquote { margin-block-start: .3em; color: var(--muted); font-size: .9375em; }
.hint { border: 1.5px dashed var(--edge); }
.tag, .locator { font-size: .875em; color: var(--muted); }
.tag { line-height: 1.7; }

.working { display: flex; align-items: center; gap: .75em; color: var(--muted); }
.working .button { margin-inline-start: auto; }
.pulse { inline-size: .6em; block-size: .6em; border-radius: 50%; background: var(--accent); }
.alert:not(:empty) { margin-block-end: .75em; padding: .7em 1em; border-radius: 12px;
  border: 1px solid var(--answerable-error, #d9434a);
  background: color-mix(in srgb, var(--answerable-error, #d9434a) 8%, var(--bg)); }
.retry { justify-self: start; }
.status { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }

@media (prefers-reduced-motion: no-preference) {
  dialog[open] { animation: rise .16s ease-out; }
  .pulse { animation: pulse 1.1s ease-in-out infinite alternate; }
  @keyframes rise { from { opacity: 0; translate: 0 6px; } }
  @keyframes pulse { from { opacity: .25; } }
}
@media (max-width: 600px) {
  dialog { inline-size: 100vw; max-inline-size: none; block-size: 100dvh; max-block-size: none;
    margin: 0; border: 0; border-radius: 0; }
  header { padding-block: max(.6em, env(safe-area-inset-top)) 0; padding-inline: 1.1em .5em; }
  form { margin-inline: 1.1em; }
  .result { padding: 0 1.1em max(1.5em, env(safe-area-inset-bottom)); }
  .keys { visibility: hidden; }
  :host([placement="header"]) { margin-inline: 0; }
  :host([placement="header"]) .trigger { padding: .5em; border-color: transparent; font-size: 1em; }
  :host([placement="header"]) .trigger svg { inline-size: 1.5em; block-size: 1.5em; }
  :host([placement="header"]) .trigger span { position: absolute; clip-path: inset(50%); }
}
@media (forced-colors: active) {
  .pulse { background: Highlight; forced-color-adjust: none; }
  .trigger, .close { border-color: ButtonBorder !important; }
}
@media print { :host { display: none !important; } }
`;

const SHEET = new CSSStyleSheet();
SHEET.replaceSync(CSS);

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function icon(paths) {
  const make = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const svg = make("svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  for (const d of paths) svg.appendChild(make("path")).setAttribute("d", d);
  return svg;
}

function asFolder(address) {
  const url = new URL(address, document.baseURI);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

function endpointOf(host) {
  const link = document.querySelector('link[rel~="answerable"]');
  return asFolder(host.getAttribute("endpoint") ?? link?.getAttribute("href") ?? new URL("_answerable/", ROOT));
}

/** The absolute address a reader may follow, or null: a page of this site, or any http(s) address. */
function resolve(address, siteUrl) {
  try {
    if (!address.startsWith("/")) return /^https?:\/\//i.test(address) ? new URL(address).href : null;
    // The "." keeps "/javascript:…" and "//other.host" what they must be: paths below this site.
    const url = new URL(siteUrl ? address : `.${address}`, ROOT);
    return url.origin === ROOT.origin ? url.href : null;
  } catch {
    return null;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string" && value.trim() !== "";
const isOptionalText = (value) => value == null || typeof value === "string";

function demand(condition, what) {
  if (!condition) throw new TypeError(`not an answer: ${what}`);
}

function checkCitation(citation) {
  demand(isObject(citation) && Number.isInteger(citation.n), "citation");
  const { kind, title, label, url, href, quote, locator, language } = citation;
  demand(kind === "record" ? isText(title) : kind === "hint" && isText(label), "citation kind");
  demand([url, href, quote, locator, language].every(isOptionalText), "citation field");
}

function checkSentences(sentences, kind, citations) {
  demand(Array.isArray(sentences), "sentences");
  for (const sentence of sentences) {
    demand(isObject(sentence) && isText(sentence.text), "sentence");
    demand(Array.isArray(sentence.citations) && sentence.citations.length > 0, "sentence without source");
    const known = (n) => citations.some((citation) => citation.n === n && citation.kind === kind);
    demand(sentence.citations.every(known), "unknown source");
  }
}

function modeOf(citations) {
  const has = (kind) => citations.some((citation) => citation.kind === kind);
  if (has("record")) return has("hint") ? "supported" : "partial";
  return has("hint") ? "related-material" : "not-found";
}

/** The answer itself if it keeps the wire's promises; throws otherwise, so that nothing of it is drawn. */
function checkAnswer(answer) {
  demand(isObject(answer) && Array.isArray(answer.citations), "object");
  const { mode, claims, routes, citations } = answer;
  citations.forEach(checkCitation);
  checkSentences(claims, "record", citations);
  checkSentences(routes, "hint", citations);
  const used = new Set([...claims, ...routes].flatMap((sentence) => sentence.citations));
  const numbers = new Set(citations.map((citation) => citation.n));
  demand(numbers.size === citations.length && numbers.size === used.size, "citation numbers");
  demand(mode === modeOf(citations), "mode");
  demand(isOptionalText(answer.site_url), "site_url");
  return answer;
}

/** The language of the page, as its document says; undefined if it says nothing that is one. */
function pageLanguage() {
  const { lang } = document.documentElement;
  return LANGUAGE.test(lang) ? lang : undefined;
}

const baseOf = (language) => language.toLowerCase().split(/[-_]/)[0];

function nameOfLanguage(language) {
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(language.replaceAll("_", "-"));
  } catch {
    return language;
  }
}

async function request(endpoint, question, signal) {
  const response = await fetch(new URL("answer", endpoint), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ question, language: pageLanguage() }),
    signal,
  });
  if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { status: response.status });
  return checkAnswer(await response.json());
}

const nameOf = (citation) => (citation.kind === "hint" ? citation.label : citation.title);

function linked(citations, siteUrl) {
  return citations.map((citation) => ({
    ...citation,
    link: resolve(citation.href ?? citation.url ?? "", siteUrl),
  }));
}

function drawLink(link, attributes, text) {
  return link === null ? element("span", attributes, text) : element("a", { ...attributes, href: link }, text);
}

function drawMarker({ n, link, ...citation }) {
  const name = TEXT.source(n, nameOf(citation));
  return drawLink(link, { class: "mark", ...(link && { "aria-label": name }) }, `[${n}]`);
}

function drawSentence(sentence, citations) {
  const cited = sentence.citations.map((n) => citations.find((citation) => citation.n === n));
  return element("p", { class: "sentence" }, sentence.text, ...cited.map(drawMarker));
}

function drawCard(citation) {
  const { n, kind, link, quote, locator, language } = citation;
  const number = element("span", { class: "number" }, `[${n}]`);
  const title = drawLink(link, { class: "title" }, nameOf(citation));
  if (kind === "hint") {
    const tag = element("span", { class: "tag" }, TEXT.relatedNote);
    const place = locator ? [element("span", { class: "locator" }, locator)] : [];
    return element("li", { class: "card hint" }, number, tag, title, ...place);
  }
  const words = quote ? [element("blockquote", { ...(language && { lang: language }) }, quote)] : [];
  return element("li", { class: "card" }, number, title, ...words);
}

function drawCards(citations) {
  return element("ul", { class: "cards", role: "list" }, ...citations.map(drawCard));
}

/** One line where every source is in another language than the page; none where that is unknown. */
function drawLanguage(citations) {
  const page = pageLanguage();
  const languages = citations.filter(({ kind }) => kind === "record").map(({ language }) => language);
  const known = page && languages.length > 0 && languages.every(isText);
  if (!known || languages.some((language) => baseOf(language) === baseOf(page))) return [];
  const names = [...new Set(languages)].map(nameOfLanguage);
  const list = new Intl.ListFormat("en").format(names);
  return [element("p", { class: "meta" }, TEXT.otherLanguage(list))];
}

function drawMeta({ confidence, dropped }) {
  const lines = [];
  if (CONFIDENCE.includes(confidence)) lines.push(TEXT.confidence(confidence));
  if (Number.isInteger(dropped) && dropped > 0) lines.push(TEXT.dropped(dropped));
  return lines.length ? [element("p", { class: "meta" }, lines.join(" · "))] : [];
}

function drawHeading(mode) {
  return element("h3", { tabindex: "-1" }, TEXT.headings[mode]);
}

function drawAnswer(answer) {
  const heading = drawHeading(answer.mode);
  if (answer.mode === "not-found") return [heading, element("p", { class: "tip" }, TEXT.tip)];
  const citations = linked(answer.citations, answer.site_url);
  const sentences = [...answer.claims, ...answer.routes].map((each) => drawSentence(each, citations));
  // Notes are places to look, not sources: only an answer has a list of sources.
  const label = answer.claims.length ? [element("h4", {}, TEXT.sources)] : [];
  const notes = [...drawMeta(answer), ...drawLanguage(citations)];
  return [heading, ...sentences, ...notes, ...label, drawCards(citations)];
}

function announcement({ mode, citations }) {
  if (mode === "not-found") return TEXT.notFound;
  return (mode === "related-material" ? TEXT.pointers : TEXT.ready)(citations.length);
}

/** The element that has the focus, looked up through shadow roots; null for the bare page. */
function focused() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return node === document.body ? null : node;
}

/** `<answerable-ask>`: a button and a dialog that put one question to the site and draw its cited answer. */
export class AskBox extends HTMLElement {
  #endpoint = null;
  #run = null;
  #opener = null;
  #pressedBackdrop = false;

  #trigger = element(
    "button",
    { class: "trigger", type: "button", "aria-haspopup": "dialog", "aria-keyshortcuts": "Control+I Meta+I" },
    icon(ICONS.ask),
    element("span", {}, TEXT.ask),
  );
  #close = element("button", { class: "close", type: "button", "aria-label": TEXT.close }, icon(ICONS.close));
  #question = element("textarea", {
    "aria-label": TEXT.question,
    placeholder: TEXT.placeholder,
    maxlength: "500",
    rows: "2",
    enterkeyhint: "send",
  });
  #form = element(
    "form",
    {},
    this.#question,
    element(
      "div",
      { class: "row" },
      element("span", { class: "keys" }, TEXT.keys),
      element("button", { class: "button primary", type: "submit" }, TEXT.ask),
    ),
  );
  #alert = element("p", { class: "alert", role: "alert" });
  #status = element("p", { class: "status", role: "status" });
  #view = element("div", { class: "view" });
  #dialog = element(
    "dialog",
    { "aria-labelledby": "title" },
    element("header", {}, element("h2", { id: "title" }, TEXT.title), this.#close),
    this.#form,
    element("div", { class: "result" }, this.#alert, this.#view),
    this.#status,
  );

  constructor() {
    super();
    const shadow = this.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = [SHEET];
    shadow.append(this.#trigger, this.#dialog);
    this.#listen();
    this.#showEmpty();
  }

  connectedCallback() {
    // Once: Material's instant navigation changes the base of relative addresses later.
    this.#endpoint ??= endpointOf(this);
    document.addEventListener("keydown", this.#onShortcut);
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.#onShortcut);
    this.#run?.abort();
  }

  /** Open the dialog and put the focus into the question. */
  open() {
    if (!this.#dialog.open) {
      this.#opener = focused() ?? this.#trigger;
      this.#dialog.showModal();
    }
    this.#question.focus();
    this.#question.select();
  }

  #listen() {
    this.#trigger.addEventListener("click", () => this.open());
    this.#close.addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("close", () => this.#closed());
    this.#dialog.addEventListener("pointerdown", (event) => {
      this.#pressedBackdrop = this.#isBackdrop(event);
    });
    this.#dialog.addEventListener("click", (event) => this.#clicked(event));
    this.#question.addEventListener("keydown", (event) => {
      // 229: the Enter that ends a composition, which Safari reports after the composition's end.
      const composing = event.isComposing || event.keyCode === 229;
      if (event.key !== "Enter" || event.shiftKey || composing) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    // Themes bind bare letters (Material: f, s, p, n) on the page and cannot see into a shadow root.
    this.addEventListener("keydown", (event) => {
      if (this.#dialog.open && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
  }

  #onShortcut = (event) => {
    const chord = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    if (!chord || event.key.toLowerCase() !== "i" || event.defaultPrevented) return;
    event.preventDefault();
    this.open();
  };

  #isBackdrop({ target, clientX, clientY }) {
    if (target !== this.#dialog) return false;
    const { left, right, top, bottom } = this.#dialog.getBoundingClientRect();
    return clientX < left || clientX > right || clientY < top || clientY > bottom;
  }

  #clicked(event) {
    // A selection dragged out of the dialog ends in a click on it: both ends must be outside.
    if (this.#pressedBackdrop && this.#isBackdrop(event)) this.#dialog.close();
    const leaves = event.target.closest("a") && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    // The source may be on this very page, behind the dialog.
    if (leaves) this.#dialog.close();
  }

  #closed() {
    if (this.#run) this.#stop();
    this.#opener?.focus({ preventScroll: true });
  }

  #submit() {
    const question = this.#question.value.trim();
    if (question === "") return this.#question.focus();
    if (this.#emit("answerable:ask", { question }, true)) this.#ask(question);
  }

  async #ask(question) {
    this.#run?.abort();
    const run = new AbortController();
    this.#run = run;
    this.#showWorking();
    try {
      const answer = await request(this.#endpoint, question, run.signal);
      if (!run.signal.aborted) this.#showAnswer(answer);
    } catch (error) {
      if (!run.signal.aborted) this.#showError(error);
    }
  }

  #stop() {
    this.#run.abort();
    this.#run = null;
    this.#showEmpty();
    this.#status.textContent = TEXT.stopped;
    this.#question.focus();
  }

  #show(state, ...nodes) {
    this.#view.dataset.state = state;
    this.#view.setAttribute("aria-busy", String(state === "working"));
    this.#view.replaceChildren(...nodes);
    this.#view.parentElement.scrollTop = 0;
    this.#alert.textContent = "";
    this.#status.textContent = "";
  }

  #showEmpty() {
    this.#show("empty", element("p", { class: "scope" }, TEXT.scope));
  }

  #showWorking() {
    const stop = element("button", { class: "button", type: "button" }, TEXT.stop);
    stop.addEventListener("click", () => this.#stop());
    const line = element("div", { class: "working" }, element("span", { class: "pulse" }), TEXT.working, stop);
    this.#show("working", line);
  }

  #showAnswer(answer) {
    const nodes = drawAnswer(answer);
    this.#run = null;
    this.#show(answer.mode, ...nodes);
    this.#status.textContent = announcement(answer);
    nodes[0].focus();
    this.#emit("answerable:answer", answer);
  }

  #showError({ status }) {
    this.#run = null;
    const retry = element("button", { class: "button retry", type: "button" }, TEXT.retry);
    retry.addEventListener("click", () => this.#submit());
    this.#show("failure", retry);
    this.#alert.textContent = UNREADABLE.includes(status) ? TEXT.refused : TEXT.failed;
    this.#question.focus();
  }

  #emit(type, detail, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(type, { detail, cancelable, bubbles: true, composed: true }));
  }
}

if (!customElements.get("answerable-ask")) customElements.define("answerable-ask", AskBox);
