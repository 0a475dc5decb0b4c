/** Draw an answer: its verdict, one open passage or the sentences of a model, and rows that open in place. */

import { baseLanguage } from "../engine/languages.js";
import { button, element, icon } from "./draw.js";
import { markLine } from "./find.js";
import { colorCode, makeMarkdownDrawer } from "./markdown.js";
import { resolveAddress } from "./request.js";
import { getPageLanguage, nameLanguage } from "./strings.js";

/** @import { Answer, Place } from "./request.js" */

/**
 * @typedef {import("./request.js").Citation & { link: string | null, name: string }} Citation
 * @typedef {{ markdown: string, citations: Citation[] }} Claim
 * @typedef {HTMLElement & { citation?: Citation, line?: string }} CitingElement
 * @typedef {Record<string, any> & { mode: string, claims: Claim[], routes: { text: string, citations: Citation[] }[],
 *   citations: Citation[] }} NumberedAnswer
 * @typedef {{ id: string, title: string, link: string | null, line?: string, language?: string, markdown?: string,
 *   citation?: Citation }} Section
 */

/**
 * Number what an answer cites in the order of its first use; the citations of one section have one number.
 * @param {Answer} answer
 * @returns {NumberedAnswer}
 */
export function numberCitations(answer) {
  const sentences = [...answer.claims, ...answer.routes];
  const numbers = new Set(sentences.flatMap(({ citations }) => citations));
  /** @type {string[]} */
  const sections = [];
  /** @type {Map<number, any>} */
  const numbered = new Map();
  for (const number of numbers) {
    const citation = /** @type {import("./request.js").Citation} */ (answer.citations.find(({ n }) => n === number));
    const { kind, url, href, title, label } = citation;
    const section = JSON.stringify(kind === "hint" ? number : [url, title]);
    if (!sections.includes(section)) sections.push(section);
    const link = resolveAddress(href ?? url, answer.site_url);
    numbered.set(number, { ...citation, n: sections.indexOf(section) + 1, link, name: kind === "hint" ? label : title });
  }
  const cite = (/** @type {any} */ sentence) => {
    return { ...sentence, citations: sentence.citations.map((/** @type {number} */ n) => numbered.get(n)) };
  };
  return { ...answer, citations: [...numbered.values()], claims: answer.claims.map(cite), routes: answer.routes.map(cite) };
}

/**
 * List the first citation of each number.
 * @param {Citation[]} citations
 */
export function listSources(citations) {
  return citations.filter(({ n }, place) => citations.findIndex((other) => other.n === n) === place);
}

/**
 * Draw an answer, and nothing that it does not cite but places; its first element is its heading.
 * @param {NumberedAnswer} answer
 * @param {import("./strings.js").Language} language
 * @param {(text: string, frame: HTMLElement) => void} copy
 * @param {(id: string) => Promise<string>} readSection
 * @param {Place[]} places that are known; `addPlaces` lists those of an answer that come later
 */
