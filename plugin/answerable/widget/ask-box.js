// As strings/en.json.
const ENGLISH = {
  "dir": "ltr",
  "ask": "Ask",
  "title": "Ask this site",
  "row": "Ask this site: {question}",
  "close": "Close",
  "question": "Your question",
  "placeholder": "How do I …?",
  "keys": "Enter to ask, Shift+Enter for a new line",
  "limit": "At most {n} characters",
  "scope": "Answers come only from this site, with their sources. When it does not know, it says so.",
  "examples": "For example",
  "press": "Press Enter to ask this question.",
  "working": "Looking through this site …",
  "stage.embedding": "Reading the question …",
  "stage.searching": "Searching this site …",
  "stage.writing": "Writing an answer …",
  "stage.checking": "Checking every source …",
  "stop": "Stop",
  "stopped": "Stopped.",
  "confidence.high": "Answer",
  "confidence.medium": "From this site",
  "confidence.low": "Closest passage: it may not answer this",
  "heading.related-material": "Where to look",
  "heading.not-found": "This site does not answer that.",
  "tip": "Try other words, or name the feature, option or error message you mean.",
  "note.corrected": "Showing results for “{to}”.",
  "note.unknown": "This site does not mention “{word}”.",
  "note.follow-up": "Each question stands alone: name what it is about.",
  "unverified": "Something was written, but its sources could not be verified, so it is not shown.",
  "search": "Search this site for it",
  "authors": "Tell the authors",
  "sources": "Sources",
  "source": "Source {n}: {title}",
  "quote": "Quote",
  "quoteFrom": "Quote from {title}",
  "relatedNote": "Related material",
  "dropped": {
    "one": "{n} sentence removed: source not verified.",
    "other": "{n} sentences removed: source not verified."
  },
  "otherLanguage": "The sources are in {names}.",
  "differs": "This page and the index of answers are not of the same build: an answer may miss what has just changed.",
  "ready": {
    "one": "Answer ready, {n} source.",
    "other": "Answer ready, {n} sources."
  },
  "pointers": {
    "one": "No direct answer, {n} place to look.",
    "other": "No direct answer, {n} places to look."
  },
  "notFound": "Not found on this site.",
  "copy": "Copy answer",
  "copyCode": "Copy code",
  "copied": "Copied.",
  "notCopied": "The browser does not allow copying here.",
  "share": "Copy link to this question",
  "helpful": "Was this helpful?",
  "yes": "Yes",
  "no": "No",
  "why": "What was wrong?",
  "reason.wrong": "It is wrong",
  "reason.incomplete": "Something is missing",
  "reason.outdated": "It is out of date",
  "reason.other": "Something else",
  "thanks": "Thank you.",
  "notSent": "That could not be sent.",
  "failed": "Your question could not be answered just now. It is still here: please try again.",
  "late": "The answer took too long. Your question is still here: please try again.",
  "offline": "You are offline. Your question is still here: please try again when you are back.",
  "unreadable": "This question could not be read. Please change it and try again.",
  "limited": {
    "one": "There are too many questions just now. You can ask again in {n} second.",
    "other": "There are too many questions just now. You can ask again in {n} seconds."
  },
  "capped": "No more questions can be answered today.",
  "paused": "Questions are not answered at the moment.",
  "missing": "No questions can be answered here: nothing answers at this address.",
  "stale": "The index of answers does not fit this page: it is of another build, or a part of it cannot be read. Reload the page to ask again.",
  "unsupported": "This browser is too old to answer questions here.",
  "file": "A page that is opened as a file cannot load the index of answers. Open the site from a web server.",
  "searchWorks": "Search still works.",
  "retry": "Try again",
  "reload": "Reload the page",
  "retryIn": "Try again in {n} s",
  "stopwords": "a about an and are as at be by can could do does explain for from get have how i if in into is it me my of on or say says should tell than that the their there think this to was we what when where which who why will with would you your"
};
const LANGUAGES = "ar de es fr ja";
const MOST = 500;
const EVENTS = "text/event-stream";
const GONE = "IndexGoneError";

