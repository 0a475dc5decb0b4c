/** Load the ask box as a module, or on a page of a disk, where browsers run none, from classic scripts. */

{
  const { src } = /** @type {HTMLScriptElement} */ (document.currentScript);
  const home = new URL(".", src).href;

  /**
   * Run the script that stands for a file, and return what it has left on its element.
   * @param {string} url of the file
   * @returns {Promise<any>}
   */
  const load = (url) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${url.split("?")[0].replace(home, `${home}offline/`)}.js`;
      script.onload = () => resolve(/** @type {any} */ (script).file);
      script.onerror = reject;
      document.head.append(script);
    });

  /**
   * Import a module, which its script holds as a function.
   * @param {string} url
   * @returns {Promise<any>}
   */
  const importFile = async (url) => (await load(url))(url, importFile, fetchFile);

  /**
   * Fetch a file of the widget's folder, which its script holds in base64, and all else as the browser does.
   * @param {string | URL} address
   * @param {RequestInit} [options]
   */
  const fetchFile = async (address, options) => {
    const { href } = new URL(address);
    if (!href.startsWith(home)) return fetch(href, options);
    const file = await load(href).catch(() => null);
    const text = typeof file === "string" ? atob(file) : "";
    return new Response(Uint8Array.from(text, (byte) => byte.charCodeAt(0)), { status: file === null ? 404 : 200 });
  };

  const entry = `${home}ask-box.js`;
  if (location.protocol !== "file:") import(entry);
  // Set before an element goes on, which waits for its texts.
  else importFile(entry).then(({ AskBox }) => (AskBox.prototype.fetch = fetchFile));
}
