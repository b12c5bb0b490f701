/**
 * Compares what could read a format in a browser: `npm run decoders [-- ROUNDS [FORMAT...]]`, after
 * `npm run build`.
 *
 * Each decoder is measured in its steady state (src/measure/steady.ts), in rounds that take all in turn, each
 * on a new page. Of all samples the least counts: whatever else the machine does only ever slows. Prints a
 * table: microseconds to observations as objects.
 */

import { preview } from "vite";
import { launch } from "./gateway.mjs";

const RULE = { k: 10, covMax: 0.05, budgetMs: 250 };
const [rounds = "5", ...wanted] = process.argv.slice(2);
const ROUNDS = Number(rounds);
// A clock with steps of 5 µs instead of 100.
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Sensor nodes with five datastreams each, `times` values of each. */
function nodes(count, times) {
  const properties = ["supply/temperature", "return/temperature", "flow", "power", "valve"];
  const units = ["Cel", "Cel", "m3/h", "kW", "%"];
  const observations = [];
  for (let time = 0; time < times; time++)
    for (let node = 1; node <= count; node++)
      for (const [i, property] of properties.entries())
        observations.push({
          topic: `heating/substation-${node}/${property}`,
          sensor: `urn:dev:mac:0024befffe80${(0x4f00 + node).toString(16)}`,
          type: property.split("/").at(-1),
          value: Math.round((60 + 10 * Math.sin(node + i + time / 7)) * 100) / 100,
          unit: units[i],
          time: new Date(1_763_631_660_250 + time * 1000).toISOString(),
          lat: 44.8125,
          lon: 20.4612,
        });
  return observations;
}

/** One datastream every quarter of an hour, as document A of the papers' kind has it. */
function series(count) {
  return Array.from({ length: count }, (_, i) => ({
    topic: "offering/temperature",
    value: Math.round((15 + 8 * Math.sin(i / 96)) * 10) / 10,
    unit: "Cel",
    time: new Date(1_262_304_000_000 + i * 900_000).toISOString(),
  }));
}

const MESSAGES = {
  "5 observations": nodes(1, 1),
  "1,000 observations": nodes(10, 20),
  "18,500 observations": series(18_500),
};

const server = await preview({ preview: { port: 0, headers: HEADERS }, logLevel: "silent" });
const url = `${server.resolvedUrls.local[0]}decoders.html`;
const browser = await launch();
const version = browser.version();
const best = new Map();
for (let round = 0; round < ROUNDS; round++) {
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForFunction(() => typeof weirMeasure === "object");
  const { contenders } = await page.evaluate(() => weirMeasure.formats());
  for (const [label, observations] of Object.entries(MESSAGES)) {
    const message = JSON.stringify({ observations });
    for (const { format, by } of contenders) {
      if (wanted.length > 0 && !wanted.includes(format)) continue;
      const bytes = await page.evaluate((of) => weirMeasure.write(of), { message, format });
      const job = { ...RULE, how: "contender", format, by };
      const samples = await page.evaluate((job) => weirMeasure.measure(job), job);
      keep(best, [format, by], label, Math.min(...samples), bytes);
    }
  }
  await page.close();
  console.error(`round ${round + 1} of ${ROUNDS}`);
}
await browser.close();
await server.close();
print(best);
process.exit(0);

function keep(best, name, label, us, bytes) {
  const key = name.join(" ");
  const row = best.get(key) ?? { name, cells: {} };
  const before = row.cells[label]?.us ?? Number.POSITIVE_INFINITY;
  row.cells[label] = { us: Math.min(before, us), bytes };
  best.set(key, row);
}

function print(best) {
  console.log(`Chromium ${version}, ${ROUNDS} rounds.\n`);
  console.log(`| format | by | ${Object.keys(MESSAGES).join(" | ")} |`);
  console.log(`|---|---|${"---:|".repeat(Object.keys(MESSAGES).length)}`);
  const rows = [...best.values()].toSorted((a, b) => a.name[0].localeCompare(b.name[0]));
  for (const { name, cells } of rows) {
    const us = Object.keys(MESSAGES).map((label) => cells[label].us.toPrecision(3));
    console.log(`| ${name.join(" | ")} | ${us.map((text) => Number(text).toLocaleString("en")).join(" | ")} |`);
  }
}