// The text of each code, "failed" of all others.
const PROBLEMS = {
  __proto__: null,
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
const REMEDIES = { failed: "retry", late: "retry", offline: "retry", limited: "retry", stale: "reload" };
const PATIENCE = 30;

const ICONS = {
  ask: [
    "M4 4h16v13h-8l-5 4v-4H4z",
    "M10 9a2 2 0 1 1 3 2l-1 1M12 14v0",
  ],
  close: ["M6 6l12 12M18 6L6 18"],
  copy: ["M9 9h11v11H9zM5 15H4V4h11v1"],
};

const LANGUAGE = /^(?=.{2,35}$)[a-z]{2,8}([-_][a-z0-9]{1,8})*$/i;
// Bidi embeddings and overrides.
const TURNING = /[\u202a-\u202e]/g;

const HOME = new URL(".", import.meta.url);
const ROOT = new URL("../../", HOME);

// `all: initial` keeps a theme's type out. Many links are too pale.
const TRIGGER_CSS = `
:host {
  all: initial;
  font-family: var(--answerable-font, inherit);
  line-height: 1.55;
  color-scheme: inherit;
  --bg: var(--answerable-bg, var(--md-default-bg-color, var(--bs-body-bg, Canvas)));
  --fg: var(--answerable-fg, var(--md-default-fg-color, var(--bs-body-color, CanvasText)));
  --link: var(--md-typeset-a-color, var(--md-primary-fg-color, var(--bs-link-color, LinkText)));
}
.trigger, .box {
  --accent: var(--answerable-accent, color-mix(in srgb, var(--link) 50%, var(--fg)));
  --focus: var(--answerable-focus, var(--accent));
}
:host([placement="header"]) { color: inherit; flex: none; margin-inline: .5em; }
:host([placement="inline"]) { display: block; margin-block: 1em; }
[hidden], :host([hidden]), :host([placement="none"]) .trigger { display: none !important; }
button, textarea { font: inherit; color: inherit; margin: 0; }
button { cursor: pointer; }
svg { inline-size: 1.25em; block-size: 1.25em; flex: none; fill: none; stroke: currentColor;
  stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
.trigger { display: inline-flex; align-items: center; gap: .5em; font-weight: 600; line-height: 1; white-space: nowrap;
  border: 1px solid transparent; border-radius: 99em; }
.room { block-size: 5em; }
:host(:not([placement="header"])) .trigger { position: fixed; z-index: var(--answerable-z-index, 3);
  inset-block-end: max(1.25em, env(safe-area-inset-bottom)); inset-inline-end: 1.25em;
  padding-block: .8em; padding-inline: .95em 1.15em; color: var(--bg); background: var(--accent);
  box-shadow: 0 1px 2px #0003, 0 6px 20px #0003; }
:host([placement="header"]) .trigger { padding-block: .45em; padding-inline: .7em .9em; font-size: .9em;
  color: var(--accent); background: var(--bg); }
:host([placement="header"]) .trigger:focus-visible { outline-color: currentColor; }
.trigger:hover { filter: brightness(1.1); }
@media (max-width: 600px) {
  :host([placement="header"]) { margin-inline: 0; }
  :host([placement="header"]) .trigger { padding: .5em; font-size: 1em; color: inherit; background: none; }
  :host([placement="header"]) .trigger svg { inline-size: 1.5em; block-size: 1.5em; }
  :host([placement="header"]) .trigger span { position: absolute; clip-path: inset(50%); }
}
@media (forced-colors: active) { .trigger { border-color: ButtonBorder !important; } }
@media print { .trigger, .room { display: none !important; } }
`;

const BOX_CSS = `
.box { --muted: color-mix(in srgb, var(--fg) 80%, var(--bg));
  --edge: color-mix(in srgb, var(--fg) 58%, var(--bg));
  --line: color-mix(in srgb, var(--fg) 16%, var(--bg));
  --tint: color-mix(in srgb, var(--fg) 5%, var(--bg));
  --error: var(--answerable-error, #d9434a);
  box-sizing: border-box; color: var(--fg); background: var(--bg); border: 1px solid var(--line);
  border-radius: var(--answerable-radius, 16px); overflow: hidden; }
h2, h3, h4, p, ul, ol, pre, blockquote { margin: 0; padding: 0; }
h2, h3 { line-height: 1.3; font-weight: 650; }
a { color: var(--accent); }

dialog { inline-size: min(var(--answerable-width, 44em), calc(100vw - 2em));
  max-block-size: min(90dvh, 54em); margin: 5dvh auto auto; padding: 0;
  box-shadow: 0 6px 64px #0006; }
.panel { display: flex; flex-direction: column; max-block-size: inherit; }
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
  max-block-size: 9em; padding: .8em 1em .2em; font-size: max(16px, 1em); line-height: 1.5; resize: none;
  field-sizing: content; background: none; border: 0; }
textarea:focus-visible { outline: none; }
textarea::placeholder { color: var(--muted); opacity: 1; }
.row { display: flex; align-items: center; gap: .8em; padding-block: .4em .5em;
  padding-inline: 1em .5em; color: var(--muted); }
.keys, .count { font-size: .8125em; }
.count { margin-inline-start: auto; font-variant-numeric: tabular-nums; }
.count.full { color: var(--fg); font-weight: 650; }
.button { padding: .5em 1.1em; font-size: .9375em; font-weight: 600; line-height: 1.4;
  color: var(--accent); background: none; border: 1px solid var(--edge); border-radius: 9px; }
.button:hover { background: var(--tint); }
.button[aria-disabled="true"] { color: var(--muted); border-style: dashed; cursor: default; }
.primary { color: var(--bg); background: var(--accent); border-color: transparent; }
.primary:hover { background: color-mix(in srgb, var(--accent) 88%, var(--fg)); }

.result { flex: 1; min-block-size: 0; overflow: auto; overscroll-behavior: contain;
  padding: 0 1.5em 1.5em; overflow-wrap: anywhere; }
.view { display: grid; gap: .75em; }
.view > *, .words > * { min-inline-size: 0; }
h3:focus, .asked:focus { outline: none; }
h3 { font-size: 1.1875em; }
.scope, .tip { color: var(--muted); font-size: .9375em; }
.meta, .number, .page, .tag, .locator { color: var(--muted); font-size: .875em; }
.sentence { white-space: pre-wrap; }
pre, code { font-family: var(--answerable-code-font, var(--md-code-font-family, ui-monospace, monospace)); font-size: .875em; background: var(--tint); }
code { padding: .1em .3em; border-radius: 4px; }
pre { padding: .7em .9em; border-radius: 9px; overflow-x: auto;
  white-space: pre; overflow-wrap: normal; line-height: 1.45; direction: ltr; text-align: left; }
pre code { padding: 0; font-size: 1em; background: none; }
.code { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: start; margin-block: .2em;
  background: var(--tint); border-radius: 9px; }
.code pre { background: none; }
.code button { display: grid; padding: .5em; font-size: .875em; color: var(--muted); background: var(--bg);
  border: 1px solid var(--line); border-radius: 9px; }
.words { display: grid; gap: .5em; margin-block-start: .35em; }
:is(ul, ol):not(.cards) { padding-inline-start: 1.5em; }
.label { font-weight: 650; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9375em; overflow-wrap: normal; }
th, td { padding: .3em .7em; text-align: start; border: 1px solid var(--line); }
mark { color: inherit; background: color-mix(in srgb, var(--accent) 25%, transparent); }
.mark { margin-inline-start: .25em; font-size: .8125em; font-weight: 600; unicode-bidi: isolate;
  font-variant-numeric: tabular-nums; text-decoration: none; white-space: nowrap; }
.mark::before { content: "\\2060"; }
.mark:hover { text-decoration: underline; }
h4 { display: inline; font-size: 1em; }
.cards { display: grid; gap: .6em; list-style: none; }
.card { padding: .7em 1em; border: 1px solid var(--line); border-radius: 12px; }
.title { font-weight: 600; }
details { margin-block-start: .2em; color: var(--muted); font-size: .9375em; }
summary { inline-size: fit-content; cursor: pointer; }
blockquote { margin-block-start: .2em; padding-inline-start: .8em; white-space: pre-wrap;
  border-inline-start: 2px solid var(--line); }
.hint { border: 1.5px dashed var(--edge); }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: .4em .6em; margin-block-start: .3em;
  font-size: .875em; color: var(--muted); }
.actions .button { padding: .3em .8em; font-size: inherit; text-decoration: none; }
.examples { display: grid; gap: .5em; justify-items: start; }
.examples .button { text-align: start; font-weight: 500; }

.working { display: flex; align-items: center; gap: .75em; color: var(--muted); }
.working .button { margin-inline-start: auto; }
.pulse { inline-size: .6em; block-size: .6em; border-radius: 50%; background: var(--accent); flex: none; }
.alert:not(:empty) { margin-block-end: .75em; padding: .7em 1em; border-radius: 12px;
  border: 1px solid var(--error); background: color-mix(in srgb, var(--error) 8%, var(--bg)); }
.hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }

@media (prefers-reduced-motion: no-preference) {
  dialog[open] { animation: rise .16s ease-out; }
  .pulse { animation: pulse 1.1s ease-in-out infinite alternate; }
  @keyframes rise { from { opacity: 0; translate: 0 6px; } }
  @keyframes pulse { from { opacity: .25; } }
}
@media (max-width: 600px), (max-height: 480px) {
  dialog.box { inline-size: 100vw; max-inline-size: none; margin: 0; border: 0; border-radius: 0;
    block-size: var(--visible, 100dvh); max-block-size: none; inset-block-start: var(--top, 0); }
  dialog .panel { block-size: 100%; }
  header { padding-block: max(.6em, env(safe-area-inset-top)) 0; padding-inline: 1.1em .5em; }
  form { margin-inline: 1.1em; }
  .result { padding: 0 1.1em max(1.5em, env(safe-area-inset-bottom)); }
  .keys { display: none; }
}
dialog.docked { position: fixed; inset-block: auto 1em; inset-inline: auto 1em; margin: 0;
  inline-size: min(28em, calc(100vw - 2em)); block-size: auto; max-block-size: 45dvh;
  z-index: var(--answerable-z-index, 3); }
.docked form { display: none; }
@media (max-height: 480px) {
  .panel { overflow: auto; }
  .result { flex: none; }
}
@media (forced-colors: active) {
  .pulse { background: Highlight; forced-color-adjust: none; }
  .close { border-color: ButtonBorder; }
}
@media print {
  dialog, form, .actions { display: none !important; }
  .result { overflow: visible; }
}
`;

const sheets = {};

function sheet(css) {
  if (!sheets[css]) (sheets[css] = new CSSStyleSheet()).replaceSync(css);
  return sheets[css];
}

/** An element; its classes are its parts. */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null) node.setAttribute(name, String(value).replace(TURNING, ""));
    if (name === "class") node.part = value;
  }
  node.append(...children.map((child) => (typeof child === "string" ? child.replace(TURNING, "") : child)));
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

