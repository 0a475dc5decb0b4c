/** Define the element `<answerable-ask>`; the build joins this script with all that it imports. */

import { AskBox } from "./ask-box/element.js";
import { importScript } from "./ask-box/strings.js";

export { AskBox };

if (!customElements.get("answerable-ask")) customElements.define("answerable-ask", AskBox);

// For browsers without text fragments.
if (!("fragmentDirective" in document)) {
  const show = async () => {
    if (location.hash.includes(":~:text=")) (await importScript("highlight.js")).highlight(location.href);
  };
  window.addEventListener("hashchange", show);
  show();
}
