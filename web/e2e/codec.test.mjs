import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { launch, options } from "./gateway.mjs";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** The first block of code in a language, as the guide has it. */
function example(language) {
  const guide = readFileSync(join(ROOT, "docs/guides/codec-in-the-browser.md"), "utf8");
  const [, code] = guide.match(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "m"));
  return code;
}

describe("the codec as a package of its own", options(), () => {
  let folder;
  let installed;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "weir-codec-"));
    const built = join(folder, "built");
    await run(join(ROOT, "scripts/codec-package"), [built]);
    // What `npm install ./build/codec` does.
    installed = join(folder, "node_modules/weir-codec");
    mkdirSync(join(folder, "node_modules"));
    cpSync(built, installed, { recursive: true });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("the guide's page reads JSON, writes block and reads it in Chromium", async () => {
    writeFileSync(join(installed, "index.html"), example("html"));
    const server = createServer((request, response) => {
      const file = request.url === "/" ? "index.html" : request.url.slice(1);
      const type = TYPES[extname(file)];
      if (type === undefined) return response.writeHead(404).end();
      response.writeHead(200, { "Content-Type": type }).end(readFileSync(join(installed, file)));
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    const browser = await launch();
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      await page.waitForSelector("#out:not(:empty)");
      const said = await page.textContent("#out");
      assert.match(said, /^kitchen\/temperature: 21\.625 Cel over 1 min, \d+ bytes$/);
    } finally {
      await browser.close();
      server.close();
    }
  });

  test("the guide's program runs in Node.js and is right by the declarations", async () => {
    writeFileSync(join(folder, "example.mjs"), example("js"));
    const { stdout } = await run(process.execPath, ["example.mjs"], { cwd: folder });
    const [door, columns, refused] = stdout.trimEnd().split("\n");
    assert.equal(door, "door { open: true, by: 'hand' }");
    assert.equal(columns, "true [1,2] 3");
    assert.match(refused, /^true DecodeError: .*29/);
    writeFileSync(join(folder, "example.mts"), example("js"));
    const types = join(ROOT, "web/node_modules/@types");
    const strict = "--noEmit --strict --target ES2022 --module NodeNext --types node".split(" ");
    const compiler = join(ROOT, "web/node_modules/.bin/tsc");
    await run(compiler, [...strict, "--typeRoots", types, "--ignoreConfig", "example.mts"], { cwd: folder });
  });
});
