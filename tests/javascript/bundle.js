/** Bundle the ask box and the engine of a folder of the widget into its folder `dist`, as `make widget` does. */

import { build, transform } from "esbuild";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

const widget = resolve(process.argv[2]);

const styles = {
  name: "styles",
  /** @param {import("esbuild").PluginBuild} build */
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const sheet = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: sheet.code, loader: "text" };
    });
  },
};

await build({
  entryPoints: ["ask-box.js", "engine/site_index.js"].map((path) => join(widget, path)),
  entryNames: "[name]",
  outdir: join(widget, "dist"),
  absWorkingDir: widget,
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minify: true,
  // Published nowhere, since they are three times the scripts: whoever debugs a site loads them from here.
  sourcemap: "external",
  plugins: [styles],
});
