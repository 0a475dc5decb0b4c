/** Define the element `<answerable-ask>` and place it; `make widget` bundles this script with all that it imports. */

import { AskBox } from "./ask-box/element.js";
import { placeBox } from "./ask-box/placement.js";

export { AskBox };

if (!customElements.get("answerable-ask")) {
  customElements.define("answerable-ask", AskBox);
  placeBox();
}
