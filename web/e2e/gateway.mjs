/**
 * Starts the real gateway with its demo, and a real browser, for the end-to-end tests.
 *
 * The gateway is `target/debug/weir`, or what WEIR_BIN names; the browser is $CHROMIUM, or a Chromium or Chrome
 * found on the machine. What is missing is a skip, loud by name, and with CI=true a failure.
 */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

/** The program that is tested. */
export const WEIR = process.env.WEIR_BIN ?? resolve(import.meta.dirname, "../../target/debug/weir");
const BROWSERS = ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser", "chrome"];

/** Options of a test: skipped, with the reason, where gateway or browser is missing. */
export function options() {
  const missing = [!executable(WEIR) && WEIR, !browserPath() && "a Chromium or Chrome"].filter(Boolean);
  if (missing.length === 0) return { timeout: 300_000 };
  if (process.env.CI === "true") throw new Error(`missing: ${missing.join(", ")}`);
  console.error(`SKIPPED, missing: ${missing.join(", ")}`);
  return { skip: `missing: ${missing.join(", ")}` };
}

/** A token that may read, and the rules of access that say so; anyone may publish. */
export const TOKEN = "weir-end-to-end";
export const POLICY = `
[role.reader]
read = ["#"]

[role.board]
publish = ["#"]

[token.page]
sha256 = "${createHash("sha256").update(TOKEN).digest("hex")}"
role = "reader"

[anonymous]
role = "board"
`;

/** Ports of this process, below those that the kernel gives to connections: a gateway keeps its own while it is down. */
const PORTS = { first: 28_000, each: 20, blocks: 100 };
let portsAsked = 0;

async function freePort() {
  const first = PORTS.first + (process.pid % PORTS.blocks) * PORTS.each;
  for (let tries = 0; tries < PORTS.each; tries++) {
    const port = first + (portsAsked++ % PORTS.each);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${first} to ${first + PORTS.each - 1}`);
}

function isFree(port) {
  return new Promise((done) => {
    const probe = createServer().once("error", () => done(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => done(true)));
  });
}

/** A running gateway; `kill` ends it without warning, and `start` starts it at the same address and data. */
export class Demo {
  constructor(options = [], command = "demo", policy = undefined) {
    this.data = mkdtempSync(join(tmpdir(), "weir-e2e-"));
    this.arguments = [command, ...options];
    if (policy !== undefined) this.arguments.push("--set", `access.policy=${this.policyFile(policy)}`);
  }

  policyFile(policy) {
    const file = join(this.data, "policy.toml");
    writeFileSync(file, policy);
    return file;
  }

  async start() {
    this.address ??= `127.0.0.1:${await freePort()}`;
    const listeners = [`http.listen=${this.address}`, "mqtt.listen=127.0.0.1:0", "coap.listen=127.0.0.1:0", "amqp.listen=127.0.0.1:0"];
    const settings = listeners.flatMap((listener) => ["--set", listener]);
    this.child = spawn(WEIR, [...this.arguments, ...settings, "--data", this.data], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await firstLine(this.child);
    return this;
  }

  get url() {
    return `http://${this.address}/`;
  }

  /** Kills the gateway as a power cut would. */
  async kill() {
    const gone = new Promise((done) => this.child.once("exit", done));
    this.child.kill("SIGKILL");
    await gone;
  }

  async stop() {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** A browser; close it. */
export function launch() {
  return chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox"] });
}

/** A page on which an error of the program fails the test, and whatever its policy refuses. */
export async function open(browser, url, context = {}) {
  const page = await (await browser.newContext(context)).newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) page.faults.push(message.text());
  });
  await page.goto(url);
  return page;
}

/** Waits until `state` says `kind`. */
export function stateIs(page, kind, timeout = 30_000) {
  return page.waitForSelector(`#state[data-kind="${kind}"]`, { timeout });
}

/** Waits until `more` messages have come on top of those counted now. */
export async function messagesArrive(page, more = 2, timeout = 45_000) {
  const counted = () => Number(document.getElementById("latency-note")?.dataset.messages ?? 0);
  const before = await page.evaluate(counted);
  await page.waitForFunction(
    (least) => Number(document.getElementById("latency-note")?.dataset.messages ?? 0) >= least,
    before + more,
    { timeout },
  );
}

/** Waits until `least` messages of a format were read by a scheme; says what the page says where none are. */
export async function decoded(page, format, scheme, least = 1, timeout = 30_000) {
  const following = `${format} by ${scheme}`;
  const enough = ([following, least]) => {
    const { dataset } = document.getElementById("latency-note");
    return dataset.following === following && Number(dataset.messages) >= least;
  };
  try {
    await page.waitForFunction(enough, [following, least], { timeout });
  } catch (error) {
    const notice = await page.locator("#notice span").textContent();
    throw new Error(`no ${least} messages of ${following}: ${notice}`, { cause: error });
  }
}

function firstLine(child) {
  return new Promise((done, failed) => {
    createInterface({ input: child.stdout }).once("line", done);
    child.once("error", failed);
    child.once("exit", (code) => failed(new Error(`the gateway ended with ${code} before it was ready`)));
  });
}

function browserPath() {
  const named = process.env.CHROMIUM;
  if (named !== undefined) return named;
  const folders = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];
  return BROWSERS.flatMap((name) => folders.map((folder) => join(folder, name))).find(executable);
}

function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
