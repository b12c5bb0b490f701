/**
 * Builds the package into dist: one module, the codec, the types. Uses the dashboard's tools and its modules
 * (`web/src/delivery`, `web/src/formats`): what speaks to the gateway stands once, there.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

const here = import.meta.dirname;
const web = resolve(here, "../../web");
const dist = join(here, "dist");
const codec = join(web, "src/formats/codec.wasm");
if (!existsSync(codec)) throw new Error(`${codec} is missing: scripts/wasm builds it`);

rmSync(dist, { recursive: true, force: true });
const { build } = await import(createRequire(join(web, "package.json")).resolve("rolldown").replace(/\.cjs$/, ".mjs"));
await build({
  input: join(here, "src/index.ts"),
  platform: "neutral",
  external: ["mqtt", "ws", /^node:/],
  output: { dir: dist, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name].js" },
});
copyFileSync(codec, join(dist, "codec.wasm"));

execFileSync(join(web, "node_modules/.bin/tsc"), ["-p", here], { stdio: "inherit" });
const declared = join(dist, "types/web/src/formats/codec.wasm.d.ts");
mkdirSync(dirname(declared), { recursive: true });
copyFileSync(join(web, "src/formats/codec.wasm.d.ts"), declared);
// Node.js resolves no name without its ending, and TypeScript follows it.
for (const name of readdirSync(join(dist, "types"), { recursive: true })) {
  const file = join(dist, "types", name);
  if (!name.endsWith(".d.ts")) continue;
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/(from |import\()"(\.[^"]*)"/g, '$1"$2.js"'));
}
