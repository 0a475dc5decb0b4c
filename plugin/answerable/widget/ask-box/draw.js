/** Draw an answer as elements: its sentences or excerpts, and the cards of what it cites. */

import { demand, isObject, isOptionalText, isText, resolveAddress, ROOT } from "./request.js";
import { baseOf, getPageLanguage, hasText, ignoreNumber, IN_ENGLISH, listContentWords, nameLanguage, WORD } from "./strings.js";

/**
 * @typedef {import("./request.js").Answer} Answer
 * @typedef {import("./request.js").Citation} WireCitation
 * @typedef {import("./strings.js").Language} Language
 * @typedef {import("./strings.js").Say} Say
 * @typedef {{ text: string, code?: boolean, href?: string }} Span
 * @typedef {Record<string, any> & { kind: string }} Block
 * @typedef {WireCitation & { link: string | null }} Citation
 * @typedef {{ text: string, blocks: Block[] | null, citations: Citation[] }} Sentence
 * @typedef {HTMLElement & { citation?: Citation }} CitingElement
 */

/**
 * An answer whose citations are numbered in the order of their first use.
 * @typedef {Omit<Answer, "claims" | "routes" | "citations"> &
 *   { claims: Sentence[], routes: Sentence[], citations: Citation[] }} NumberedAnswer
 */

/**
 * @typedef {Object} Context of one answer
 * @property {Set<string>} words those that are marked, as `ignoreNumber` gives them
 * @property {string} [siteUrl]
 * @property {(text: string, frame: HTMLElement) => void} copy
 * @property {(id: string) => Promise<any>} [readSection] the blocks of the whole section of a passage
 */

/** Paths of icons. */
export const ICONS = {
  ask: ["M4 4h16v13h-8l-5 4v-4H4z", "M10 9a2 2 0 1 1 3 2l-1 1M12 14v0"],
  close: ["M6 6l12 12M18 6L6 18"],
  copy: ["M9 9h11v11H9zM5 15H4V4h11v1"],
};
const MAX_PLACES = 5;
// Bidi embeddings and overrides.
const TURNING = /[\u202a-\u202e]/g;

/**
 * Drop the signs that turn the direction of what follows them.
 * @param {string} text
 */
export function dropTurning(text) {
  return text.replace(TURNING, "");
}

/**
 * Make an element; its classes are its parts.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] without those that are null
 * @param {(Node | string)[]} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null) node.setAttribute(name, dropTurning(String(value)));
    if (name === "class") node.part.value = value;
  }
  node.append(...children.map((child) => (typeof child === "string" ? dropTurning(child) : child)));
  return node;
}

/** @param {string[]} paths */
export function icon(paths) {
  const make = (/** @type {string} */ tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const svg = make("svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  for (const path of paths) svg.appendChild(make("path")).setAttribute("d", path);
  return svg;
}

/**
 * @param {string} name its class
 * @param {string} text
 * @param {() => unknown} act
 */
export function button(name, text, act) {
  const node = element("button", { class: `button ${name}`, type: "button" }, text);
  node.addEventListener("click", act);
  return node;
}

/**
 * Draw a link, or its text alone where there is no address.
 * @param {string | null | undefined} href
 * @param {Record<string, any>} attributes
 * @param {(Node | string)[]} text
 */
export function drawLink(href, attributes, ...text) {
  return href ? element("a", { ...attributes, href }, ...text) : element("span", attributes, ...text);
}

/**
 * Number what an answer cites, and drop blocks that cannot be drawn.
 * @param {Answer} answer
 * @returns {NumberedAnswer}
 */
export function numberCitations(answer) {
  const order = [...new Set([...answer.claims, ...answer.routes].flatMap((sentence) => sentence.citations))];
  const byNumber = new Map(answer.citations.map((citation) => [citation.n, citation]));
  const citations = order.map((n, index) => {
    const citation = /** @type {WireCitation} */ (byNumber.get(n));
    const link = resolveAddress(citation.href ?? citation.url ?? "", answer.site_url);
    return { ...citation, n: index + 1, link };
  });
  const renumber = (/** @type {import("./request.js").Claim} */ sentence) => ({
    text: sentence.text,
    blocks: canDraw(sentence.blocks) ? sentence.blocks : null,
    citations: sentence.citations.map((n) => citations[order.indexOf(n)]),
  });
  return { ...answer, citations, claims: answer.claims.map(renumber), routes: answer.routes.map(renumber) };
}

/** @param {any} blocks */
function canDraw(blocks) {
  try {
    return blocks?.length && makeBlockDrawer(IN_ENGLISH.say, { words: new Set(), copy: () => {} })(blocks);
  } catch {
    return false;
  }
}

/** @param {Citation} citation */
export function nameOf(citation) {
  return /** @type {string} */ (citation.kind === "hint" ? citation.label : citation.title);
}

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @returns {T[][]} in the order of their first items
 */
function groupBy(items, keyOf) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()];
}

