/** The package as it is handed out, packed and installed into an empty project, against a real gateway. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Demo, launch, POLICY, TOKEN } from "../../../web/e2e/gateway.mjs";

const here = resolve(import.meta.dirname, "..");
const web = resolve(here, "../../web");
const DELIVERIES = ["polling", "longpoll", "stream", "sse", "websocket", "mqtt", "amqp"];
/** Those that give everything, where polling gives what is last. */
const LOSSLESS = DELIVERIES.slice(1);

/** Where nothing comes, a test ends. */
const LIMIT = { timeout: 60_000 };

let project;
let gateway;
let Client;
let client;

before(async () => {
  project = mkdtempSync(join(tmpdir(), "weir-client-"));
  run("node", ["build.mjs"], here);
  const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", project], here));
  writeFileSync(join(project, "package.json"), '{"name":"empty","private":true,"type":"module"}');
  const packages = [join(project, filename), "mqtt@5.16.0"];
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--silent", ...packages], project);
  Client = await import(pathToFileURL(join(project, "node_modules/weir-client/dist/index.js")).href);
  gateway = await new Demo([], "serve").start();
  client = new Client.Gateway(gateway.url);
});

after(async () => {
  await gateway?.stop();
  rmSync(project, { recursive: true, force: true });
});

function run(command, parameters, cwd) {
  return execFileSync(command, parameters, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** The next results, so many; a gap on the way is a failure. */
async function take(events, count) {
  const taken = [];
  while (taken.length < count) {
    const { value: event } = await events.next();
    assert.equal(event.kind, "message");
    taken.push(...event.observations.map(({ value }) => value));
  }
  return taken;
}

test("the example of the README runs as it stands", LIMIT, () => {
  const [, example] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(here, "README.md"), "utf8"));
  writeFileSync(join(project, "example.mjs"), example);
  const said = run("node", ["example.mjs", gateway.url], project).trim().split("\n");
  assert.deepEqual(said, ["kitchen/temperature 21.75 Cel", "21.5", "21.75"]);
});

test("a program in TypeScript sees the types, as Node.js and as a bundler finds them", LIMIT, () => {
  const program = `import { Gateway, type Observation } from "weir-client";
const all: AsyncGenerator<Observation> = new Gateway("http://x").history("#", { from: new Date() });
// @ts-expect-error a topic is text
void new Gateway("http://x").publish(1, 2);
for await (const event of await new Gateway("http://x").subscribe("#")) if (event.kind === "gap") event.reason.trim();
void all;
`;
  writeFileSync(join(project, "program.mts"), program);
  const tsc = join(web, "node_modules/.bin/tsc");
  for (const resolution of [["nodenext", "nodenext"], ["esnext", "bundler"]]) {
    const [module, moduleResolution] = resolution;
    run(tsc, ["--noEmit", "--strict", "--target", "es2023", "--lib", "es2023,dom,dom.asynciterable", "--types", "", "--module", module, "--moduleResolution", moduleResolution, "program.mts"], project);
  }
});

test("every delivery scheme gives what came after a cursor, in order", LIMIT, async () => {
  const since = await client.publish("order/x", 0);
  for (let value = 1; value <= 5; value++) await client.publish("order/x", value);
  for (const delivery of LOSSLESS) {
    const events = await client.subscribe("order/#", { delivery, since });
    assert.deepEqual(await take(events, 5), [1, 2, 3, 4, 5], delivery);
    await events.return();
  }
});

test("what JSON cannot say is refused, and a topic is as it is", LIMIT, async () => {
  for (const value of [NaN, Infinity, [1, NaN], undefined]) {
    await assert.rejects(client.publish("none/x", value), RangeError);
  }
  await assert.rejects(client.publish("none/x", 1, { lat: NaN, lon: 1 }), RangeError);
  assert.deepEqual(await client.latest("none/#"), []);
  for (const topic of ["x/../y", "x/./y", "../x", "a//b"]) {
    await client.publish(topic, 1);
    assert.deepEqual((await client.latest(topic)).map((row) => row.topic), [topic]);
  }
  assert.deepEqual(await client.latest("y"), []);
  await assert.rejects(client.publish("..", 1), RangeError);
});

