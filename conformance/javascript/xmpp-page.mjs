// The dashboard in Chromium, followed by XMPP through a server's WebSocket: node xmpp-page.mjs GATEWAY USER PASSWORD.
// Says what it saw line by line, and waits for a line before what needs the other side to act.
import { createInterface } from "node:readline";
import { decoded, launch, messagesArrive, open, stateIs } from "../../web/e2e/gateway.mjs";

const [gateway, user, password] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (told) => console.log(JSON.stringify(told));
let value = 0;

/** Publishes until it is stopped, so that every scheme and format has something to hear. */
function publishing() {
  const publish = async () => {
    value += 1;
    // While the gateway is away there is nobody to publish to.
    await fetch(`${gateway}/live/hall/t`, { method: "POST", body: JSON.stringify({ value }) }).catch(() => {});
  };
  return setInterval(publish, 50);
}

async function logIn(page, secret) {
  await page.waitForSelector("#account-dialog[open]");
  const why = await page.locator("#account-why").textContent();
  await page.fill("#account-address", user);
  await page.fill("#account-password", secret);
  await page.click("#account button");
  return why;
}

async function gaps(page) {
  return (await page.locator("#gaps").textContent()).trim();
}

const browser = await launch();
const timer = publishing();
try {
  const page = await open(browser, `${gateway}/`);
  await stateIs(page, "live");
  await page.waitForSelector("input[value=xmpp]", { state: "attached" });
  await page.waitForFunction(() => !document.querySelector("input[value=xmpp]").closest("label").hidden);
  await page.keyboard.press("8");
  say({ asked: await logIn(page, "wrong") });
  await stateIs(page, "locked");
  say({ again: await logIn(page, password) });
  await stateIs(page, "live");
  for (const format of ["json", "xml", "cbor", "senml-json", "csv"]) {
    await page.selectOption("#format", format);
    await decoded(page, format, "xmpp", 3);
    say({ read: format });
  }
  say({ gaps: await gaps(page), restart: true });
  await lines.next();
  await messagesArrive(page, 5, 90_000);
  await stateIs(page, "live");
  say({ gaps: await gaps(page), faults: page.faults });
} finally {
  clearInterval(timer);
  await browser.close();
}
process.exit(0);