function button(name, text, act) {
  const node = element("button", { class: `button ${name}`, type: "button" }, text);
  node.addEventListener("click", act);
  return node;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string" && value.trim() !== "";
const isOptionalText = (value) => value == null || typeof value === "string";
// Half surrogate pairs have no encoding.
const encoded = (text) => encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, ""));

function speaking(tag, strings) {
  const say = (key, values = {}) => {
    const given = strings[key] ?? ENGLISH[key];
    const text = isObject(given) ? (given[new Intl.PluralRules(tag).select(values.n)] ?? given.other) : given;
    return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  };
  return { tag, dir: strings.dir === "rtl" ? "rtl" : "ltr", say };
}

const IN_ENGLISH = speaking("en", ENGLISH);
const loaded = {};

function spoken(base) {
  loaded[base] ??= fetch(new URL(`strings/${base}.json`, HOME), { signal: patience() })
    .then(async (response) => speaking(base, await response.json()))
    .catch(() => IN_ENGLISH);
  return loaded[base];
}

const baseOf = (language) => language.toLowerCase().split(/[-_]/)[0];

function pageLanguage() {
  const { lang } = document.documentElement;
  return LANGUAGE.test(lang) ? lang : undefined;
}

function nameOfLanguage(language, tag) {
  try {
    return new Intl.DisplayNames(tag, { type: "language" }).of(language.replaceAll("_", "-"));
  } catch {
    return language;
  }
}

function endpointOf(host) {
  const link = document.querySelector('link[rel~="answerable"]');
  const address = host.getAttribute("endpoint") ?? link?.getAttribute("href");
  const url = new URL(address ?? new URL("_answerable/", ROOT), document.baseURI);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return { url, isDefault: address == null };
}

function resolve(address, siteUrl) {
  try {
    if (!address.startsWith("/")) return /^https?:\/\//i.test(address) ? new URL(address).href : null;
    // A copy may lie below another path. The "./" keeps "//other.host" a path here.
    const { pathname } = new URL(siteUrl || "/", ROOT);
    const url = new URL(address.startsWith(pathname) ? `./${address.slice(pathname.length)}` : address, ROOT);
    return url.origin === ROOT.origin ? url.href : null;
  } catch {
    return null;
  }
}

function filled(template, question, bundle) {
  try {
    const text = template.replaceAll("{question}", encoded(question)).replaceAll("{bundle}", encoded(bundle));
    const url = new URL(text, ROOT);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function sharedAddress(question) {
  const page = new URL(location.href);
  page.search = "";
  page.hash = `ask=${encoded(question)}`;
  return page.href;
}

function demand(condition) {
  if (!condition) throw new TypeError("not an answer");
}

function checkCitation(citation) {
  demand(isObject(citation) && Number.isInteger(citation.n));
  const { kind, title, label, url, href, quote, locator, language, date } = citation;
  demand(kind === "record" ? isText(title) : kind === "hint" && isText(label));
  demand([url, href, quote, locator, language, date].every(isOptionalText));
}

function checkSentences(sentences, kind, kinds) {
  demand(Array.isArray(sentences));
  for (const sentence of sentences) {
    demand(isObject(sentence) && isText(sentence.text));
    demand(Array.isArray(sentence.citations) && sentence.citations.length > 0);
    demand(sentence.citations.every((n) => kinds.get(n) === kind));
  }
}

function checkAnswer(answer) {
  demand(isObject(answer) && Array.isArray(answer.citations));
  const { mode, claims, routes, citations } = answer;
  citations.forEach(checkCitation);
  const kinds = new Map(citations.map(({ n, kind }) => [n, kind]));
  checkSentences(claims, "record", kinds);
  checkSentences(routes, "hint", kinds);
  const used = new Set([...claims, ...routes].flatMap((sentence) => sentence.citations));
  demand(kinds.size === citations.length && kinds.size === used.size);
  const has = (kind) => citations.some((citation) => citation.kind === kind);
  const [whole, part] = has("hint") ? ["supported", "related-material"] : ["partial", "not-found"];
  demand(mode === (has("record") ? whole : part));
  demand([answer.site_url, answer.bundle, answer.request_id].every(isOptionalText));
  return answer;
}

class Problem extends Error {
  constructor(code, seconds = NaN) {
    super(`answerable: ${code}`);
    this.code = code;
    this.seconds = seconds > 0 ? Math.min(seconds, 3600) : PATIENCE;
  }
}

async function problemOf(response) {
  const body = await response.json().catch(() => null);
  const code = isText(body?.code) ? body.code : response.status;
  return new Problem(code, Number(response.headers.get("Retry-After")));
}

async function readEvents(response, entered) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Problem("incomplete");
    const blocks = (waiting + value).split("\n\n");
    waiting = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
      const data = fields.data && JSON.parse(fields.data);
      if (fields.event === "stage") entered(data.stage);
      if (fields.event === "problem") throw new Problem(data.code ?? data.status);
      if (fields.event === "answer") return data;
    }
  }
}

async function request(call, endpoint, question, signal, entered) {
  const send = (altcha) =>
    call(new URL("answer", endpoint), {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: `${EVENTS}, application/json` },
      body: JSON.stringify({ question, language: pageLanguage(), altcha }),
      signal,
    });
  let response = await send();
  if (!response.ok) {
    const problem = await problemOf(response);
    if (problem.code !== "challenge") throw problem;
    const { answerChallenge } = await import("./challenge.js");
    response = await answerChallenge(call, endpoint, send, signal);
    if (!response.ok) throw await problemOf(response);
  }
  const streams = response.headers.get("Content-Type")?.startsWith(EVENTS);
  return checkAnswer(await (streams ? readEvents(response, entered) : response.json()));
}

