import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { Demo, launch, open, options } from "./gateway.mjs";

/** rhea as browsers load it; `scripts/peers` installs it. */
const RHEA = resolve(import.meta.dirname, "../../conformance/node_modules/rhea/dist/rhea-umd.js");

/** What is asked: that, and rhea. */
function wanted() {
  const asked = options();
  if (asked.skip || existsSync(RHEA)) return asked;
  if (process.env.CI === "true") throw new Error(`missing: ${RHEA}`);
  console.error(`SKIPPED, missing: ${RHEA}`);
  return { skip: `missing: ${RHEA}` };
}

/** Sends values to an address and receives them from another, in the page. */
function exchange({ url, address, filter, values }) {
  return new Promise((resolve, reject) => {
    const rhea = globalThis.rheaUmd;
    const connect = rhea.websocket_connect(WebSocket);
    const connection = rhea.connect({ connection_details: connect(url, ["amqp"]), reconnect: false });
    const came = [];
    let accepted = 0;
    const finish = () => {
      if (came.length < values.length || accepted < values.length) return;
      connection.close();
      resolve(came);
    };
    connection.on("disconnected", ({ error }) => reject(new Error(`disconnected: ${error?.message}`)));
    connection.on("receiver_error", ({ receiver }) => reject(new Error(receiver.error.description)));
    connection.on("accepted", () => {
      accepted += 1;
      finish();
    });
    connection.on("message", ({ message }) => {
      came.push([message.to, String(message.body.content ?? message.body), typeof message.message_annotations["weir-cursor"]]);
      finish();
    });
    connection.on("receiver_open", () => {
      const sender = connection.open_sender(address);
      sender.once("sendable", () => {
        for (const value of values) sender.send({ body: value });
      });
    });
    connection.open_receiver(filter);
  });
}

describe("rhea in Chromium, by WebSocket", wanted(), () => {
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

  test("what a page sends is accepted and comes back by a filter, in order", async () => {
    const page = await open(browser, gateway.url, { bypassCSP: true });
    await page.addScriptTag({ path: RHEA });
    const values = [1.5, 2.5, 3.5];
    const url = `ws://${gateway.address}/amqp`;
    const came = await page.evaluate(exchange, { url, address: "page/a", filter: "page/#", values });
    assert.deepEqual(came, values.map((value) => ["page/a", String(value), "string"]));
  });
});
