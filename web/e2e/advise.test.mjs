import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Demo, launch, open, options } from "./gateway.mjs";

/** What the gateway answers to the question that stands in the page's address. */
async function answered(page, demo) {
  const { search } = new URL(page.url());
  const response = await fetch(`${demo.url}advise${search}`);
  return { status: response.status, answer: response.status === 400 ? undefined : await response.json() };
}

/** The words of the first way of each panel. */
function firstWays(page) {
  return page.locator("#answer .section .ways tbody tr:first-child td.way b").allTextContents();
}

function named({ factors, target }) {
  const words = ["protocol", "delivery", "format"].flatMap((factor) => factors[factor] ?? []);
  return words.length > 0 ? words.join(" · ") : target;
}

describe("the page that advises", options(), () => {
  let demo;
  let browser;
  before(async () => {
    demo = await new Demo().start();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await demo?.stop();
  });

  test("it ranks as the gateway does, and says on which cells it rests", async () => {
    const page = await open(browser, `${demo.url}advise.html`);
    await page.waitForSelector("#answer .section .ways tbody tr");
    const { answer } = await answered(page, demo);
    const ranked = answer.sections.filter(({ ranked }) => ranked.length > 0);
    assert.deepEqual(
      await firstWays(page),
      ranked.map(({ ranked }) => named(ranked[0])),
    );
    const first = page.locator("#answer .section .ways tbody tr").first();
    await first.focus();
    await page.keyboard.press("Enter");
    await page.locator("#answer .rests:visible code").first().waitFor();
    assert.equal(await first.getAttribute("aria-expanded"), "true");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("a question changes the answer, the address and the command", async () => {
    const page = await open(browser, `${demo.url}advise.html`);
    await page.waitForSelector("#answer .section");
    await page.selectOption("#link", "local");
    await page.click('#presets button:has-text("bytes<1kB")');
    await page.click('#by label:has-text("bytes")');
    await page.waitForFunction(() => location.search.includes("by=bytes"));
    const command = await page.locator("#command").textContent();
    assert.equal(command, "weir advise --link local --clients 1 --need 'bytes<1kB' --by bytes");
    const { status, answer } = await answered(page, demo);
    assert.equal(status, 200);
    const best = answer.sections.flatMap(({ ranked }) => ranked.slice(0, 1).map(named));
    await page.waitForFunction(
      (best) => document.querySelector("#answer .ways tbody td.way b")?.textContent === best,
      best[0],
    );
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("what cannot be answered or understood is said so", async () => {
    const page = await open(browser, `${demo.url}advise.html?link=nowhere`);
    const heading = page.locator("#answer .refusal h2");
    await heading.waitFor();
    const { status } = await answered(page, demo);
    assert.equal(await heading.textContent(), status === 404 ? "No answer" : "Not understood");
    await page.selectOption("#link", "local");
    await page.waitForSelector("#answer .section");
    await page.fill("#rate", "often");
    await page.click('#question button[type="submit"]');
    await page.waitForSelector('#answer .refusal h2:has-text("Not understood")');
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
});
