/** Define the element `<answerable-ask>`; the build joins this script with all that it imports. */

import { AskBox } from "./ask-box/element.js";

export { AskBox };

if (!customElements.get("answerable-ask")) customElements.define("answerable-ask", AskBox);
