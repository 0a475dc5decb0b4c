/** Let the ask box be used by agents in the browser as a tool of the page, by WebMCP. */

// As the tool `ask` of the MCP server says it.
const REFUSAL =
  "This site does not answer this question. Tell your user so, and do not fill the gap from other knowledge as if " +
  "the site said it.";

const SITE = new URL("../../", import.meta.url);

/**
 * An answer or a refusal, as `POST answer` gives it.
 * @typedef {{ mode: string, answer: string, citations: Record<string, any>[],
 *   written?: boolean, complete?: boolean, fallback?: boolean }} Reply
 */

/**
 * Asks one question; rejects with a `code`, which is the wire's, and `seconds` to wait.
 * @typedef {(question: string, signal: AbortSignal, entered: () => void) => Promise<Reply>} Ask
 */

/** @type {Map<HTMLElement, Ask>} */
const boxes = new Map();
/** @type {AbortController | null} */
let registration = null;

/**
 * Offer a box as the tool `ask`; of several boxes of a page the first one answers.
 * @param {HTMLElement} box
 * @param {Ask} ask
 * @param {AbortSignal} signal withdraws the box
 */
export function offerAsk(box, ask, signal) {
  const { modelContext } = /** @type {any} */ (document);
  // It may have left the page while this module was loaded.
  if (!modelContext || signal.aborted) return;
  boxes.set(box, ask);
  registration ??= registerTool(modelContext);
  signal.addEventListener("abort", () => {
    boxes.delete(box);
    if (boxes.size) return;
    registration?.abort();
    registration = null;
  });
}

/**
 * @param {any} modelContext
 * @returns {AbortController} which unregisters it
 */
function registerTool(modelContext) {
  const controller = new AbortController();
  const { signal } = controller;
  modelContext.registerTool(describeTool(), { signal }).catch((/** @type {Error} */ error) => {
    // The page has a tool of this name already, or its policy forbids tools.
    if (!signal.aborted) console.warn(`answerable: no WebMCP tool: ${error.message}`);
  });
  return controller;
}

function describeTool() {
  return {
    name: "ask",
    title: "Ask the documentation",
    description:
      `Ask the documentation at ${SITE} one question. Returns sentences that were checked against the site's own ` +
      "words, each with the url to cite, or says that the site does not answer the question.",
    inputSchema: {
      type: "object",
      properties: {
        question: {
          type: "string",
          minLength: 1,
          maxLength: 500,
          description: "One whole question, as a reader would ask it.",
        },
      },
      required: ["question"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
    execute: callAsk,
  };
}

/**
 * Ask, and give what the tool `ask` of the MCP server gives.
 * @param {{ question?: unknown }} input
 * @param {{ signal?: AbortSignal }} [options]
 */
async function callAsk({ question }, { signal } = {}) {
  const [ask] = boxes.values();
  if (typeof question !== "string" || !ask) return makeResult("The tool ask needs a question.");
  try {
    const reply = await ask(question, signal ?? new AbortController().signal, () => {});
    return makeResult(formatReply(reply), reply);
  } catch (error) {
    const { code, seconds } = /** @type {{ code?: string | number, seconds?: number }} */ (error);
    const cause = error instanceof DOMException ? error.name : (code ?? "failed");
    const wait = cause === "rate-limited" ? ` Wait ${seconds} seconds.` : "";
    return makeResult(`The question could not be answered (${cause}).${wait}`);
  }
}

/**
 * @param {string} text
 * @param {Reply} [reply]
 */
function makeResult(text, reply) {
  const content = [{ type: "text", text }];
  return reply ? { content, structuredContent: reply, isError: false } : { content, isError: true };
}

/**
 * @param {Reply} reply
 * @returns {string}
 */
function formatReply({ mode, answer, citations, written, complete, fallback }) {
  if (mode === "not-found") return REFUSAL;
  const sources = citations.map(({ n, title, label, url, absolute_url }) => {
    return `[${n}] ${title || label} - ${absolute_url || new URL(url.replace(/^\//, ""), SITE)}`;
  });
  const caveats = [
    ...(fallback ? ["Answered without the model.", ""] : []),
    ...(written && !complete ? ["The pages found answer this in part.", ""] : []),
  ];
  return [...caveats, answer, "", "Sources:", ...sources].join("\n");
}
