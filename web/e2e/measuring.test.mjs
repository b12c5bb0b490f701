import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Demo, launch, open, options } from "./gateway.mjs";

const DELIVERIES = ["polling", "long-polling", "streaming", "sse", "websocket"];
/** The datastream that numbers messages, and how: src/measuring/cell.ts. */
const COUNTER = "h-01/substation-1/supply/energy";
const counterAt = (seq) => 51_200 + 0.25 * seq;

/** Publishes messages `first` to `first + count - 1`, each with `width` more datastreams. */
async function publish(url, first, count, width = 0) {
  for (let seq = first; seq < first + count; seq++) {
    const observations = [{ topic: COUNTER, value: counterAt(seq) }];
    for (let i = 0; i < width; i++) observations.push({ topic: `h-01/more-${i}`, value: seq + i / 10 });
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ observations });
    const answer = await fetch(`${url}live/h-01`, { method: "POST", headers, body });
    assert.equal(answer.status, 204);
  }
}

describe("the measuring page", options(), () => {
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

  /** A page that waits to be told. */
  async function driven() {
    const page = await open(browser, `${demo.url}measure?driven`);
    await page.waitForFunction(() => typeof weirMeasure === "object");
    return page;
  }

  test("is isolated, so that its clock has steps of microseconds", async () => {
    const page = await driven();
    const about = await page.evaluate(() => weirMeasure.about());
    assert.equal(about.isolated, true);
    assert.ok(about.elementTiming && about.formats.includes("json"), JSON.stringify(about));
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("shows where the time of a live stream goes, by every delivery", async () => {
    const page = await open(browser, `${demo.url}measure?topic=heating/%23`);
    for (const delivery of DELIVERIES) {
      await page.selectOption("#delivery", delivery);
      await page.waitForFunction(
        (delivery) =>
          document.getElementById("doing").textContent.includes(`by ${delivery}`) &&
          /\d/.test(document.querySelector("#terms .total td")?.textContent ?? ""),
        delivery,
      );
    }
    assert.match(await page.locator("#facts").textContent(), /known within/);
    assert.ok((await page.locator("#phone svg").count()) === 1, "no code of the address");
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });

  test("stamps every message of a cell until it is on the screen", async () => {
    const page = await driven();
    let first = 0;
    for (const delivery of DELIVERIES.slice(1)) {
      const job = { delivery, format: "cbor", filter: "h-01/#", first, count: 5 };
      await page.evaluate((job) => weirMeasure.begin(job), job);
      await publish(demo.url, first, 5);
      const { stamps, fault } = await page.evaluate(() => weirMeasure.finish({ patienceMs: 20_000 }));
      assert.equal(fault, undefined, delivery);
      // Long polling hands over what is due as one message.
      assert.equal(stamps.at(-1).seq, first + 4, delivery);
      for (const one of stamps) {
        const order = [one.arrival, one.decoded, one.processed, one.drawn, one.presented];
        assert.deepEqual(
          order,
          order.toSorted((a, b) => a - b),
          delivery,
        );
        assert.ok(one.available > 0 && one.size > 0, delivery);
      }
      first += 5;
    }
    await page.context().close();
  });

  test("that sets the pace is sent the newest instead of all", async () => {
    const page = await driven();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: 6 });
    const shown = {};
    for (const [first, pace] of [
      [1000, false],
      [2000, true],
    ]) {
      const job = { delivery: "websocket", format: "json", filter: "h-01/#", first, count: 100, pace };
      await page.evaluate((job) => weirMeasure.begin(job), job);
      await publish(demo.url, first, 100, 200);
      const { stamps } = await page.evaluate(() => weirMeasure.finish({ patienceMs: 60_000 }));
      assert.equal(stamps.at(-1).seq, first + 99);
      shown[pace] = stamps.length;
    }
    assert.equal(shown.false, 100);
    assert.ok(shown.true < 100, `${shown.true} of 100 messages`);
    await page.context().close();
  });
});
