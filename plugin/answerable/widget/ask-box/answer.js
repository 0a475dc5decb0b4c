/** Draw an answer: its verdict, one open passage or the sentences of a model, and rows that open in place. */

import { baseLanguage } from "../engine/languages.js";
import { parseMarkdown } from "../engine/markdown.js";
import { button, colorCode, drawLink, drawNote, element, icon, ICONS } from "./draw.js";
import { markLine } from "./find.js";
import { makeMarkdownDrawer } from "./markdown.js";
import { isObject, isOptionalText, isText, resolveAddress } from "./request.js";
import { getPageLanguage, hasText, nameLanguage } from "./strings.js";

/** @import { Answer, Place } from "./request.js" */
/** @import { Language } from "./strings.js" */

/**
 * @typedef {import("./request.js").Citation} WireCitation
 * @typedef {WireCitation & { link: string | null }} Citation
 * @typedef {{ markdown: string, citations: Citation[] }} Claim
 * @typedef {{ text: string, citations: Citation[] }} Route
 * @typedef {HTMLElement & { citation?: Citation, line?: string }} CitingElement
 * @typedef {{ id: string, title: string, link: string | null, line?: string, language?: string, markdown?: string,
 *   citation?: Citation }} Section
 */

/**
 * An answer whose citations are numbered in the order of their first use; those of one section have one number.
 * @typedef {Omit<Answer, "claims" | "routes" | "citations"> &
 *   { claims: Claim[], routes: Route[], citations: Citation[] }} NumberedAnswer
 */

/** @typedef {import("./markdown.js").Context & { readSection: (id: string) => Promise<string> }} Context */

const MAX_PLACES = 5;
// A shorter passage is its whole section.
const MIN_WINDOW_LETTERS = 600;

/**
 * Number what an answer cites.
 * @param {Answer} answer
 */
export function numberCitations(answer) {
  const order = [...new Set([...answer.claims, ...answer.routes].flatMap((sentence) => sentence.citations))];
  const byNumber = new Map(answer.citations.map((citation) => [citation.n, citation]));
  /** @type {string[]} */
  const sections = [];
  const citations = order.map((number) => {
    const citation = /** @type {WireCitation} */ (byNumber.get(number));
    const { kind, n, url, title } = citation;
    const section = JSON.stringify(kind === "hint" ? n : [url, title]);
    if (!sections.includes(section)) sections.push(section);
    const link = resolveAddress(citation.href ?? url ?? "", answer.site_url);
    return { ...citation, n: sections.indexOf(section) + 1, link };
  });
  const cite = (/** @type {number[]} */ numbers) => numbers.map((n) => citations[order.indexOf(n)]);
  const claims = answer.claims.map((claim) => ({ ...claim, citations: cite(claim.citations) }));
  const routes = answer.routes.map((route) => ({ ...route, citations: cite(route.citations) }));
  return { ...answer, citations, claims, routes };
}

/** @param {Citation} citation */
export function nameOf(citation) {
  return /** @type {string} */ (citation.kind === "hint" ? citation.label : citation.title);
}

/**
 * List the first citation of each number.
 * @param {NumberedAnswer} answer
 */
export function listSources({ citations }) {
  return citations.filter(({ n }, place) => citations.findIndex((other) => other.n === n) === place);
}

/**
 * Return the section that a claim of an answer without a model quotes.
 * @param {Claim} claim
 */
function describeSection({ markdown, citations: [citation] }) {
  const { id, title, link, quote, language } = citation;
  return { id, title, link, line: quote, language, citation, markdown };
}

/**
 * Draw an answer, and nothing that it does not cite but places, which may come later; its first element is its heading.
 * @param {NumberedAnswer} answer
 * @param {Language} language
 * @param {Context} context
 * @param {Place[]} [places] of a refusal
 */
