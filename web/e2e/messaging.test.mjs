import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Demo, launch, open, options } from "./gateway.mjs";

/** What the bench has the page publish: one node's message, each a second later. */
const message = (second) => [
  {
    topic: "heating/substation-1/supply/temperature",
    value: 78.25,
    unit: "Cel",
    time: new Date(1_795_167_660_250 + second * 1000).toISOString(),
  },
];

describe("the page that is a client of a broker, with the gateway as the broker", options(), () => {
  let gateway;
  let browser;
  before(async () => {
    gateway = await new Demo([], "serve").start();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  /** A page that is subscribed to a topic. */
  async function client(topic) {
    const page = await open(browser, `${gateway.url}messaging.html`);
    await page.waitForFunction(() => "weirMessaging" in globalThis);
    const url = `ws://${gateway.address}/mqtt`;
    const at = { protocol: "mqtt", url, user: null, password: null, topic };
    await page.evaluate((at) => weirMessaging.connect(at), at);
    return page;
  }

  test("messages of one page come to the other, each once, and are decoded there", async () => {
    const [from, to] = [await client("heating/substation-1"), await client("heating")];
    await to.evaluate(() => weirMessaging.keep());
    const messages = [0, 1, 2].map(message);
    const sent = await from.evaluate(
      (messages) => weirMessaging.publish({ to: "heating", messages, intervalMs: 5 }),
      messages,
    );
    const arrived = await to.evaluate(() => weirMessaging.arrived({ messages: 3, silenceMs: 5000 }));
    const times = messages.map(([observation]) => observation.time);
    assert.deepEqual(sent.map(([time]) => time), times);
    assert.deepEqual(arrived.map(([time]) => time), times);
    for (const [, due, begun] of sent) assert.ok(due <= begun);
    for (const [, came, decoded] of arrived) assert.ok(came <= decoded);
  });

  test("a message goes to and fro until its time is over", async () => {
    const [first, second] = [await client("heating/substation-1"), await client("heating")];
    await second.evaluate(() => weirMessaging.sendBack("heating/substation-1"));
    const wanted = { to: "heating", payload: JSON.stringify(message(0)), forMs: 100, silenceMs: 5000 };
    const { rttMs, lost, ms } = await first.evaluate((wanted) => weirMessaging.pingPong(wanted), wanted);
    assert.ok(rttMs.length > 0 && lost === 0, `${rttMs.length} came back, ${lost} did not`);
    assert.ok(ms >= 100);
  });

  test("a broker that is not there is told as such", async () => {
    const page = await open(browser, `${gateway.url}messaging.html`);
    await page.waitForFunction(() => "weirMessaging" in globalThis);
    const at = { protocol: "mqtt", url: "ws://127.0.0.1:1/mqtt", user: null, password: null, topic: "a" };
    const fault = await page.evaluate((at) => weirMessaging.connect(at).catch((error) => error.message), at);
    assert.match(fault, /127\.0\.0\.1:1|onnection/);
    const odd = await page.evaluate((at) => weirMessaging.connect(at).catch((e) => e.message), {
      ...at,
      protocol: "semaphore",
    });
    assert.equal(odd, "no client of semaphore");
  });
});