test("every delivery scheme begins with the last values", LIMIT, async () => {
  await client.publish("last/x", 7);
  for (const delivery of DELIVERIES) {
    const events = await client.subscribe("last/#", { delivery });
    assert.deepEqual(await take(events, 1), [7], delivery);
    await events.return();
  }
});

test("every view tells all that an observation carries", LIMIT, async () => {
  const [time, end, resultTime] = ["00:00:00Z", "00:00:30.5Z", "00:01:00Z"].map((of) => `2026-11-20T${of}`);
  const rare = { end, resultTime, validTime: [time, end], quality: "suspect", feature: "urn:f:1", parameters: { gain: 2 } };
  const plain = { topic: "rare/x", value: 1.5, unit: "m", sensor: "urn:s:1", type: "level", lat: 44.5, lon: 20 };
  const since = await client.publish("before/x", 0);
  await client.publishMessage("rare/x", JSON.stringify({ ...plain, ...rare, time }), "application/json");
  const times = { time, end, resultTime };
  const read = Object.fromEntries(Object.entries(times).map(([name, text]) => [name, Date.parse(text)]));
  const whole = { ...plain, ...rare, ...read, validTime: [read.time, read.end] };
  assert.deepEqual(await client.latest("rare/x"), [whole]);
  const [{ more, ...entry }] = await client.catalog("rare/x");
  assert.deepEqual(entry, whole);
  assert.equal(more.status, "online");
  const told = [];
  for await (const row of client.history("rare/x", { from: new Date(time) })) told.push(row);
  assert.deepEqual(told, [whole]);
  for (const format of ["json", "cbor", "protobuf", "arrow", "block", "xml"]) {
    const events = await client.subscribe("rare/x", { since, format });
    const { value: event } = await events.next();
    assert.deepEqual(event.observations, [whole], format);
    await events.return();
  }
});

test("every format is read", LIMIT, async () => {
  const since = await client.publish("format/x", 1.5, { unit: "m", time: 1_790_000_000_000 });
  await client.publish("format/x", 2.5, { time: "2026-11-20T09:41:00Z" });
  const formats = (await (await fetch(new URL("formats", gateway.url))).json()).map(({ name }) => name);
  for (const format of formats) {
    const events = await client.subscribe("format/x", { since, format });
    assert.deepEqual(await take(events, 1), [2.5], format);
    await events.return();
  }
});

test("a killed gateway is found again and nothing is missing", LIMIT, async () => {
  for (const delivery of LOSSLESS) {
    await client.publish(`kill/${delivery}`, 1);
    const events = await client.subscribe(`kill/${delivery}`, { delivery });
    assert.deepEqual(await take(events, 1), [1], delivery);
    await gateway.kill();
    await gateway.start();
    await client.publish(`kill/${delivery}`, 2);
    const taken = [];
    // What was taken just when the connection broke may come again.
    while (taken.at(-1) !== 2) taken.push(...(await take(events, 1)));
    assert.deepEqual([...new Set([1, ...taken])], [1, 2], delivery);
    await events.return();
  }
});

test("a cursor of another gateway is a gap with its reason", LIMIT, async () => {
  await client.publish("gap/x", 1);
  for (const delivery of LOSSLESS) {
    let live;
    const opened = new Promise((resolve) => {
      live = resolve;
    });
    const onState = ({ kind }) => kind === "live" && live();
    const events = await client.subscribe("gap/#", { delivery, since: "77-5", onState });
    const first = events.next();
    await opened;
    // By MQTT and AMQP a gap comes with the message behind it.
    const publishing = setInterval(() => void client.publish("gap/x", 2), 200);
    const { value: gap } = await first.finally(() => clearInterval(publishing));
    assert.deepEqual([gap.kind, gap.reason], ["gap", "foreign"], delivery);
    await events.return();
  }
});

test("a program that is slow loses nothing", LIMIT, async () => {
  const since = await client.publish("slow/x", 0);
  const events = await client.subscribe("slow/#", { since, delivery: "websocket" });
  const rows = (from) => Array.from({ length: 4000 }, (_, at) => ({ value: from + at }));
  let wanted = 0;
  for (let batch = 0; batch < 3; batch++) {
    await client.publishMessage("slow/x", JSON.stringify({ observations: rows(wanted) }), "application/json");
    wanted += 4000;
  }
  const taken = await take(events, wanted);
  assert.deepEqual(taken, Array.from({ length: wanted }, (_, at) => at));
  await events.return();
});

