import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { launch, options, WEIR } from "./gateway.mjs";

const CELL = "delivery=websocket;format=json;nodes=1;link=local;cpu=1";
/** Only in the bench's own browser, or where the page came by TLS. */
const BY_TLS = `${CELL};transport=http-1.1;security=tls`;

/** A run that waits for a person's browser; `link` is the next that it prints for one on this machine. */
class Run {
  constructor(experiment, only, out) {
    const arguments_ = ["bench", "run", experiment, "--quick", "--browser", "open", "--only", only];
    this.child = spawn(WEIR, [...arguments_, "--out", out], { stdio: ["ignore", "ignore", "pipe"] });
    this.said = [];
    this.ended = new Promise((resolve) => this.child.once("exit", resolve));
    createInterface({ input: this.child.stderr }).on("line", (line) => this.said.push(line));
    this.looked = 0;
  }

  async link() {
    for (;;) {
      const { exitCode, signalCode } = this.child;
      while (this.looked < this.said.length) {
        const link = this.said[this.looked++].trim().match(/^http:\S+\?run=[0-9a-f]{16}$/);
        if (link) return link[0];
      }
      if ((exitCode ?? signalCode) !== null) throw new Error(`ended with ${exitCode ?? signalCode}: ${this.said.join("\n")}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}

describe("a browser that a person opens", options(), () => {
  let browser;
  const out = mkdtempSync(join(tmpdir(), "weir-e2e-opened-"));
  before(async () => {
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    rmSync(out, { recursive: true, force: true });
  });

  test("is measured by the link alone, and its clock's bound is told", async () => {
    const run = new Run("web-delivery", CELL, out);
    try {
      const page = await (await browser.newContext()).newPage();
      await page.goto(await run.link());
      assert.equal(await run.ended, 0, run.said.join("\n"));
      await page.waitForFunction(() => document.getElementById("doing").textContent.includes("measured"));
    } finally {
      run.child.kill("SIGKILL");
    }
    const { results, targets } = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
    const [measured, absent] = [CELL, BY_TLS].map((name) => results.find(({ cell }) => cell === name));
    // Of few messages on a machine that tests beside it the interval may be wide.
    assert.match(measured.status, /^(ok|wide)$/);
    assert.match(measured.remarks.join(), /clocks may differ by \d/);
    const total = measured.metrics.find(({ metric }) => metric === "t_total");
    assert.ok(total.estimate.mean > 0 && total.percentiles.n > 0, JSON.stringify(total));
    assert.match(absent.status, /absent: the page was opened by http/);
    // The page is on loopback: isolated, its clock in steps of microseconds.
    assert.match(targets.opened_browser, /Chrom.*clock in steps of \d+ us, isolated/);
  });

  test("two of them are clients of a broker, and say how far their clocks may be off", async () => {
    const folder = join(out, "messaging");
    const run = new Run("messaging", "protocol=mqtt test=transfer clients=browser-browser nodes=1", folder);
    try {
      for (const _ of ["first", "second"]) {
        const page = await (await browser.newContext()).newPage();
        await page.goto(await run.link());
      }
      assert.equal(await run.ended, 0, run.said.join("\n"));
    } finally {
      run.child.kill("SIGKILL");
    }
    const { results, targets } = JSON.parse(readFileSync(join(folder, "run.json"), "utf8"));
    assert.match(targets.opened_browser, /Chrom/);
    const measured = results.filter(({ status }) => status === "ok");
    assert.ok(measured.length > 0, JSON.stringify(results));
    for (const { metrics, remarks } of measured) {
      const transfer = metrics.find(({ metric }) => metric === "t_transfer");
      assert.ok(transfer.estimate.mean > 0, JSON.stringify(transfer));
      assert.match(remarks.join(), /clocks may differ by \d/);
    }
  });
});