/** @param {Citation} citation */
function identifySection({ kind, n, url, title }) {
  return JSON.stringify(kind === "hint" ? `${n}` : [url, title]);
}

/**
 * Count the sections and notes that an answer cites.
 * @param {NumberedAnswer} answer
 */
export function countSections({ citations }) {
  return groupBy(citations, identifySection).length;
}

/**
 * Group the claims by section, if each is an excerpt of one; none of a written answer, whose claims stay in their order.
 * @param {Pick<NumberedAnswer, "claims" | "written">} answer
 * @returns {Sentence[][]}
 */
export function groupExcerpts({ claims, written }) {
  const isExcerpt = (/** @type {Sentence} */ { blocks, citations }) =>
    blocks && groupBy(citations, identifySection).length === 1;
  return !written && claims.every(isExcerpt) ? groupBy(claims, ({ citations }) => identifySection(citations[0])) : [];
}

/**
 * Return the verified blocks of a claim that is more than text.
 * @param {Sentence} claim
 */
export function getStructure({ blocks }) {
  return blocks?.some(({ kind }) => kind !== "text") ? blocks : null;
}

/**
 * Split a sentence; code is what the contract has checked as code, by the same pattern.
 * @param {string} text
 * @returns {Span[]}
 */
export function splitCode(text) {
  return text.split(/\x60([^\x60\n]+)\x60/).map((piece, index) => ({ text: piece, code: index % 2 > 0 }));
}

/** @param {Answer | NumberedAnswer} answer */
function listRemarks({ notes }) {
  return (Array.isArray(notes) ? notes : []).filter(isObject);
}

/**
 * List the words of a question that are marked in its answer, as `ignoreNumber` gives them.
 * @param {string} question
 * @param {Answer} answer
 * @param {Say} say
 */
export function listMarkedWords(question, answer, say) {
  const spellings = listRemarks(answer).map(({ to }) => to).filter(isText);
  const words = listContentWords([question, ...spellings].join(" "), say).join(" ").match(WORD) ?? [];
  return new Set(words.filter((word) => word.length > 1).map(ignoreNumber));
}

/**
 * Make a function that draws blocks; it throws for those of another form.
 * @param {Say} say
 * @param {Context} context
 * @returns {(blocks: Block[]) => HTMLElement[]}
 */