const engines = {};
const patience = () => AbortSignal.timeout?.(3e4);

/** The engine of this browser over the site's index. */
async function engineOf(call, { engine, index }) {
  if (!self.DecompressionStream || !AbortSignal.timeout) throw new Problem("unsupported");
  const urls = engine.map((path) => new URL(path, HOME).href);
  // Whoever can write this file runs no code of another site, nor of a scheme such as data.
  if (!urls.every((url) => url.startsWith(HOME.href))) throw new Error("engine: no path of the site");
  engines[urls[0]] ??= (async () => {
    // A failed import stays failed.
    const responses = await Promise.all(urls.map((url) => call(url, { signal: patience() })));
    const engine = responses.every(({ ok }) => ok) && (await import(urls[0]).catch(() => null));
    if (!engine) throw Object.assign(new Error(), { name: GONE });
    return engine;
  })();
  try {
    const { openSiteIndex } = await engines[urls[0]];
    return await openSiteIndex(index, HOME, pageLanguage(), call);
  } catch (error) {
    delete engines[urls[0]];
    throw error;
  }
}

async function answerHere(call, site, question, signal, entered) {
  const engine = await engineOf(call, site);
  return checkAnswer(await engine.answer(question, { language: pageLanguage(), signal, onStage: entered, requestId: crypto.randomUUID?.() }));
}

async function siteOf(call, query) {
  const response = await call(new URL(`site.json${query}`, HOME), { cache: "no-cache", signal: AbortSignal.timeout(3000) });
  // No file, no index.
  if (!response.ok && response.status !== 404) throw new Problem(response.status);
  const site = Object(
    await response.json().catch((error) => {
      if (!(error instanceof SyntaxError)) throw error;
    }),
  );
  const examples = Array.isArray(site.examples) ? site.examples.filter(isText).slice(0, 3) : [];
  const bundles = (isObject(site.bundle) ? Object.values(site.bundle) : [site.bundle]).filter(isText);
  return { ...site, bundles, examples };
}

function blocksOf({ blocks }) {
  try {
    return blocks?.length && drawingBlocks(IN_ENGLISH.say, { stems: new Set() }).drawBlocks(blocks) ? blocks : null;
  } catch {
    return null;
  }
}

function numbered(answer) {
  const order = [...new Set([...answer.claims, ...answer.routes].flatMap((sentence) => sentence.citations))];
  const given = new Map(answer.citations.map((citation) => [citation.n, citation]));
  const citations = order.map((n, index) => {
    const citation = given.get(n);
    return { ...citation, n: index + 1, link: resolve(citation.href ?? citation.url ?? "", answer.site_url) };
  });
  const renumber = (sentence) => ({
    text: sentence.text,
    blocks: blocksOf(sentence),
    citations: sentence.citations.map((n) => citations[order.indexOf(n)]),
  });
  return { ...answer, citations, claims: answer.claims.map(renumber), routes: answer.routes.map(renumber) };
}

const nameOf = (citation) => (citation.kind === "hint" ? citation.label : citation.title);

function groupBy(items, keyOf) {
  const groups = {};
  for (const item of items) (groups[keyOf(item)] ??= []).push(item);
  return Object.values(groups);
}

const sectionOf = ({ kind, n, url, title }) => JSON.stringify(kind === "hint" ? n + "" : [url, title]);

