import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Demo, decoded, launch, messagesArrive, open, options, POLICY, stateIs, TOKEN } from "./gateway.mjs";

/** XMPP is offered where a gateway is behind a server of it: conformance/xmpp has one. */
const SCHEMES = ["polling", "longpoll", "stream", "sse", "websocket", "mqtt", "amqp"];
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

describe("the dashboard on a live network", options(), () => {
  let demo;
  let browser;
  before(async () => {
    // Often, so that a switch is not spent waiting for the next message.
    demo = await new Demo(["--rate", "4"]).start();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await demo?.stop();
  });

  test("values, curves, bars, plan and latency appear", async () => {
    const page = await open(browser, demo.url);
    await stateIs(page, "live");
    await page.waitForSelector("#rows [role=option] .value:not(:empty)");
    await messagesArrive(page);
    assert.ok((await page.locator(".chart canvas").count()) > 0, "no curve");
    assert.ok((await page.locator(".place").count()) > 0, "no place on the plan");
    await page.waitForSelector('#bars[aria-label*="heating/"]');
    await page.waitForFunction(() => /\d/.test(document.querySelector("#terms tbody td")?.textContent ?? ""));
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("every delivery scheme shows values in every format of the menus", async (t) => {
    const page = await open(browser, demo.url);
    await stateIs(page, "live");
    await page.waitForSelector('#rows [aria-selected="true"]');
    const schemes = await page
      .locator("#deliveries label:not([hidden]) input")
      .evaluateAll((inputs) => inputs.map(({ value }) => value));
    assert.deepEqual(schemes, SCHEMES);
    const formats = await page
      .locator("#format option")
      .evaluateAll((choices) => choices.map(({ value }) => value));
    const offered = await (await fetch(`${demo.url}formats`)).json();
    assert.ok(offered.length >= 30, `${offered.length} formats`);
    assert.deepEqual(formats.toSorted(), offered.map(({ name }) => name).toSorted());
    for (const scheme of schemes) {
      for (const format of formats) {
        await t.test(`${format} by ${scheme}`, async () => {
          await page.check(`#deliveries input[value=${scheme}]`);
          await page.selectOption("#format", format);
          await stateIs(page, "live");
          await decoded(page, format, scheme);
          const notice = await page.locator("#notice span").textContent();
          assert.doesNotMatch(notice ?? "", /is not|refuses/);
        });
      }
    }
    assert.equal(await page.locator("#gaps").textContent(), "no gaps");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("search, selection and shortcuts work from the keyboard", async () => {
    const page = await open(browser, demo.url);
    await page.waitForSelector('#rows [aria-selected="true"]');
    await page.keyboard.press("c");
    await page.waitForFunction(() => document.querySelectorAll('#rows [aria-selected="true"]').length === 0);
    await page.keyboard.press("/");
    await page.keyboard.type("heating/+/supply/temperature");
    await page.waitForFunction(() =>
      /^\d+ of \d+$/.test(document.getElementById("list-count")?.textContent ?? ""),
    );
    await page.keyboard.press("Tab");
    await page.locator("#rows").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector('#rows [aria-selected="true"]');
    for (const [i, scheme] of SCHEMES.entries()) {
      await page.keyboard.press(String(i + 1));
      await page.waitForSelector(`#deliveries input[value=${scheme}]:checked`);
    }
    await page.keyboard.press("?");
    await page.waitForSelector("#help-dialog[open]");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("what of a message was not understood has a mark that says what to do", async () => {
    const body = '{"temperature":NaN,"humidity":40}';
    const headers = { "Content-Type": "application/json" };
    const posted = await fetch(`${demo.url}live/odd/room`, { method: "POST", body, headers });
    assert.equal(posted.status, 204);
    const page = await open(browser, demo.url);
    await stateIs(page, "live");
    await page.fill("#search", "odd/room");
    const row = page.locator("#rows [role=option].problem");
    await row.waitFor();
    assert.match((await row.getAttribute("title")) ?? "", /^odd\/room\/temperature: NaN .*Send null/);
    await page.click("#problems");
    await page.waitForSelector("#problem-list:popover-open");
    assert.match((await page.textContent("#problem-list")) ?? "", /odd\/room\/temperature.*1 time/);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("a stretch dragged out of a curve is fetched from history, and a double click goes back", async () => {
    const page = await open(browser, demo.url);
    await stateIs(page, "live");
    await messagesArrive(page, 3);
    const box = await page.locator(".chart .u-over").first().boundingBox();
    const fetched = page.waitForResponse((response) => response.url().includes("/history/") && response.ok());
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.95, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await fetched;
    await page.waitForSelector("#reset:not([hidden])");
    await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForSelector("#reset[hidden]", { state: "attached" });
    await page.context().close();
  });

  test("a phone shows all of it without sideways scrolling", async () => {
    const page = await open(browser, demo.url, PHONE);
    await stateIs(page, "live");
    await messagesArrive(page);
    // As it is where there is a server of every protocol.
    await page.evaluate(() => {
      for (const label of document.querySelectorAll("#deliveries label")) label.removeAttribute("hidden");
    });
    for (const width of [PHONE.viewport.width, 320]) {
      await page.setViewportSize({ width, height: 844 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${wide} px too wide`);
      assert.deepEqual(await page.evaluate(cutWords), [], `words of the switch at ${width} px`);
    }
    await page.locator("#deliveries label", { hasText: "WebSocket" }).tap();
    await stateIs(page, "live");
    await messagesArrive(page);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
});

/** Segments of the switch whose words do not fit; runs in the page. */
function cutWords() {
  const box = document.getElementById("deliveries").getBoundingClientRect();
  const words = [...document.querySelectorAll("#deliveries span")];
  const cut = words.filter((word) => {
    const { left, right } = word.getBoundingClientRect();
    return word.scrollWidth > word.clientWidth || left < box.left || right > box.right;
  });
  return cut.map((word) => word.textContent);
}

describe("the dashboard and a gateway that is killed", options(), () => {
  for (const scheme of SCHEMES) {
    test(`${scheme} says so, reconnects and resumes`, async () => {
      const demo = await new Demo().start();
      const browser = await launch();
      try {
        const page = await open(browser, `${demo.url}?delivery=${scheme}`);
        await stateIs(page, "live");
        await messagesArrive(page);
        await demo.kill();
        // State and words in one look: an attempt may begin between two.
        const waiting = page.locator('#state[data-kind="waiting"]', { hasText: /reconnecting/ });
        await waiting.waitFor({ timeout: 30_000 });
        await demo.start();
        await stateIs(page, "live", 60_000);
        await messagesArrive(page);
        assert.deepEqual(page.faults, []);
      } finally {
        await browser.close();
        await demo.stop();
      }
    });
  }
});

describe("the dashboard and a gateway with rules of access", options(), () => {
  let gateway;
  let browser;
  let publishing;
  before(async () => {
    gateway = await new Demo([], "serve", POLICY).start();
    browser = await launch();
    const body = JSON.stringify({ temperature: 21.5 });
    const headers = { "Content-Type": "application/json" };
    const publish = (room) => fetch(`${gateway.url}live/${room}`, { method: "POST", headers, body });
    const rooms = ["kitchen", "cellar"];
    for (const room of rooms) assert.ok((await publish(room)).ok);
    publishing = setInterval(() => rooms.forEach((room) => void publish(room).catch(() => {})), 200);
  });
  after(async () => {
    clearInterval(publishing);
    await browser?.close();
    await gateway?.stop();
  });

  for (const scheme of SCHEMES) {
    test(`${scheme} asks for a token and takes it`, async () => {
      const page = await open(browser, `${gateway.url}?delivery=${scheme}`);
      await stateIs(page, "locked");
      await page.waitForSelector("#access-dialog[open]");
      await page.fill("#token", TOKEN);
      await page.keyboard.press("Enter");
      await stateIs(page, "live");
      await decoded(page, "json", scheme, 3);
      assert.deepEqual(page.faults, []);
      await page.context().close();
    });
  }

  test("several filters by MQTT come in one connection", async () => {
    const page = await open(browser, `${gateway.url}?delivery=mqtt&topic=kitchen/%23&topic=cellar/%23`);
    await page.fill("#token", TOKEN);
    await page.keyboard.press("Enter");
    await stateIs(page, "live");
    await decoded(page, "json", "mqtt", 4);
    for (const room of ["kitchen", "cellar"])
      await page.waitForSelector(`#rows .row[title*="${room}/"] .value:not(:empty)`);
    assert.equal(await page.locator("#gaps").textContent(), "no gaps");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
});