test("a cursor in hand continues behind its message", LIMIT, async () => {
  const since = await client.publish("hand/x", 0);
  for (let value = 1; value <= 5; value++) await client.publish("hand/x", value);
  const events = await client.subscribe("hand/#", { since });
  assert.deepEqual(await take(events, 3), [1, 2, 3]);
  await events.return();
  const further = await client.subscribe("hand/#", { since: events.cursor });
  assert.deepEqual(await take(further, 2), [4, 5]);
  await further.return();
});

test("a key is kept once, and the past comes page by page", LIMIT, async () => {
  const first = await client.publish("past/x", 1, {}, "key");
  assert.equal(await client.publish("past/x", 1, {}, "key"), first);
  await assert.rejects(client.publish("past/x", 2, {}, "key"), { status: 422 });
  for (let value = 2; value <= 5; value++) await client.publish("past/x", value);
  const kept = await all(client.history("past/#", { limit: 2 }));
  assert.deepEqual(kept.map(({ value }) => value), [1, 2, 3, 4, 5]);
  assert.deepEqual((await client.latest("past/x")).map(({ value }) => value), [5]);
  assert.deepEqual(await client.latest("nobody/here"), []);
  assert.deepEqual((await client.catalog("past/#")).map(({ topic }) => topic), ["past/x"]);
});

async function all(rows) {
  const taken = [];
  for await (const row of rows) taken.push(row);
  return taken;
}

test("who has the token reads by every delivery scheme, and who has not is refused", LIMIT, async () => {
  const guarded = await new Demo([], "serve", POLICY).start();
  try {
    await new Client.Gateway(guarded.url).publish("guarded/x", 1);
    for (const delivery of DELIVERIES) {
      const events = await new Client.Gateway(guarded.url, { token: TOKEN }).subscribe("guarded/#", { delivery });
      assert.deepEqual(await take(events, 1), [1], delivery);
      await events.return();
      const refused = await new Client.Gateway(guarded.url, { token: "wrong" }).subscribe("guarded/#", { delivery });
      await assert.rejects(refused.next(), Client.Refused, delivery);
    }
  } finally {
    await guarded.stop();
  }
});

test("what there is not is said by name", LIMIT, async () => {
  await assert.rejects(client.subscribe("#", { delivery: "pigeon" }), /no delivery scheme pigeon; there are polling/);
  await assert.rejects(client.subscribe("#", { format: "yaml" }), /no format yaml; there are json/);
  const events = await client.subscribe("a/#/b");
  await assert.rejects(events.next(), { status: 400 });
});

test("in a browser it does the same", LIMIT, async () => {
  const dist = join(project, "node_modules/weir-client/dist");
  const types = { ".js": "text/javascript", ".wasm": "application/wasm" };
  const page = '<!doctype html><script type="module">import * as client from "./index.js"; window.client = client;</script>';
  const server = createServer(({ url }, answer) => {
    const found = types[extname(url)];
    answer.writeHead(200, { "Content-Type": found ?? "text/html" });
    answer.end(found === undefined ? page : readFileSync(join(dist, url)));
  }).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const open = await new Demo(["--set", `http.cors=${origin}`], "serve").start();
  const browser = await launch();
  try {
    const tab = await browser.newPage();
    await tab.goto(origin);
    await tab.waitForFunction(() => window.client !== undefined);
    for (const delivery of ["polling", "longpoll", "stream", "sse", "websocket", "amqp"]) {
      const value = await tab.evaluate(followed, [open.url, delivery]);
      assert.equal(value, 21.5, delivery);
    }
  } finally {
    await browser.close();
    await open.stop();
    server.close();
  }
});

/** In the page: publishes, and says what comes. */
async function followed([url, delivery]) {
  const gateway = new window.client.Gateway(url);
  await gateway.publish(`page/${delivery}`, 21.5);
  for await (const event of await gateway.subscribe(`page/${delivery}`, { delivery, format: "block" })) {
    return event.observations[0].value;
  }
}
