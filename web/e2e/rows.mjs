/**
 * Follows what a dashboard shows, for tests in other languages: `node e2e/rows.mjs URL`.
 *
 * Prints a line of JSON whenever the list of datastreams reads otherwise: topics and the words beside them. Ends with
 * its standard input.
 */

import { launch, open, stateIs } from "./gateway.mjs";

/** The rows as they are read now; runs in the page. */
function rows() {
  const shown = document.querySelectorAll("#rows [role=option]:not([hidden])");
  const words = (row, name) => row.querySelector(`.${name}`)?.textContent ?? "";
  return JSON.stringify(Object.fromEntries([...shown].map((row) => [row.title, `${words(row, "value")} ${words(row, "unit")}`.trim()])));
}

const browser = await launch();
process.stdin.on("end", () => browser.close()).resume();
const page = await open(browser, process.argv[2]);
await stateIs(page, "live");
let before;
while (browser.isConnected()) {
  const now = await page.evaluate(rows).catch(() => undefined);
  if (now !== undefined && now !== before) console.log(now);
  before = now;
  await new Promise((done) => setTimeout(done, 50));
}
if (page.faults.length > 0) throw new Error(page.faults.join("; "));