export function drawAnswer(answer, { tag, say }, copy, readSection, places) {
  const drawMarkdown = makeMarkdownDrawer(say, answer.site_url, copy);
  const { claims, routes, citations, written } = answer;
  const isRefusal = answer.mode === "not-found";
  const isMeant = claims.length > 0 && !written && answer.confidence !== "low";
  // What would be answered without a stored answer stands below it.
  const excerpts = answer.excerpts ? numberCitations(answer.excerpts) : { claims: [], citations: [] };
  const cited = new Set([...citations, ...excerpts.citations].map(({ url }) => url));
  const listOthers = (/** @type {Place[]} */ found) => found.filter(({ url }) => !cited.has(url)).slice(0, 5);
  const others = listOthers(places);

  /** @param {Citation} citation */
  function drawTitle(citation) {
    const { link: href, quote: line } = citation;
    const node = element(href ? "a" : "span", { class: "title", dir: "auto", href }, citation.name);
    return Object.assign(node, { citation, line });
  }

  // By the rule of `name_grade` in `wire.py`.
  function nameVerdict() {
    const { confidence, question, stored } = answer;
    if (isRefusal) return others.length ? say("verdict.near", { n: others.length }) : say("verdict.nothing");
    if (!claims.length) return say("heading.related-material");
    if (!written) return say("grade.closest", { n: claims.length });
    const n = listSources(citations).filter(({ kind }) => kind === "record").length;
    return say(stored ? "grade.stored" : confidence === "high" ? "grade.whole" : "grade.part", { n, question });
  }

  function drawVerdict() {
    if (!isMeant) return element("h3", { tabindex: "-1" }, nameVerdict());
    // The title stands between them.
    const [before, after] = say("grade.in", { title: "\0" }).split("\0");
    return element("h3", { tabindex: "-1" }, before, drawTitle(claims[0].citations[0]), after);
  }

  function drawRemarks() {
    const notes = /** @type {Record<string, any>[]} */ (answer.notes ?? []);
    const texts = notes.map((note) => say(`note.${note.kind}`, note)).filter(Boolean);
    if (answer.fallback) texts.push(say("fallback"));
    if (isRefusal && answer.reason === "contract") texts.push(say("unverified"));
    if (isRefusal && !others.length) texts.push(say("tip"));
    return texts.length ? [element("p", { class: "tip remarks" }, texts.join(" "))] : [];
  }

  function drawLanguage() {
    const page = getPageLanguage();
    const tags = citations.filter(({ kind }) => kind === "record").map(({ language }) => language);
    const isKnown = page && tags.length > 0 && tags.every(Boolean);
    if (!isKnown || tags.some((language) => baseLanguage(language) === baseLanguage(page))) return [];
    const names = [...new Set(tags)].map((language) => nameLanguage(language, tag));
    return [element("p", { class: "meta" }, say("otherLanguage", { names: new Intl.ListFormat(tag).format(names) }))];
  }

  // Without a model, a claim is the passage of a section.
  const describeSection = (/** @type {Claim} */ { markdown, citations: [citation] }) => {
    const { id, title, link, quote: line, language } = citation;
    return { id, title, link, line, language, citation, markdown };
  };

  /**
   * Draw a passage, and a button for the whole section that it may be a window of.
   * @param {Section} section
   * @param {string} passage
   */
  function drawPassage({ id, title, link, line, language, markdown }, passage) {
    const words = element("div", { class: "words", lang: language || null, tabindex: "-1" });
    const fill = (/** @type {string} */ content) => {
      words.replaceChildren(...drawMarkdown(content));
      markLine(words, line);
      colorCode(words, link);
    };
    fill(passage);
    // A shorter passage is its whole section, and a place has none but that.
    if (!markdown || markdown.length < 600) return [words];
    const whole = button("whole", say("whole"), () => {
      whole.remove();
      words.focus();
      readSection(id).then(fill, () => {});
    });
    whole.ariaLabel = `${say("whole")}: ${title}`;
    return [words, whole];
  }

  /** @param {Section} section */
  function drawRow(section) {
    const { id, title, link: href, line = "", markdown, citation } = section;
    const lead = element("span", { class: "line", dir: "auto" }, line);
    const summary = element("summary", {}, element("span", { class: "title", dir: "auto" }, title), " ", lead);
    const details = /** @type {HTMLDetailsElement} */ (element("details", {}, summary));
    const attributes = { class: "go", href, "aria-label": say("go", { title }) };
    const go = href ? [Object.assign(element("a", attributes, icon("go")), { line, citation })] : [];
    details.addEventListener("toggle", async () => {
      if (!details.open || details.childElementCount > 1) return;
      try {
        details.append(...drawPassage(section, markdown ?? (await readSection(id))));
      } catch {
        // Its page has it.
        details.open = false;
        go[0]?.click();
      }
    });
    return element("li", { class: "entry" }, details, ...go);
  }

  /** @param {Section[]} sections */
  function drawRows(sections) {
    return sections.length ? [element("ul", { class: "entries", role: "list" }, ...sections.map(drawRow))] : [];
  }

  function drawPassages() {
    const title = isMeant ? [] : [element("h4", {}, drawTitle(claims[0].citations[0]))];
    const panel = element("div", { class: "card" }, ...title, ...drawPassage(describeSection(claims[0]), claims[0].markdown));
    const hints = citations.filter(({ kind }) => kind === "hint").map((hint) => drawSource(hint));
    return [panel, ...(hints.length ? [element("ul", { class: "sources", role: "list" }, ...hints)] : [])];
  }

  /** @param {Citation} citation */
  function drawChip(citation) {
    const { n, kind, quote, locator, language } = citation;
    const name = say("source", { n, title: citation.name });
    const chip = element("button", { class: "mark", type: "button", dir: "ltr", "aria-label": name }, `${n}`);
    const words = (kind === "record" ? quote : locator) ?? "";
    const content = element("span", { class: "quoted", dir: "auto", lang: language || null }, words);
    const node = element("span", { class: "source" }, chip, element("span", { class: "quote" }, content, " ", drawTitle(citation)));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || node.classList.contains("closed")) return;
      // It would close the dialog.
      event.preventDefault();
      event.stopPropagation();
      chip.focus();
      node.classList.add("closed");
    });
    for (const type of ["mouseenter", "focusin", "click"]) node.addEventListener(type, () => node.classList.remove("closed"));
    return node;
  }

  const drawSentence = (/** @type {(Node | string)[]} */ words, /** @type {Citation[]} */ sources) => {
    const chips = element("span", { class: "chips" }, ...listSources(sources).map(drawChip));
    return element("span", { class: "sentence", dir: "auto" }, ...words, chips);
  };

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
    for (const { markdown, citations: sources } of claims) {
      const blocks = drawMarkdown(markdown);
      if (blocks.length === 1 && blocks[0].matches("p:not(.label)")) {
        sentences.push(drawSentence([...blocks[0].childNodes], sources));
        continue;
      }
      flush();
      nodes.push(element("div", { class: "text" }, ...blocks, ...sources.map(drawChip)));
    }
    flush();
    sentences = routes.map(({ text, citations: sources }) => drawSentence([text], sources));
    flush();
    const sources = listSources(citations).map((source) => drawSource(source, true));
    return [...nodes, element("h4", { class: "meta" }, say("sources")), element("ol", { class: "sources", role: "list" }, ...sources)];
  }

  const drawSource = (/** @type {Citation} */ citation, isNumbered = false) => {
    const number = isNumbered ? [element("span", { class: "number" }, `${citation.n}`), " "] : [];
    const tag = citation.kind === "hint" ? [element("span", { class: "tag" }, say("relatedNote")), " "] : [];
    const place = citation.locator ? [" ", element("span", { class: "locator", dir: "auto" }, citation.locator)] : [];
    const date = citation.date ? [" ", element("span", { class: "meta" }, citation.date)] : [];
    return element("li", {}, ...number, ...tag, drawTitle(citation), ...place, ...date);
  };

  const more = element("div", { class: "places", role: "group", "aria-label": say("more"), hidden: "" });
  const addPlaces = (/** @type {Place[]} */ found) => {
    const rows = drawRows(listOthers(found));
    if (rows.length) more.append(element("h4", { class: "meta more" }, say("more")), ...rows);
    more.hidden = !rows.length;
  };
  if (!isRefusal) addPlaces(places);
  const drawBody = claims.length && !written ? drawPassages : drawWritten;
  const nodes = [
    drawVerdict(),
    ...drawRemarks(),
    ...drawLanguage(),
    ...(isRefusal ? drawRows(others) : drawBody()),
    ...(answer.dropped > 0 ? [element("p", { class: "meta" }, say("dropped", { n: answer.dropped }))] : []),
    ...drawRows([...(written ? [] : claims.slice(1)), ...excerpts.claims].map(describeSection)),
    ...(isRefusal ? [] : [more]),
  ];
  return { nodes, addPlaces };
}
