// The form of the page "Try the API": sends one question and shows what comes back, as text.
(() => {
  const ROOT = new URL("../", document.currentScript.src);
  const HEADERS = [
    "Content-Type", "Cache-Control", "Vary", "Retry-After", "Allow", "WWW-Authenticate",
    "Access-Control-Allow-Origin",
  ];
  const EVENTS = "text/event-stream";

  /** Where the ask box of this page asks. */
  function ownAddress() {
    const box = document.querySelector("answerable-ask");
    const link = document.querySelector('link[rel~="answerable"]');
    const named = box?.getAttribute("endpoint") ?? link?.getAttribute("href");
    const folder = new URL(named ?? new URL("_answerable/", ROOT), document.baseURI);
    if (!folder.pathname.endsWith("/")) folder.pathname += "/";
    return new URL("answer", folder).href;
  }

  function pretty(text) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  /** Call `show` with the name and the data of each event of a response, as they arrive. */
  async function readEvents(response, show) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      waiting += value;
      const blocks = waiting.split("\n\n");
      waiting = blocks.pop();
      for (const block of blocks) {
        const [name, data] = block.split("\n");
        show(name.slice("event: ".length), data.slice("data: ".length));
      }
    }
  }

  function setUp() {
    const form = document.getElementById("try-api");
    if (!form || form.dataset.ready) return;
    form.dataset.ready = "true";
    const part = (name) => document.getElementById(`try-${name}`);
    const [send, stop] = form.querySelectorAll("button");
    const status = part("status");
    const headers = part("headers");
    const body = part("body");
    let run = null;

    const show = (place, text) => {
      place.textContent = text;
      place.hidden = !text;
    };

    async function ask(signal) {
      const sent = { "Content-Type": "application/json" };
      if (part("stream").checked) sent.Accept = EVENTS;
      if (part("token").value) sent.Authorization = `Bearer ${part("token").value}`;
      const started = performance.now();
      const response = await fetch(part("address").value, {
        method: "POST",
        headers: sent,
        body: JSON.stringify({ question: part("question").value }),
        credentials: "omit",
        signal,
      });
      const told = HEADERS.filter((name) => response.headers.has(name));
      show(headers, told.map((name) => `${name}: ${response.headers.get(name)}`).join("\n"));
      if (response.headers.get("Content-Type")?.startsWith(EVENTS)) {
        await readEvents(response, (name, data) => {
          show(body, `${body.textContent}event: ${name}\n${pretty(data)}\n\n`);
        });
      } else {
        show(body, pretty(await response.text()));
      }
      const took = `after ${Math.round(performance.now() - started)} ms`;
      return [response.status, response.statusText, took].filter(Boolean).join(" ");
    }

    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      run?.abort();
      const own = (run = new AbortController());
      show(headers, "");
      show(body, "");
      status.textContent = "Asking …";
      stop.disabled = false;
      let end;
      try {
        end = await ask(own.signal);
      } catch {
        end = own.signal.aborted
          ? "Stopped."
          : "No answer: is a function running at this address, and does it allow this page?";
      }
      if (run !== own) return;
      status.textContent = end;
      stop.disabled = true;
    });
    stop.addEventListener("click", () => {
      run?.abort();
      send.focus();
    });
    part("address").value ||= ownAddress();
    send.disabled = false;
  }

  // Material's instant navigation replaces the page without loading this script again.
  if (window.document$) window.document$.subscribe(setUp);
  else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", setUp);
  else setUp();
})();
