/** Say in the empty box that coding agents can ask the site too, with the command to copy. */

/**
 * What the ask box lends, which this module does not import a second time. `index`: of a site that
 * readers' browsers answer.
 * @typedef {Object} Lent
 * @property {(name: string) => string} say
 * @property {typeof import("./ask-box/draw.js").element} element
 * @property {typeof import("./ask-box/draw.js").button} button
 * @property {(text: string, row: HTMLElement) => unknown} copy
 * @property {URL} root of the site
 * @property {URL} endpoint of its function
 * @property {unknown} index
 */

/**
 * Draw the line; none on a page of a disk, which nobody else can ask.
 * @param {Lent} lent
 * @returns {HTMLElement[]}
 */
export function drawAgents({ say, element, button, copy, root, endpoint, index }) {
  const name = root.hostname.replace(/\W+/g, "-");
  if (!name) return [];
  const local = `${name} -- uvx --from mkdocs-answerable answerable mcp ${root}`;
  const remote = `--transport http ${name} ${new URL("mcp", endpoint)}`;
  const command = `claude mcp add ${index ? local : remote}`;
  const press = button("command", say("copyCommand"), () => copy(command, row));
  press.title = command;
  const row = element("div", { class: "actions agents meta" }, say("agents"), press);
  return [row];
}
