/** Replies as they travel: claims with their blocks, citations and notes. */
import { codePointOffset, countCodePoints } from "./code_points.js";
import { citationKey, computeMode, listCitations } from "./contract.js";
import { sanitizeText } from "./sanitization.js";
import { stripSpace, stripSpaceAtEnd } from "./white_space.js";

/**
 * @typedef {import("./passage_shards.js").Block} Block
 * @typedef {import("./store.js").Passage} Passage
 * @typedef {import("./recipe.js").Recipe} Recipe
 * @typedef {import("./contract.js").RecordCitation} RecordCitation
 * @typedef {import("./engine.js").Reply} Reply
 * @typedef {import("./store.js").Store} Store
 */

/**
 * @typedef {[start: number, end: number]} TextRange
 * @typedef {import("./contract.js").Quotation} Quotation
 */

/**
 * Serialize the whole section of a passage, without the words that its windows repeat; null if nothing has that id.
 * @param {Store} store
 * @param {string} id
 */
export async function serializeSection(store, id) {
  const { passageIds, passageTitles, passageUrls, recipe } = store;
  const row = passageIds.indexOf(id);
  if (row < 0) return null;
  const rows = [...passageUrls.keys()].filter((other) => passageUrls[other] === passageUrls[row]);
  const windows = [...(await store.loadPassages(rows)).values()];
  const parts = windows.map((passage, place) => {
    return { passage, start: place && findNewWords(recipe, windows[place - 1].text, passage), end: passage.text.length };
  });
  return { url: passageUrls[row], title: passageTitles[row], blocks: buildBlocks(recipe, parts, true) };
}

/**
 * Find where a window goes on after the words, and the column names, that it repeats of the one before it.
 * @param {Recipe} recipe
 * @param {string} before
 * @param {Passage} window
 */
function findNewWords({ wire }, before, { blocks, sentences, text }) {
  const [header, first] = blocks;
  const isRepeated = first && header.start === 0 && header.detail === "header" && before.split("\n").includes(text.slice(0, header.end));
  const begin = isRepeated ? first.start : 0;
  const lines = Array.from(text.matchAll(/\n/g), ({ index }) => index + 1);
  const ends = new Set([...sentences.map(([start]) => start), ...blocks.map(({ start }) => start), ...lines, text.length]);
  for (const end of [...ends].sort((one, other) => other - one)) {
    const overlap = stripSpaceAtEnd(text.slice(begin, end));
    const isWhole = !stripSpace(before.slice(0, before.length - overlap.length).slice(-1));
    if (countCodePoints(overlap) >= wire.MIN_OVERLAP && before.endsWith(overlap) && isWhole) return begin + overlap.length;
  }
  return begin;
}

/**
 * @param {Recipe} recipe
 * @param {Quotation[]} parts
 * @param {boolean} isSection nothing between the parts is left out
 * @returns {any[]}
 */
function buildBlocks(recipe, parts, isSection) {
  /** @type {any[]} */
  const blocks = [];
  /** @type {Block | null} */
  let previous = null;
  /** @type {Quotation | null} */
  let before = null;
  for (const part of parts) {
    const { passage } = part;
    let isApart = !isSection && before !== null && leavesGap(recipe, before, part);
    if (before?.passage !== passage && !isSection) previous = null;
    for (const block of passage.blocks) {
      const start = Math.max(part.start, block.start);
      const range = trimBlockRange(passage.text, start, Math.min(part.end, block.end));
      if (!range) continue;
      let isSame = previous !== null && block.kind === previous.kind && block.group === previous.group && block.group > 0;
      if (isApart && blocks.length && !(isSame && block.kind === "row")) {
        blocks.push({ kind: "gap" });
        isSame = false;
      }
      isApart = false;
      appendBlock(recipe, blocks, passage, block, range, isSame);
      const [first, second] = blocks.slice(-2);
      // A window has cut it in two.
      if (isSection && block.start < part.start && first.kind === "code" && second?.kind === "code") {
        first.text += `\n${second.text}`;
        blocks.pop();
      }
      previous = block;
    }
    before = part;
  }
  if (!isSection && before && cutsCode(before)) blocks.push({ kind: "gap" });
  blocks.forEach(indentFromZero);
  return blocks;
}

