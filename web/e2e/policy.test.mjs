import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Demo, decoded, launch, open, options, stateIs } from "./gateway.mjs";

const PAGES = ["", "measure", "advise.html", "decoders.html", "messaging.html"];
/** One that each of the page's readers takes: text, the page's own, the gateway's codec in WebAssembly. */
const FORMATS = ["json", "cbor", "msgpack", "exi"];

describe("what a page's policy lets it do", options(), () => {
  let demo;
  let browser;
  before(async () => {
    demo = await new Demo(["--rate", "4"]).start();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await demo?.stop();
  });

  test("every page does what it does without asking for more", async () => {
    for (const path of PAGES) {
      const page = await open(browser, `${demo.url}${path}`);
      await page.waitForLoadState("networkidle", { timeout: 5_000 }).catch(() => {});
      assert.deepEqual(page.faults, [], path);
      await page.context().close();
    }
  });

  test("the dashboard reads every kind of format by every delivery", async () => {
    const page = await open(browser, demo.url);
    await stateIs(page, "live");
    await page.waitForSelector('#rows [aria-selected="true"]');
    for (const scheme of ["polling", "longpoll", "stream", "sse", "websocket", "mqtt", "amqp"]) {
      for (const format of FORMATS) {
        await page.check(`#deliveries input[value=${scheme}]`);
        await page.selectOption("#format", format);
        await stateIs(page, "live");
        await decoded(page, format, scheme);
      }
    }
    assert.deepEqual(page.faults, []);
    if (process.env.WEIR_SCREENSHOT) await page.screenshot({ path: process.env.WEIR_SCREENSHOT });
    await page.context().close();
  });

  test("a script that found its way into a page does not run", async () => {
    const page = await open(browser, demo.url);
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
    });
    assert.equal(await page.evaluate(() => window.ran), undefined);
    assert.match(page.faults.join(), /Content Security Policy/);
    await page.context().close();
  });

  test("what is published is a document of no origin, in which nothing runs", async () => {
    const script = "<script xmlns='http://www.w3.org/1999/xhtml'>window.ran = true</script>";
    const body = JSON.stringify({ value: script });
    await fetch(`${demo.url}live/site/page`, { method: "POST", body, headers: { "Content-Type": "application/json" } });
    for (const format of ["xml", "plain", "json"]) {
      const answer = await fetch(`${demo.url}live/site/page?as=${format}`);
      assert.equal(answer.status, 200, format);
      assert.equal(answer.headers.get("x-content-type-options"), "nosniff", format);
      const page = await open(browser, `${demo.url}live/site/page?as=${format}`);
      assert.equal(await page.evaluate(() => window.ran), undefined, format);
      if (/xml/.test(answer.headers.get("content-type"))) assert.equal(await page.evaluate(() => self.origin), "null");
      await page.context().close();
    }
  });
});
