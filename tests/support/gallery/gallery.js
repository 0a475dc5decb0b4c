// The page of all states of the ask box: each box is a live one whose answers were recorded.
(() => {
  const RECORDED = new URL("widget-states.json", document.currentScript.src);
  const SETTLED = ["answerable:answer", "answerable:problem", "answerable:stage"];

  /** A response of events that has sent these stages and sends nothing more. */
  function streamed(stages) {
    const encoder = new TextEncoder();
    const start = (controller) => {
      for (const stage of stages) {
        controller.enqueue(encoder.encode(`event: stage\ndata: ${JSON.stringify({ stage })}\n\n`));
      }
    };
    return new Response(new ReadableStream({ start }), { headers: { "Content-Type": "text/event-stream" } });
  }

  function replay({ events, offline, status, body, retryAfter, places }, address) {
    if (address.pathname.endsWith("/places")) return new Response(JSON.stringify(places ?? {}));
    if (events) return streamed(events);
    if (offline) throw new TypeError("offline");
    const headers = retryAfter ? { "Retry-After": String(retryAfter) } : {};
    return new Response(JSON.stringify(body), { status, headers });
  }

  /** Let the browser say that it is offline, or no more. */
  function beOffline(is) {
    if (is) Object.defineProperty(navigator, "onLine", { value: false, configurable: true });
    else delete navigator.onLine;
  }

  /** Let a box draw a recorded state, without taking the reader's focus or place. */
  async function show(box, { question, ...recorded }) {
    box.fetch = async (address, options) => (options?.method === "POST" ? replay(recorded, address) : fetch(address));
    box.inert = true;
    const settled = new Promise((resolve) => {
      for (const event of SETTLED) box.addEventListener(event, resolve, { once: true });
      if (recorded.events?.length === 0) setTimeout(resolve, 50);
    });
    beOffline(recorded.offline);
    box.ask(question);
    await settled;
    beOffline(false);
    box.inert = false;
  }

  async function setUp() {
    const boxes = document.querySelectorAll("answerable-ask[data-recorded]:not([data-ready])");
    if (boxes.length === 0) return;
    for (const box of boxes) box.dataset.ready = "true";
    const states = await (await fetch(RECORDED)).json();
    await customElements.whenDefined("answerable-ask");
    for (const box of boxes) if (states[box.dataset.recorded]) await show(box, states[box.dataset.recorded]);
    document.documentElement.dataset.gallery = "ready";
  }

  // Material's instant navigation replaces the page without loading this script again.
  if (window.document$) window.document$.subscribe(setUp);
  else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", setUp);
  else setUp();
})();