/**
 * Test whether a part ends before the code does that it ends in.
 * @param {Quotation} part
 */
function cutsCode({ passage: { blocks, text }, end }) {
  return blocks.some((block) => block.kind === "code" && block.start < end && stripSpace(text.slice(end, block.end)) !== "");
}

/**
 * Test whether something is left out between two parts that a reader may miss.
 * @param {Recipe} recipe
 * @param {Quotation} before
 * @param {Quotation} after
 */
function leavesGap(recipe, before, after) {
  const { passage } = before;
  if (passage !== after.passage) return true;
  let start = before.end;
  for (const block of passage.blocks) {
    const isBetween = before.end <= block.start && block.start < after.start;
    if (!isBetween || !recipe.wire.UNQUOTED.includes(block.detail)) continue;
    if (stripSpace(passage.text.slice(start, block.start))) return true;
    start = block.end;
  }
  return stripSpace(passage.text.slice(start, after.start)) !== "";
}

/**
 * Trim white space off a range; null if nothing is left.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {TextRange | null}
 */
function trimBlockRange(text, start, end) {
  const words = text.slice(start, end);
  if (!stripSpace(words)) return null;
  // Code begins with the spaces that indent it.
  return [start + words.search(/[^\n]/), start + stripSpaceAtEnd(words).length];
}

/**
 * Append a block, or add it to the last list or table if it is of the same.
 * Code of which a line is cut is text: nobody may take it for a whole command.
 * @param {Recipe} recipe
 * @param {any[]} blocks
 * @param {Passage} passage
 * @param {Block} block
 * @param {TextRange} range
 * @param {boolean} isSame
 */
function appendBlock(recipe, blocks, passage, block, range, isSame) {
  const { kind, detail, level } = block;
  const spans = () => buildSpans(recipe, passage, ...range);
  const before = passage.text.slice(block.start, range[0]);
  const [after] = passage.text.slice(range[1], block.end).split("\n", 1);
  const cutOff = before.slice(before.lastIndexOf("\n") + 1) + after;
  if (kind === "code" && !stripSpace(cutOff)) {
    blocks.push({ kind, language: detail, text: sanitizeText(recipe, passage.text.slice(...range)) });
  } else if (kind === "item") {
    if (!isSame) blocks.push({ kind: "list", items: [] });
    blocks[blocks.length - 1].items.push({ level, number: detail, spans: spans() });
  } else if (kind === "row") {
    if (!isSame) blocks.push({ kind: "table", columns: [], rows: [] });
    const table = blocks[blocks.length - 1];
    const cells = buildCells(recipe, passage, block, range);
    if (detail === "header") table.columns = cells;
    else table.rows.push(cells);
  } else if (kind === "label") {
    blocks.push({ kind, label: detail, spans: spans() });
  } else {
    blocks.push({ kind: "text", spans: spans() });
  }
}

/**
 * Build the cells of a row, each as spans; those that are not quoted are empty.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {Block} block
 * @param {TextRange} range
 * @returns {any[][]}
 */
function buildCells(recipe, passage, block, range) {
  const cells = passage.spans
    .filter(({ kind, start, end }) => kind === "cell" && block.start <= start && end <= block.end)
    .map(({ start, end }) => [start, end]);
  return (cells.length ? cells : [range]).map(([start, end]) =>
    buildSpans(recipe, passage, Math.max(start, range[0]), Math.min(end, range[1])),
  );
}

/**
 * Build the spans of a range: its pieces of text, with `href` or whole `code`.
 * @param {Recipe} recipe
 * @param {Passage} passage
 * @param {number} start
 * @param {number} end
 * @returns {any[]}
 */
function buildSpans(recipe, passage, start, end) {
  if (start >= end) return [];
  const inside = passage.spans.filter((span) => span.kind !== "cell" && span.start < end && span.end > start);
  const inner = inside.flatMap((span) => [span.start, span.end]).filter((edge) => start < edge && edge < end);
  const edges = [...new Set([start, ...inner, end])].sort((one, other) => one - other);
  /** @type {any[]} */
  const pieces = [];
  for (let at = 1; at < edges.length; at += 1) {
    const [first, last] = [edges[at - 1], edges[at]];
    /** @type {any} */
    const piece = { text: sanitizeText(recipe, passage.text.slice(first, last)) };
    for (const span of inside) {
      if (span.start > first || last > span.end) continue;
      if (span.kind === "link") piece.href = span.url;
      else if (start <= span.start && span.end <= end) piece.code = true;
    }
    if (piece.text) pieces.push(piece);
  }
  return pieces;
}