export function drawAnswer(answer, { tag, say }, context, places = []) {
  const { drawMarkdown, drawWords } = makeMarkdownDrawer(say, context);
  const { claims, routes, citations, written } = answer;
  const isRefusal = answer.mode === "not-found";
  const others = listOthers(places);
  const isMeant = claims.length > 0 && !written && answer.confidence !== "low";

  /** @param {Citation} citation */
  function drawTitle(citation) {
    const node = drawLink(citation.link, { class: "title", dir: "auto" }, nameOf(citation));
    return Object.assign(node, { citation, line: citation.quote });
  }

  function drawVerdict() {
    if (!isMeant) return element("h3", { tabindex: "-1" }, nameVerdict(answer, others.length, say));
    // The title stands between them.
    const [before, after] = say("grade.in", { title: "\0" }).split("\0");
    return element("h3", { tabindex: "-1" }, before, drawTitle(claims[0].citations[0]), after);
  }

  /**
   * Draw a passage, and a button for the whole section that it may be a window of.
   * @param {Section} section
   * @param {boolean} isWhole
   */
  function drawPassage({ id, title, link, line, language, markdown = "" }, isWhole = false) {
    const words = element("div", { class: "words", lang: language || null, tabindex: "-1" });
    const fill = (/** @type {string} */ content) => {
      words.replaceChildren(...drawMarkdown(content));
      markLine(words, line);
      colorCode(words, link);
    };
    fill(markdown);
    if (isWhole || markdown.length < MIN_WINDOW_LETTERS) return [words];
    const whole = button("whole", say("whole"), async () => {
      whole.remove();
      words.focus();
      await context.readSection(id).then(fill).catch(() => {});
    });
    whole.ariaLabel = `${say("whole")}: ${title}`;
    return [words, whole];
  }

  /** @param {Section} section */
  function drawRow(section) {
    const { id, title, link, line = "", markdown, citation } = section;
    const lead = element("span", { class: "line", dir: "auto" }, line);
    const summary = element("summary", {}, element("span", { class: "title", dir: "auto" }, title), " ", lead);
    const details = /** @type {HTMLDetailsElement} */ (element("details", {}, summary));
    const attributes = { class: "go", href: link, "aria-label": say("go", { title }) };
    const go = link ? [Object.assign(element("a", attributes, icon(ICONS.go)), { line, citation })] : [];
    details.addEventListener("toggle", async () => {
      if (!details.open || details.childElementCount > 1) return;
      try {
        const content = markdown ?? (await context.readSection(id));
        details.append(...drawPassage({ ...section, markdown: content }, !markdown));
      } catch {
        // Its page has it.
        details.open = false;
        go[0]?.click();
      }
    });
    return element("li", { class: "entry" }, details, ...go);
  }

  const drawRows = (/** @type {Section[]} */ sections) => {
    return sections.length ? [element("ul", { class: "entries", role: "list" }, ...sections.map(drawRow))] : [];
  };

  function drawPassages() {
    const title = isMeant ? [] : [element("h4", {}, drawTitle(claims[0].citations[0]))];
    const panel = element("div", { class: "card" }, ...title, ...drawPassage(describeSection(claims[0])));
    const hints = citations.filter(({ kind }) => kind === "hint").map((hint) => drawSource(hint));
    return [panel, ...(hints.length ? [element("ul", { class: "sources", role: "list" }, ...hints)] : [])];
  }

  /** @param {Citation} citation */
  function drawChip(citation) {
    const { n, kind, quote, locator, language } = citation;
    const name = say("source", { n, title: nameOf(citation) });
    const chip = element("button", { class: "mark", type: "button", dir: "ltr", "aria-label": name }, `${n}`);
    const words = (kind === "record" ? quote : locator) ?? "";
    const content = element("span", { class: "quoted", dir: "auto", lang: language || null }, words);
    const popover = element("span", { class: "quote" }, content, " ", drawTitle(citation));
    const node = element("span", { class: "source" }, chip, popover);
    const hide = (/** @type {boolean} */ isHidden) => node.classList.toggle("closed", isHidden);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || node.classList.contains("closed")) return;
      // It would close the dialog.
      event.preventDefault();
      event.stopPropagation();
      chip.focus();
      hide(true);
    });
    for (const type of ["mouseenter", "focusin", "click"]) node.addEventListener(type, () => hide(false));
    return node;
  }

  /**
   * @param {(Node | string)[]} words
   * @param {Citation[]} sources
   */
  function drawSentence(words, sources) {
    const chips = sources.filter(({ n }, place) => sources.findIndex((other) => other.n === n) === place);
    return element("span", { class: "sentence", dir: "auto" }, ...words, ...chips.map(drawChip));
  }

  // Sentences that follow one another are a paragraph, and many of them a list.
  function drawWritten() {
    /** @type {HTMLElement[]} */
    const nodes = [];
    /** @type {HTMLElement[]} */
    let sentences = [];
    const flush = () => {
      const items = sentences.map((sentence) => element("li", {}, sentence));
      if (sentences.length > 3) nodes.push(element("ul", { class: "text" }, ...items));
      else if (sentences.length) nodes.push(element("p", { class: "text" }, ...sentences.flatMap((node) => [node, " "])));
      sentences = [];
    };
    for (const { markdown, citations: cited } of claims) {
      const [block, ...others] = parseMarkdown(markdown);
      if (block?.kind === "text" && !others.length) {
        sentences.push(drawSentence(drawWords(block), cited));
        continue;
      }
      flush();
      nodes.push(element("div", { class: "text" }, ...drawMarkdown(markdown), ...cited.map(drawChip)));
    }
    flush();
    sentences = routes.map(({ text, citations: cited }) => drawSentence([text], cited));
    flush();
    const sources = element("ol", { class: "sources", role: "list" }, ...listSources(answer).map((source) => drawSource(source, true)));
    return [...nodes, element("h4", { class: "meta" }, say("sources")), sources];
  }

  /**
   * @param {Citation} citation
   * @param {boolean} [isNumbered]
   */
  function drawSource(citation, isNumbered = false) {
    const number = isNumbered ? [element("span", { class: "number" }, `${citation.n}`), " "] : [];
    const tag = citation.kind === "hint" ? [element("span", { class: "tag" }, say("relatedNote")), " "] : [];
    const place = citation.locator ? [" ", element("span", { class: "locator", dir: "auto" }, citation.locator)] : [];
    const date = citation.date ? [" ", element("span", { class: "meta" }, citation.date)] : [];
    return element("li", {}, ...number, ...tag, drawTitle(citation), ...place, ...date);
  }

  function drawLanguage() {
    const page = getPageLanguage();
    const tags = citations.filter(({ kind }) => kind === "record").map(({ language }) => language);
    const isKnown = page && tags.length > 0 && tags.every(Boolean);
    if (!isKnown || tags.some((language) => baseLanguage(language) === baseLanguage(page))) return [];
    const names = [...new Set(tags)].map((language) => nameLanguage(language, tag));
    return [drawNote(say("otherLanguage", { names: new Intl.ListFormat(tag).format(names) }))];
  }

  function drawRemarks() {
    const remarks = (Array.isArray(answer.notes) ? answer.notes : []).filter(
      (note) => isObject(note) && isText(note.kind) && hasText(`note.${note.kind}`) && [note.to, note.word].every(isOptionalText),
    );
    const texts = remarks.map(({ kind, to, word }) => say(`note.${kind}`, { to, word }));
    if (answer.fallback) texts.push(say("fallback"));
    if (isRefusal && answer.reason === "contract") texts.push(say("unverified"));
    if (isRefusal && !others.length) texts.push(say("tip"));
    return texts.length ? [element("p", { class: "tip remarks" }, texts.join(" "))] : [];
  }

  // What would be answered without a stored answer stands below it.
  const after = answer.excerpts ? numberCitations(answer.excerpts) : null;

  /** @param {Place[]} found */
  function listOthers(found) {
    const shown = new Set([...citations, ...(answer.excerpts?.citations ?? [])].map(({ url }) => url));
    return found.filter(({ url }) => !shown.has(url)).slice(0, MAX_PLACES);
  }

  /** @param {Place[]} found */
  function drawPlaces(found) {
    const rows = drawRows(listOthers(found));
    return rows.length ? [element("h4", { class: "meta more" }, say("more")), ...rows] : [];
  }

  const drawBody = claims.length && !written ? drawPassages : drawWritten;
  const passages = [...(written ? [] : claims.slice(1)), ...(after?.claims ?? [])].map(describeSection);
  const nodes = [
    drawVerdict(),
    ...drawRemarks(),
    ...drawLanguage(),
    ...(isRefusal ? drawRows(others) : drawBody()),
    ...(answer.dropped > 0 ? [drawNote(say("dropped", { n: answer.dropped }))] : []),
    ...drawRows(passages),
  ];
  return { nodes, drawPlaces };
}

/**
 * Say how sure an answer is, by the rule of `name_grade` in `wire.py`.
 * @param {NumberedAnswer} answer
 * @param {number} count of places
 * @param {import("./strings.js").Say} say
 */
function nameVerdict(answer, count, say) {
  const { claims, complete, question, stored, written } = answer;
  if (answer.mode === "not-found") return count ? say("verdict.near", { n: count }) : say("verdict.nothing");
  if (!claims.length) return say("heading.related-material");
  if (!written) return say("grade.closest", { n: claims.length });
  const n = listSources(answer).filter(({ kind }) => kind === "record").length;
  return say(stored ? "grade.stored" : complete ? "grade.whole" : "grade.part", { n, question });
}