function makeBlockDrawer(say, { words, siteUrl, copy }) {
  /** @param {string} text */
  function drawWords(text) {
    /** @type {(Node | string)[]} */
    const pieces = [];
    let end = 0;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      if (!words.has(ignoreNumber(word))) continue;
      pieces.push(text.slice(end, index), element("mark", {}, word));
      end = index + word.length;
    }
    return [...pieces, text.slice(end)];
  }

  /** @param {Span} span */
  function drawSpan({ text, code, href }) {
    const pieces = code ? [element("code", {}, ...drawWords(text))] : drawWords(text);
    const link = resolveAddress(href, siteUrl);
    return link ? [element("a", { href: link }, ...pieces)] : pieces;
  }

  const drawSpans = (/** @type {Span[]} */ spans) => spans.flatMap(drawSpan);

  /** @param {string} text */
  function drawCode(text) {
    const block = element("pre", { tabindex: "0", dir: "ltr" }, element("code", {}, text));
    const copyButton = element("button", { type: "button", "aria-label": say("copyCode") }, icon(ICONS.copy));
    const frame = element("div", { class: "code" }, block, copyButton);
    copyButton.addEventListener("click", () => copy(text, frame));
    return frame;
  }

  /** @param {{ level: number, number: any, spans: Span[] }[]} items */
  function drawList(items) {
    const root = element("div", { class: "list" });
    /** @type {HTMLElement[]} */
    const lists = [];
    for (const { level, number, spans } of items) {
      demand(!(level < 0));
      const depth = Math.min(level | 0, lists.length, 8);
      const isNumbered = /^\d{1,9}$/.test(number);
      lists.length = Math.min(lists.length, depth + 1);
      if (lists[depth]?.localName !== (isNumbered ? "ol" : "ul")) {
        lists[depth] = element(isNumbered ? "ol" : "ul");
        (lists[depth - 1]?.lastElementChild ?? root).append(lists[depth]);
      }
      lists[depth].append(element("li", { dir: "auto", value: isNumbered ? number : null }, ...drawSpans(spans)));
    }
    return root;
  }

  /**
   * @param {Span[][]} cells
   * @param {string} tag
   * @param {string | null} [scope]
   */
  function drawRow(cells, tag, scope = null) {
    return element("tr", {}, ...cells.map((spans) => element(tag, { dir: "auto", scope }, ...drawSpans(spans))));
  }

  /** @param {Block} block */
  function drawTable({ columns, rows }) {
    const head = columns.length ? [element("thead", {}, drawRow(columns, "th", "col"))] : [];
    const body = element("tbody", {}, ...rows.map((/** @type {Span[][]} */ cells) => drawRow(cells, "td")));
    return element("div", { class: "table", tabindex: "0" }, element("table", {}, ...head, body));
  }

  /** @type {Record<string, (block: Block) => HTMLElement>} */
  const drawers = {
    text: ({ spans }) => element("p", { dir: "auto" }, ...drawSpans(spans)),
    label: ({ spans }) => element("p", { class: "label", dir: "auto" }, ...drawSpans(spans)),
    code: ({ text }) => drawCode(text.slice()),
    list: ({ items }) => drawList(items),
    table: drawTable,
    gap: () => element("p", {}, "…"),
  };
  return (blocks) =>
    blocks.map((block) => {
      demand(Object.hasOwn(drawers, block.kind));
      return drawers[block.kind](block);
    });
}

/** @param {{ link: string | null, date?: string | null }} source */
function drawPage({ link, date }) {
  const { pathname, host, origin } = new URL(link ?? ROOT);
  const page = (origin === ROOT.origin ? "" : host) + decode(pathname);
  return element("span", { class: "page", dir: "ltr" }, [link && page, date].filter(Boolean).join(" · "));
}

/**
 * Draw where to look further: links to sections, and nothing of what they say.
 * @param {import("./request.js").Place[]} places
 * @param {(count: number) => [tag: string, text: string]} nameList its heading
 * @returns {HTMLElement[]} none without a place
 */
export function drawPlaces(places, nameList) {
  const items = places.slice(0, MAX_PLACES).map(({ title, link }) => {
    return element("li", {}, drawLink(link, { dir: "auto" }, title), " ", drawPage({ link }));
  });
  const [tag, text] = nameList(items.length);
  return items.length ? [element(tag, { class: "meta" }, text), element("ul", { role: "list" }, ...items)] : [];
}

/**
 * Draw a remark on an answer.
 * @param {string} text
 */
export function drawNote(text) {
  return element("p", { class: "meta" }, text);
}

/**
 * List the sentences, items, rows and lines of a block.
 * @param {Block} block
 * @returns {string[]}
 */