/**
 * Count the levels of a list from its own outermost item.
 * @param {any} block
 */
function indentFromZero({ items = [] }) {
  const least = Math.min(...items.map((/** @type {any} */ { level }) => level));
  for (const item of items) item.level -= least;
}

/**
 * Serialize the body of an answer: claims by the numbers of their citations.
 * @param {Reply} reply
 * @param {Store} store
 * @param {import("./question.js").Remark[]} remarks on the question's words
 * @returns {Record<string, any>}
 */
export function serializeAnswer({ answer, confidence, reason, stored, excerpts }, store, remarks) {
  const { manifest, recipe, site } = store;
  const citations = listCitations(answer);
  const numbers = new Map(citations.map((citation, at) => [citationKey(citation), at + 1]));
  const claims = answer.claims.map((claim) => {
    const blocks = buildBlocks(recipe, claim.quotations, false);
    return {
      text: claim.text,
      citations: claim.citations.map((each) => /** @type {number} */ (numbers.get(citationKey(each)))),
      // A stored claim may have words of its own.
      ...(blocks.length ? { blocks } : {}),
    };
  });
  const parts = claims.map(({ text, citations: numbered }) => insertClaimMarkers(text, numbered));
  return {
    mode: computeMode(answer),
    answer: stripSpaceAtEnd(parts.map((part) => (part.endsWith("\n") ? part : `${part} `)).join("")),
    claims,
    routes: [],
    citations: citations.map((citation, at) => serializeCitation(citation, at + 1, store)),
    confidence,
    // No model is called here: only a stored answer has been written, and none is stored in part.
    written: Boolean(stored),
    complete: Boolean(stored),
    fallback: false,
    reason,
    // Nothing that it does not quote is ever drafted.
    dropped: 0,
    // A refusal shows no results for another spelling.
    notes: remarks.filter(({ kind }) => answer.claims.length || kind !== "corrected"),
    site_url: site.url,
    bundle: manifest.id,
    built_at: manifest.built_at,
    ...(stored && {
      stored: true,
      question: stored,
      // The answer's notes stand before both.
      excerpts: excerpts ? serializeAnswer(excerpts, store, []) : null,
    }),
  };
}

/**
 * Add the absolute form of a row's url, which is complete or begins at the root, as `absolute_url`; none without a base.
 * Only joined: the URL class would write other characters too.
 * @template {{url: string}} T
 * @param {T} row
 * @param {string | null} base
 * @returns {T & {absolute_url?: string}}
 */
export function addAbsoluteUrl(row, base) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(row.url)) return { ...row, absolute_url: row.url };
  const [origin] = base?.match(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i) ?? [null];
  return origin ? { ...row, absolute_url: origin + row.url } : row;
}

/**
 * Insert the markers of a claim; one of several lines has them in a line of their own.
 * @param {string} text
 * @param {number[]} numbers
 */
function insertClaimMarkers(text, numbers) {
  const markers = numbers.map((number) => `[${number}]`).join("");
  const body = stripSpaceAtEnd(text);
  if (stripSpace(text).includes("\n")) return `${body}\n${markers}\n`;
  if (/(?:\.\.|[…!?:])$/.test(body)) return `${body} ${markers}`;
  // Before a sentence's period, where a reader expects them.
  return `${body.endsWith(".") ? body.slice(0, -1) : body} ${markers}.`;
}

/**
 * @param {RecordCitation} citation
 * @param {number} n
 * @param {Store} store
 * @returns {Record<string, any>}
 */
function serializeCitation({ passage, id, url, title, quote, start, date, href, language }, n, { site }) {
  const row = {
    n,
    kind: "record",
    id,
    url,
    title,
    date,
    // Of a site in one language no reader needs to know it.
    language: site.languages.length > 1 ? language : null,
    quote,
    start: codePointOffset(passage.text, start),
    href: href || url,
  };
  return addAbsoluteUrl(row, site.url);
}