function excerptsOf(claims) {
  const isExcerpt = ({ blocks, citations }) => blocks && groupBy(citations, sectionOf).length === 1;
  return claims.every(isExcerpt) ? groupBy(claims, ({ citations }) => sectionOf(citations[0])) : [];
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

function fold(word) {
  return word.toLowerCase().replace(/(?<=..)(ies|y|e|s)+$/, "");
}

function contentWords(question, say) {
  const words = question.match(/[\p{L}\p{N}](\S*[\p{L}\p{N}+#])?/gu) ?? [];
  const stopwords = say("stopwords").split(" ");
  const content = words.filter((word) => !stopwords.includes(word.toLowerCase()));
  return content.length ? content : words;
}

const remarksOf = ({ notes }) => (Array.isArray(notes) ? notes : []).filter(isObject);

function stemsOf(question, answer, say) {
  const spellings = remarksOf(answer).map(({ to }) => to).filter(isText);
  const words = contentWords([question, ...spellings].join(" "), say).join(" ").match(WORD) ?? [];
  return new Set(words.filter((word) => word.length > 1).map(fold));
}

const structureOf = ({ blocks }) => (blocks?.some(({ kind }) => kind !== "text") ? blocks : null);

// Code of a sentence is what the contract has checked as code: its pattern is the same.
const spansOf = (text) => text.split(/`([^`\n]+)`/).map((piece, index) => ({ text: piece, code: index % 2 > 0 }));

function drawLink(link, attributes, ...text) {
  return link ? element("a", { ...attributes, href: link }, ...text) : element("span", attributes, ...text);
}

function drawingBlocks(say, { stems, siteUrl, copy }) {
  function drawWords(text) {
    const pieces = [];
    let end = 0;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      if (!stems.has(fold(word))) continue;
      pieces.push(text.slice(end, index), element("mark", {}, word));
      end = index + word.length;
    }
    return [...pieces, text.slice(end)];
  }

  function drawSpan({ text, code, href }) {
    const words = code ? [element("code", {}, ...drawWords(text))] : drawWords(text);
    const link = resolve(href, siteUrl);
    return link ? [element("a", { href: link }, ...words)] : words;
  }

  const drawSpans = (spans) => spans.flatMap(drawSpan);

  function drawCode(text) {
    const block = element("pre", { tabindex: "0", dir: "ltr" }, element("code", {}, text));
    const copyButton = element("button", { type: "button", "aria-label": say("copyCode") }, icon(ICONS.copy));
    const frame = element("div", { class: "code" }, block, copyButton);
    copyButton.addEventListener("click", () => copy(text, frame));
    return frame;
  }

  function drawList(items) {
    const root = element("div", { class: "list" });
    const lists = [];
    for (const { level, number, spans } of items) {
      demand(!(level < 0));
      const depth = Math.min(level | 0, lists.length, 8);
      const isNumbered = /^\d{1,9}$/.test(number);
      lists.length = Math.min(lists.length, depth + 1);
      if (lists[depth]?.localName !== (isNumbered ? "ol" : "ul")) {
        lists[depth] = element(isNumbered ? "ol" : "ul");
        (lists[depth - 1]?.lastChild ?? root).append(lists[depth]);
      }
      lists[depth].append(element("li", { dir: "auto", value: isNumbered ? number : null }, ...drawSpans(spans)));
    }
    return root;
  }

  function drawRow(cells, tag, scope = null) {
    return element("tr", {}, ...cells.map((spans) => element(tag, { dir: "auto", scope }, ...drawSpans(spans))));
  }

  function drawTable({ columns, rows }) {
    const head = columns.length ? [element("thead", {}, drawRow(columns, "th", "col"))] : [];
    const body = element("tbody", {}, ...rows.map((cells) => drawRow(cells, "td")));
    return element("div", { class: "table", tabindex: "0" }, element("table", {}, ...head, body));
  }

  const draw = {
    __proto__: null,
    text: ({ spans }) => element("p", { dir: "auto" }, ...drawSpans(spans)),
    label: ({ spans }) => element("p", { class: "label", dir: "auto" }, ...drawSpans(spans)),
    code: ({ text }) => drawCode(text.slice()),
    list: ({ items }) => drawList(items),
    table: drawTable,
    gap: () => element("p", {}, "…"),
  };
  return (blocks) => blocks.map((block) => draw[block.kind](block));
}

// Only what is cited.
function drawing({ tag, say }, context) {
  const drawBlocks = drawingBlocks(say, context);

  function drawMarker(citation) {
    const name = say("source", { n: citation.n, title: nameOf(citation) });
    const label = citation.link && { "aria-label": name };
    const marker = drawLink(citation.link, { class: "mark", dir: "ltr", ...label }, `[${citation.n}]`);
    marker.citation = citation;
    return marker;
  }

  const drawText = (text) => spansOf(text).map((span) => (span.code ? element("code", {}, span.text) : span.text));

  function drawSentence(claim) {
    const blocks = structureOf(claim);
    const words = blocks ? drawBlocks(blocks) : drawText(claim.text);
    const markers = claim.citations.map(drawMarker);
    return element(blocks ? "div" : "p", { class: "sentence", dir: "auto" }, ...words, ...markers);
  }

  function drawPage({ link, date }) {
    const { pathname, host, origin } = new URL(link ?? ROOT);
    const page = (origin === ROOT.origin ? "" : host) + decoded(pathname);
    return element("span", { class: "page", dir: "ltr" }, [link && page, date].filter(Boolean).join(" · "));
  }

  function drawQuote({ quote, language, ...citation }) {
    const summary = element("summary", { "aria-label": say("quoteFrom", { title: nameOf(citation) }) }, say("quote"));
    const words = element("blockquote", { dir: "auto", lang: language || null }, quote);
    const details = element("details", {}, summary, words);
    details.open = quote.length <= 240 && !quote.includes("\n");
    return details;
  }

  function drawTitle(citation) {
    const title = drawLink(citation.link, { class: "title", dir: "auto" }, nameOf(citation));
    title.citation = citation;
    return title;
  }

  function drawCard(citations) {
    const [citation] = citations;
    const number = element("span", { class: "number" }, citations.map(({ n }) => `[${n}]`).join(" "));
    if (citation.kind === "hint") return drawHint(citation, number);
    const quotes = citations.filter(({ quote }) => isText(quote)).map(drawQuote);
    return element("li", { class: "card" }, number, " ", drawTitle(citation), " ", drawPage(citation), ...quotes);
  }

  function drawHint(citation, ...number) {
    const label = element("span", { class: "tag" }, say("relatedNote"));
    const place = citation.locator ? [" ", element("span", { class: "locator", dir: "auto" }, citation.locator)] : [];
    return element("li", { class: "card hint" }, ...number, " ", label, " ", drawTitle(citation), ...place);
  }

  function drawExcerpt(claims) {
    const [citation] = claims[0].citations;
    const blocks = claims.flatMap((claim) => drawBlocks(claim.blocks));
    const words = element("div", { class: "words", lang: citation.language || null }, ...blocks);
    return element("li", { class: "card excerpt" }, element("h4", {}, drawTitle(citation)), " ", drawPage(citation), words);
  }

  const drawCards = (...cards) => element("ul", { class: "cards", role: "list" }, ...cards);

  function drawLanguage(citations) {
    const page = pageLanguage();
    const tags = citations.filter(({ kind }) => kind === "record").map(({ language }) => language);
    const known = page && tags.length > 0 && tags.every(isText);
    if (!known || tags.some((each) => baseOf(each) === baseOf(page))) return [];
    const names = [...new Set(tags)].map((each) => nameOfLanguage(each, tag));
    return [drawNote(say("otherLanguage", { names: new Intl.ListFormat(tag).format(names) }))];
  }

  const drawNote = (text) => element("p", { class: "meta" }, text);

  const drawDropped = ({ dropped }) => (dropped > 0 ? [drawNote(say("dropped", { n: Number(dropped) }))] : []);

  function drawRemarks(answer) {
    const remarks = remarksOf(answer).filter(({ kind, to, word }) => isText(kind) && `note.${kind}` in ENGLISH && [to, word].every(isOptionalText));
    const text = remarks.map(({ kind, to, word }) => say(`note.${kind}`, { to, word })).join(" ");
    return text ? [element("p", { class: "tip remarks" }, text)] : [];
  }

  function drawHeading({ mode, claims, confidence }) {
    const sure = ["high", "low"].includes(confidence) ? confidence : "medium";
    return element("h3", { tabindex: "-1" }, say(claims.length ? `confidence.${sure}` : `heading.${mode}`));
  }

  function drawNotFound(answer) {
    const tip = element("p", { class: "tip" }, say(answer.reason === "contract" ? "unverified" : "tip"));
    return [...drawRemarks(answer), tip, ...drawDropped(answer)];
  }

  function drawProse(answer) {
    const { claims, routes, citations } = answer;
    const sentences = [...claims, ...routes].map(drawSentence);
    const label = claims.length ? [element("h4", { class: "meta" }, say("sources"))] : [];
    const cards = drawCards(...groupBy(citations, sectionOf).map(drawCard));
    return [...drawRemarks(answer), ...sentences, ...drawDropped(answer), ...drawLanguage(citations), ...label, cards];
  }

  function drawExcerpts(answer, excerpts) {
    const hints = answer.citations.filter(({ kind }) => kind === "hint").map((hint) => drawHint(hint));
    const cards = drawCards(...excerpts.map(drawExcerpt), ...hints);
    return [...drawRemarks(answer), ...drawLanguage(answer.citations), cards, ...drawDropped(answer)];
  }

  function drawAnswer(answer) {
    const excerpts = excerptsOf(answer.claims);
    const draw = answer.mode === "not-found" ? drawNotFound : excerpts.length ? drawExcerpts : drawProse;
    return [drawHeading(answer), ...draw(answer, excerpts)];
  }

  return { drawAnswer, drawNote };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function focused() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return node === document.body ? null : node;
}

// Ctrl is Cmd on a Mac.
function chordOf({ ctrlKey, metaKey, altKey, shiftKey, key }) {
  const chord = [(ctrlKey || metaKey) && "ctrl", altKey && "alt", shiftKey && "shift", key?.toLowerCase()];
  return chord.filter(Boolean).join("+");
}

/** See custom-elements.json. */
export class AskBox extends HTMLElement {
  #fetch = (...request) => (this.fetch ?? fetch)(...request);
  #endpoint = null;
  #language = IN_ENGLISH;
  #chord = null;
  #site = null;
  #run = null;
  #timer = 0;
  #opener = null;
  #pressedBackdrop = false;
  #ui = null;
  #asked = "";
  #kept = null;
  #hasFocus = false;
  #connection = null;
  #label = element("span", {}, ENGLISH.ask);
  #trigger = element(
    "button",
    { class: "trigger", type: "button", "aria-haspopup": "dialog" },
    element("slot", { name: "trigger" }, icon(ICONS.ask), this.#label),
  );

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [sheet(TRIGGER_CSS)];
    this.#trigger.addEventListener("click", () => this.open());
    // Themes bind bare letters.
    for (const type of ["keydown", "keypress", "keyup"]) {
      this.addEventListener(type, (event) => {
        const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
        if (isPlain && (this.#ui?.dialog?.open || this.#isInline)) event.stopPropagation();
      });
    }
  }

  async connectedCallback() {
    const isFirst = !this.#endpoint;
    // Once: instant navigation changes the base.
    this.#endpoint ??= endpointOf(this);
    const { signal } = (this.#connection = new AbortController());
    document.addEventListener("keydown", this.#onShortcut, { signal });
    const shortcut = this.getAttribute("shortcut") ?? "Ctrl+I";
    this.#chord = shortcut.toLowerCase();
    if (this.#chord !== "none") {
      const keys = shortcut.replace(/ctrl/i, "Control");
      this.#trigger.title = shortcut;
      this.#trigger.ariaKeyShortcuts = keys === shortcut ? keys : `${keys} ${keys.replace("Control", "Meta")}`;
    }
    addEventListener("pagehide", this.#onLeave, { signal });
    if (this.hasAttribute("webmcp")) import("./webmcp.js").then(({ offerAsk }) => offerAsk(this, this.#request, signal));
    await this.#localise();
    if (this.hasAttribute("search-row")) import("./search-row.js").then(({ offerAsk }) => offerAsk(this, this.#language, signal));
    if (this.#isInline) this.#build();
    else this.shadowRoot.append(this.#trigger);
    if (isFirst && !this.hasAttribute("placement")) this.#avoidContents();
    if (isFirst) await this.#restore();
    const openShared = () => this === document.querySelector(this.localName) && this.#openShared();
    openShared();
    addEventListener("hashchange", openShared, { signal });
    // Material's instant navigation changes the address without an event.
    const visits = window.location$?.subscribe?.(openShared);
    signal.addEventListener("abort", () => visits?.unsubscribe());
  }

  disconnectedCallback() {
    this.#connection.abort();
    this.close();
    if (this.#run) this.#stop();
    clearTimeout(this.#timer);
  }

  open(question) {
    if (!this.#isInline && !this.#ui?.dialog.matches(":modal")) {
      if (!this.#emit("answerable:open", {}, true)) return false;
      this.#opener = focused() ?? this.#trigger;
      this.#build();
      const { dialog } = this.#ui;
      dialog.close();
      dialog.classList.remove("docked");
      dialog.showModal();
      this.toggleAttribute("open", true);
      this.#follow();
    }
    this.#build();
    if (typeof question === "string") this.#put(question);
    this.#ui.question.focus();
    this.#ui.question.select();
    return true;
  }

  async #openShared() {
    if (!/[#?&]ask=/.test(location.href)) return;
    const question = (await import("./shared-question.js")).takeSharedQuestion();
    if (question === null || !this.open(question) || !question.trim()) return;
    this.#ui.view.querySelector(".tip:first-child")?.remove();
    this.#ui.view.prepend(element("p", { class: "tip" }, this.#language.say("press")));
  }

  close() {
    this.#ui?.dialog?.close();
  }

  ask(question) {
    if (this.open(String(question))) this.#submit();
  }

  get #isInline() {
    return this.getAttribute("placement") === "inline";
  }

  get #key() {
    const index = [...document.querySelectorAll(this.localName)].indexOf(this);
    return `answerable ${index} ${location.pathname}${location.search}`;
  }

  #onLeave = () => {
    try {
      if (this.#kept) sessionStorage[this.#key] = JSON.stringify({ ...this.#kept, isOpen: this.hasAttribute("open") });
      else delete sessionStorage[this.#key];
    } catch {
      // None, or full.
    }
  };

  async #restore() {
    if (!["back_forward", "reload"].includes(performance.getEntriesByType("navigation")[0]?.type)) return;
    try {
      const { question, answer, isOpen } = JSON.parse(sessionStorage[this.#key]);
      checkAnswer(answer);
      this.#build();
      this.#put(question);
      if (isOpen) this.open();
      this.#showAnswer(question, answer, await this.#told(), false);
    } catch {
      // Nothing was kept.
    }
  }

  #avoidContents() {
    if (this.parentElement === document.body) this.shadowRoot.append(element("div", { class: "room" }));
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
    window.document$?.subscribe?.(look);
  }

  async #localise() {
    const base = baseOf(this.getAttribute("lang") || document.documentElement.lang || "en");
    this.#language = LANGUAGES.includes(base) ? await spoken(base) : IN_ENGLISH;
    const { say, dir } = this.#language;
    this.#label.textContent = say("ask");
    Object.assign(this.#trigger, { lang: this.#language.tag, dir });
  }

  #build() {
    if (this.#ui) return;
    this.shadowRoot.adoptedStyleSheets = [sheet(TRIGGER_CSS), sheet(BOX_CSS)];
    const { tag, dir, say } = this.#language;
    const question = element("textarea", {
      "aria-label": say("question"),
      "aria-describedby": "hint",
      placeholder: say("placeholder"),
      maxlength: MOST,
      rows: "2",
      dir: "auto",
      enterkeyhint: "send",
    });
    const count = element("span", { class: "count", "aria-hidden": "true" });
    const limit = element("span", { class: "hidden" }, ` ${say("limit", { n: MOST })}`);
    const keys = element("span", { id: "hint" }, element("span", { class: "keys" }, say("keys")), limit);
    const send = element("button", { class: "button primary", type: "submit" }, say("ask"));
    const form = element("form", {}, question, element("div", { class: "row" }, keys, count, send));
    const alert = element("p", { class: "alert", role: "alert" });
    const status = element("p", { class: "hidden status", role: "status" });
    const view = element("div", { class: "view" });
    const title = element("h2", { id: "title" }, element("slot", { name: "title" }, say("title")));
    const header = element("header", { role: "none" }, title);
    const footer = element("slot", { name: "footer" });
    const panel = element("div", { class: "panel", lang: tag, dir }, header, form, element("div", { class: "result" }, alert, view, footer), status);
    const labelled = { class: "box", "aria-labelledby": "title" };
    if (this.#isInline) {
      this.#ui = { root: element("div", { ...labelled, role: "group" }, panel) };
    } else {
      const close = element("button", { class: "close", type: "button", "aria-label": say("close") }, icon(ICONS.close));
      close.addEventListener("click", () => this.close());
      header.append(close);
      const dialog = element("dialog", labelled, panel);
      this.#listenToDialog(dialog);
      this.#ui = { root: dialog, dialog };
    }
    Object.assign(this.#ui, { question, count, form, alert, status, view });
    this.shadowRoot.append(this.#ui.root);
    this.#listen();
    this.#showEmpty();
  }

  #listenToDialog(dialog) {
    for (const type of ["resize", "scroll"]) visualViewport.addEventListener(type, () => this.#follow());
    dialog.addEventListener("close", () => this.#closed());
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || dialog.matches(":modal")) return;
      event.stopPropagation();
      this.close();
    });
    dialog.addEventListener("pointerdown", (event) => {
      this.#pressedBackdrop = this.#isBackdrop(event);
    });
    dialog.addEventListener("click", (event) => {
      // A selection dragged out ends in a click.
      if (this.#pressedBackdrop && this.#isBackdrop(event)) this.close();
    });
  }

  #listen() {
    const { question, form, view } = this.#ui;
    question.addEventListener("input", () => this.#counted());
    question.addEventListener("focus", () => this.#prepare());
    question.addEventListener("keydown", (event) => {
      // 229: the Enter that ends a composition in Safari.
      const composing = event.isComposing || event.keyCode === 229;
      if (event.key !== "Enter" || event.shiftKey || composing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    view.addEventListener("click", (event) => this.#followed(event));
  }

  #onShortcut = (event) => {
    // Ctrl+I makes italics there.
    if (event.defaultPrevented || chordOf(event) !== this.#chord || event.composedPath()[0].isContentEditable) return;
    event.preventDefault();
    this.open();
  };

  // Of a virtual keyboard.
  #follow() {
    const { style } = this.#ui.dialog;
    style.setProperty("--visible", `${visualViewport.height}px`);
    style.setProperty("--top", `${visualViewport.offsetTop}px`);
  }

  #isBackdrop({ target, clientX, clientY }) {
    if (target !== this.#ui.dialog) return false;
    const { left, right, top, bottom } = target.getBoundingClientRect();
    return clientX < left || clientX > right || clientY < top || clientY > bottom;
  }

  #followed(event) {
    const link = event.target.closest("a");
    if (!link?.closest(".card, .sentence")) return;
    const { link: _, ...citation } = link.citation ?? {};
    if (link.citation && !this.#emit("answerable:cite", citation, true)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const isHere = link.href.split("#")[0] === location.href.split("#")[0];
    if (isHere) {
      this.#opener = null;
      this.close();
    }
    let click = event;
    if (window.document$) {
      // Material sees no link in a shadow root.
      event.preventDefault();
      const twin = element("a", { href: link.href });
      twin.addEventListener("click", (event) => (click = event));
      this.append(twin);
      twin.click();
      twin.remove();
    }
    setTimeout(() => {
      // A page that loads its own links swallows fragments.
      if (!click.defaultPrevented) return;
      if (!isHere) this.#dock(link);
      import("./highlight.js").then(({ highlightLater }) => highlightLater(link.href));
    });
  }

  #dock(link) {
    const { dialog } = this.#ui;
    if (!dialog) return;
    this.#opener = null;
    dialog.close();
    dialog.classList.add("docked");
    dialog.show();
    link.focus({ preventScroll: true });
  }

  #closed() {
    // Opened again before the event came.
    if (this.#ui.dialog.open) return;
    if (this.#run) this.#stop();
    this.toggleAttribute("open", false);
    this.#opener?.focus({ preventScroll: true });
    this.#emit("answerable:close", {});
  }

  #put(question) {
    this.#ui.question.value = question.slice(0, MOST);
    this.#counted();
  }

  #counted() {
    const { question, count } = this.#ui;
    count.textContent = `${question.value.length}/${MOST}`;
    count.classList.toggle("full", question.value.length >= MOST);
  }

  #submit() {
    const question = this.#ui.question.value.trim();
    if (question === "") return this.#ui.question.focus();
    if (this.#run && question === this.#asked) return;
    if (this.#emit("answerable:ask", { question }, true)) this.#ask(question);
  }

  async #ask(question) {
    this.#run?.abort();
    const run = new AbortController();
    this.#run = run;
    this.#asked = question;
    this.#showWorking();
    const end = (show, what, site) => run.signal.aborted || show.call(this, question, what, site);
    try {
      const entered = (stage) => run.signal.aborted || this.#entered(stage);
      const answer = await this.#request(question, run.signal, entered);
      end(this.#showAnswer, answer, await this.#told());
    } catch (error) {
      end(this.#showProblem, error, await this.#told());
    } finally {
      // A stream may stay open.
      run.abort();
    }
  }

  // Of the browser or a function, never both.
  #request = async (...asked) => {
    for (let tries = 0; ; tries += 1) {
      const site = this.#endpoint.isDefault ? await this.#read() : {};
      if (!site.index) return request(this.#fetch, this.#endpoint.url, ...asked);
      try {
        return await answerHere(this.#fetch, site, ...asked);
      } catch (error) {
        if (error.name !== GONE) throw isText(error.code) ? new Problem(error.code) : error;
        this.#site = null;
        if (tries > 0) throw new Problem("stale");
        // A service worker may have kept the file of an earlier build; of this address it has none.
        await this.#read(`?${Date.now()}`);
      }
    }
  };

  async #prepare() {
    try {
      const site = this.#endpoint.isDefault ? await this.#read() : {};
      if (site.index) await engineOf(this.#fetch, site);
    } catch {
      // Told when a question is asked.
    }
  }

  async #read(query = "") {
    if (location.protocol === "file:") throw new Problem("file");
    const read = (this.#site ??= siteOf(this.#fetch, query));
    const site = await read.catch(() => null);
    // A file that is not there may come with the next deploy.
    if (!site?.bundles.length && this.#site === read) this.#site = null;
    return read;
  }

  #stop() {
    this.#run.abort();
    this.#run = null;
    this.#showEmpty();
    this.#ui.status.textContent = this.#language.say("stopped");
    this.#ui.question.focus();
  }

  async #told() {
    const site = { bundles: [], examples: [], ...(await this.#read().catch(() => {})) };
    for (const name of ["search", "authors", "feedback"]) {
      site[name] = this.getAttribute(name) ?? site[name];
    }
    // Null where the owner wants none.
    if (!site.search && site.search !== null) site.find = (await import("./site-search.js").catch(() => null))?.findSearch;
    return site;
  }

  #show(state, ...nodes) {
    const { dialog, view, alert, status } = this.#ui;
    this.#hasFocus = dialog || this.matches(":focus-within");
    clearTimeout(this.#timer);
    this.setAttribute("state", state);
    this.removeAttribute("problem");
    view.setAttribute("aria-busy", String(state === "working"));
    view.replaceChildren(...nodes);
    view.parentElement.scrollTop = 0;
    alert.textContent = "";
    status.textContent = "";
  }

  // Not from elsewhere into an inline box.
  #focus(node) {
    if (this.#hasFocus) node.focus();
  }

  async #showEmpty() {
    const { say } = this.#language;
    const scope = element("div", { class: "scope" }, element("slot", { name: "scope" }, say("scope")));
    this.#show("empty", scope);
    this.#counted();
    const { examples } = await this.#told();
    if (examples.length === 0 || !scope.isConnected) return;
    const buttons = examples.map((example) =>
      button("example", example, () => {
        this.#put(example);
        this.#submit();
      }),
    );
    const label = element("h3", { class: "meta" }, say("examples"));
    this.#ui.view.append(element("div", { class: "examples" }, label, ...buttons));
  }

  #showWorking() {
    const { say } = this.#language;
    const stage = element("span", { class: "stage" }, say("working"));
    const stop = button("stop", say("stop"), () => this.#stop());
    this.#kept = null;
    this.#show("working", element("div", { class: "working" }, element("span", { class: "pulse" }), stage, stop));
    // What was pressed may be gone.
    if (!this.shadowRoot.activeElement) this.#focus(stop);
  }

  #entered(stage) {
    if (!(`stage.${stage}` in ENGLISH)) return;
    this.#ui.view.querySelector(".stage").textContent = this.#language.say(`stage.${stage}`);
    this.#emit("answerable:stage", { stage });
  }

  #showAnswer(question, answer, site, isNew = true) {
    const { say } = this.#language;
    const drawn = numbered(answer);
    const stems = stemsOf(question, answer, say);
    const draw = drawing(this.#language, { stems, siteUrl: answer.site_url, copy: this.#copy.bind(this) });
    const nodes = draw.drawAnswer(drawn);
    const isFound = answer.mode !== "not-found";
    const differs = site.bundles.length > 0 && answer.bundle && !site.bundles.includes(answer.bundle);
    this.#run = null;
    this.#kept = { question, answer };
    this.#show(
      answer.mode,
      ...nodes,
      ...(differs ? [draw.drawNote(say("differs"))] : []),
      ...(isFound ? [this.#actions(question, drawn)] : this.#ways(question, site, answer.bundle ?? "")),
      ...(site.feedback ? [this.#feedback(question, answer, site.feedback)] : []),
    );
    const isUnsure = answer.claims.length === 0 || answer.confidence === "low";
    const sections = groupBy(drawn.citations, sectionOf).length;
    this.#focus(nodes[0]);
    if (!isNew) return;
    this.#ui.status.textContent = say(isFound ? (isUnsure ? "pointers" : "ready") : "notFound", { n: sections });
    this.#emit("answerable:answer", answer);
  }

  #actions(question, answer) {
    const { say } = this.#language;
    const row = element("div", { class: "actions" });
    // Loaded before it is pressed, since a browser copies only at once.
    const formatting = import("./copy-answer.js");
    formatting.catch(() => copy.remove());
    const copy = button("copy", say("copy"), async () => {
      const { formatAnswer } = await formatting;
      this.#copy(formatAnswer(question, answer, { say, resolve, nameOf, excerptsOf, structureOf, spansOf }), row);
    });
    const share = button("share", say("share"), () => this.#copy(sharedAddress(question), row));
    row.append(copy, share);
    return row;
  }

  async #copy(text, row) {
    const { status } = this.#ui;
    let key = "copied";
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      key = "notCopied";
    }
    if (!row.isConnected) return;
    status.textContent = this.#language.say(key);
    row.querySelector(".said")?.remove();
    row.append(element("span", { class: "said", "aria-hidden": "true" }, status.textContent));
  }

  // On from a refusal or a problem, beside one of its own.
  #ways(question, { search, find, authors }, bundle, ...own) {
    const { say } = this.#language;
    const words = contentWords(question, say).join(" ");
    const { href, open } = find?.(words) ?? { href: search && filled(search, words, bundle) };
    const draw = (name, link) => (link ? [drawLink(link, { class: `button ${name}` }, say(name))] : []);
    const theme = open && button("search", say("search"), () => this.#leave(open));
    const ways = [...own, ...(theme ? [theme] : draw("search", href)), ...draw("authors", authors && filled(authors, question, bundle))];
    return ways.length ? [element("div", { class: "actions" }, ...ways)] : [];
  }

  #leave(open) {
    this.#opener = null;
    this.close();
    open();
  }

  #feedback(question, { mode, bundle, request_id }, address) {
    const row = element("div", { class: "actions feedback", role: "group" });
    const post = async (vote) => {
      const detail = { ...vote, question, mode, bundle, request_id };
      if (!this.#emit("answerable:feedback", detail, true)) return null;
      const headers = { "Content-Type": "application/json" };
      const { ok } = await this.#fetch(new URL(address, ROOT), { method: "POST", headers, body: JSON.stringify(detail) });
      return ok;
    };
    const { status } = this.#ui;
    import("./feedback.js")
      .then(({ askForVote }) => askForVote({ row, status, element, button, post, say: this.#language.say }))
      .catch(() => row.remove());
    return row;
  }

  #showProblem(question, error, { search, find }) {
    const { say } = this.#language;
    const code = error instanceof Problem ? error.code : navigator.onLine ? "failed" : "offline";
    const key = PROBLEMS[code] ?? "failed";
    this.#run = null;
    const act = {
      retry: () => remedy.ariaDisabled !== "true" && this.#submit(),
      reload: () => {
        history.replaceState(history.state, "", sharedAddress(question));
        location.reload();
      },
    };
    const name = REMEDIES[key];
    const remedy = name && button(name, say(name), act[name]);
    const ways = this.#ways(question, { search, find }, "", ...(remedy ? [remedy] : []));
    this.#show("problem", ...ways);
    this.#ui.alert.textContent = say(key, { n: error.seconds }) + (!remedy && ways.length ? ` ${say("searchWorks")}` : "");
    if (key === "limited") this.#countDown(remedy, error.seconds);
    this.setAttribute("problem", code);
    this.#focus(this.#ui.question);
    this.#emit("answerable:problem", { code });
  }

  #countDown(retry, seconds) {
    const { say } = this.#language;
    retry.ariaDisabled = String(seconds > 0);
    retry.textContent = seconds > 0 ? say("retryIn", { n: seconds }) : say("retry");
    if (seconds <= 0) this.#ui.alert.textContent = "";
    else this.#timer = setTimeout(() => this.#countDown(retry, seconds - 1), 1000);
  }

  #emit(type, detail, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(type, { detail, cancelable, bubbles: true, composed: true }));
  }
}

if (!customElements.get("answerable-ask")) customElements.define("answerable-ask", AskBox);

// For browsers without text fragments.
if (!("fragmentDirective" in document)) {
  const show = async () => location.hash.includes(":~:text=") && (await import("./highlight.js")).highlight(location.href);
  window.addEventListener("hashchange", show);
  show();
}