function listLines({ spans = [], items = [], rows = [], text = "" }) {
  const join = (/** @type {Span[]} */ pieces) => pieces.map((piece) => piece.text).join("");
  const listed = [
    ...join(spans).split(/(?<=[.!?…])\s+/),
    ...items.map((/** @type {{ spans: Span[] }} */ item) => join(item.spans)),
    ...rows.map((/** @type {Span[][]} */ cells) => cells.map(join).join(" · ")),
    ...text.split("\n"),
  ];
  return listed.filter(isText);
}

/**
 * Find the line that has most of some words; the first of several.
 * @param {string[]} lines
 * @param {Set<string>} words as `ignoreNumber` gives them
 */
function findBestLine(lines, words) {
  const count = (/** @type {string} */ line) => {
    return new Set((line.match(WORD) ?? []).map(ignoreNumber).filter((word) => words.has(word))).size;
  };
  return lines.reduce((best, line) => (count(line) > count(best) ? line : best));
}

/**
 * Draw an answer, and nothing that it does not cite; its first element is its heading.
 * @param {NumberedAnswer} answer
 * @param {Language} language
 * @param {Context} context
 * @returns {HTMLElement[]}
 */
export function drawAnswer(answer, { tag, say }, context) {
  const drawBlocks = makeBlockDrawer(say, context);
  const { claims, routes, citations } = answer;

  /** @param {Citation} citation */
  function drawMarker(citation) {
    const name = say("source", { n: citation.n, title: nameOf(citation) });
    const label = citation.link && { "aria-label": name };
    return cite(citation, drawLink(citation.link, { class: "mark", dir: "ltr", ...label }, `[${citation.n}]`));
  }

  /**
   * @param {Citation} citation
   * @param {CitingElement} node
   */
  function cite(citation, node) {
    node.citation = citation;
    return node;
  }

  /** @param {Sentence} claim */
  function drawSentence(claim) {
    const blocks = getStructure(claim);
    const pieces = splitCode(claim.text).map(({ text, code }) => (code ? element("code", {}, text) : text));
    const content = blocks ? drawBlocks(blocks) : pieces;
    const markers = claim.citations.map(drawMarker);
    return element(blocks ? "div" : "p", { class: "sentence", dir: "auto" }, ...content, ...markers);
  }

  /** @param {Citation} citation */
  function drawQuote(citation) {
    const { quote, language } = citation;
    const summary = element("summary", { "aria-label": say("quoteFrom", { title: nameOf(citation) }) }, say("quote"));
    const content = element("blockquote", { dir: "auto", lang: language || null }, quote);
    const isShort = quote.length <= 240 && !quote.includes("\n");
    return element("details", { open: isShort ? "" : null }, summary, content);
  }

  /** @param {Citation} citation */
  function drawTitle(citation) {
    return cite(citation, drawLink(citation.link, { class: "title", dir: "auto" }, nameOf(citation)));
  }

  /** @param {Citation[]} section */
  function drawCard(section) {
    const [citation] = section;
    const number = element("span", { class: "number" }, section.map(({ n }) => `[${n}]`).join(" "));
    if (citation.kind === "hint") return drawHint(citation, number);
    const quotes = section.filter(({ quote }) => isText(quote)).map(drawQuote);
    return element("li", { class: "card" }, number, " ", drawTitle(citation), " ", drawPage(citation), ...quotes);
  }

  /**
   * @param {Citation} citation
   * @param {HTMLElement[]} number
   */
  function drawHint(citation, ...number) {
    const label = element("span", { class: "tag" }, say("relatedNote"));
    const place = citation.locator ? [" ", element("span", { class: "locator", dir: "auto" }, citation.locator)] : [];
    return element("li", { class: "card hint" }, ...number, " ", label, " ", drawTitle(citation), ...place);
  }

  /**
   * Draw the card of a section: the first is open, the others are folded to their best line.
   * @param {Sentence[]} section
   * @param {number} place
   */
  function drawExcerpt(section, place) {
    const [citation] = section[0].citations;
    const blocks = section.flatMap((claim) => claim.blocks ?? []);
    const title = drawTitle(citation);
    const content = element("div", { class: "words", lang: citation.language || null, tabindex: "-1" }, ...drawBlocks(blocks));
    const whole = button("whole", say("whole"), async () => {
      try {
        const drawn = drawBlocks(await context.readSection?.(citation.id));
        content.replaceChildren(...drawn);
        whole.remove();
        content.focus();
      } catch {
        // Its page has it.
        title.click();
      }
    });
    whole.ariaLabel = `${say("whole")}: ${nameOf(citation)}`;
    const parts = [content, whole];
    const lines = blocks.flatMap(listLines);
    if (place > 0 && lines.length > 1) {
      const [line] = drawBlocks([{ kind: "text", spans: [{ text: findBestLine(lines, context.words) }] }]);
      const less = element("span", { class: "less" }, say("less"));
      parts.splice(0, 2, element("details", {}, element("summary", {}, line, less), content, whole));
    }
    return element("li", { class: "card excerpt" }, element("h4", {}, title), " ", drawPage(citation), ...parts);
  }

  const drawCards = (/** @type {HTMLElement[]} */ ...cards) => element("ul", { class: "cards", role: "list" }, ...cards);

  function drawLanguage() {
    const page = getPageLanguage();
    const tags = citations.filter(({ kind }) => kind === "record").map(({ language }) => language);
    const isKnown = page && tags.length > 0 && tags.every(isText);
    if (!isKnown || tags.some((language) => baseOf(language) === baseOf(page))) return [];
    const names = [...new Set(tags)].map((language) => nameLanguage(language, tag));
    return [drawNote(say("otherLanguage", { names: new Intl.ListFormat(tag).format(names) }))];
  }

  function drawRemarks() {
    const remarks = listRemarks(answer).filter(
      ({ kind, to, word }) => isText(kind) && hasText(`note.${kind}`) && [to, word].every(isOptionalText),
    );
    const text = remarks.map(({ kind, to, word }) => say(`note.${kind}`, { to, word })).join(" ");
    return text ? [element("p", { class: "tip remarks" }, text)] : [];
  }

  // What a reader has to know of the answer before reading it.
  function drawCaveats() {
    const isInPart = answer.written && !answer.complete;
    const caveats = [...(isInPart ? ["inPart"] : []), ...(answer.fallback ? ["fallback"] : [])];
    return caveats.map((name) => drawNote(say(name)));
  }

  const excerpts = groupExcerpts(answer);

  function drawBody() {
    const dropped = Number(answer.dropped) > 0 ? [drawNote(say("dropped", { n: Number(answer.dropped) }))] : [];
    if (answer.mode === "not-found") {
      const tip = say(answer.reason === "contract" ? "unverified" : "tip");
      return [...drawRemarks(), element("p", { class: "tip" }, tip), ...dropped];
    }
    if (excerpts.length) {
      const hints = citations.filter(({ kind }) => kind === "hint").map((hint) => drawHint(hint));
      return [...drawRemarks(), ...drawLanguage(), drawCards(...excerpts.map(drawExcerpt), ...hints), ...dropped];
    }
    const sentences = [...claims, ...routes].map(drawSentence);
    const label = claims.length ? [element("h4", { class: "meta" }, say("sources"))] : [];
    const cards = drawCards(...groupBy(citations, identifySection).map(drawCard));
    return [...drawRemarks(), ...sentences, ...dropped, ...drawLanguage(), ...label, cards];
  }

  const heading = say(nameGrade(answer), { question: answer.question });
  return [element("h3", { tabindex: "-1" }, heading), ...drawCaveats(), ...drawBody()];
}

/**
 * Name the text that says how sure an answer is, by the rule of `name_grade` in `wire.py`.
 * @param {NumberedAnswer} answer
 */
function nameGrade({ claims, confidence, mode, stored, written }) {
  if (stored) return "answerTo";
  if (!claims.length) return `heading.${mode}`;
  if (written) return confidence === "high" ? "grade.whole" : "grade.part";
  return confidence === "low" ? "grade.closest" : "grade.excerpts";
}

/**
 * Decode what is percent-encoded; a text that is not stays as it is.
 * @param {string} text
 */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
