/**
 * One client of a broker, told by the bench what to do: through `weirMessaging` in the page or, where a person opened
 * it (`?run=`), by orders over the gateway.
 *
 * It publishes messages on a schedule, keeps when messages come, or has a message go to and fro. Its times are
 * those of `performance.now`, 5 microseconds fine where the page is isolated, as the gateway serves it.
 */

import { probe } from "../measuring/clock";
import { obey } from "../measuring/orders";
import { byId } from "../ui/dom";
import { type At, CLIENTS, type Client } from "./clients";

/** A message's first time, when its data were due and at hand, or when it came and was decoded. */
type Row = [string, number, number];

const TIME = /"time":"([^"]*)"/;

let client: Client | undefined;
let kept: Row[] = [];

async function connect(at: At): Promise<void> {
  const open = CLIENTS[at.protocol];
  if (!open) throw new Error(`no client of ${at.protocol}`);
  client = await open(at);
}

function connected(): Client {
  if (!client) throw new Error("not connected");
  return client;
}

/** Keeps when messages come and when they are decoded: bytes to text, text to observations. */
function keep(): void {
  kept = [];
  const decoder = new TextDecoder();
  connected().onmessage = (payload) => {
    const came = performance.now();
    const text = decoder.decode(payload);
    const observations: unknown = JSON.parse(text);
    const decoded = performance.now();
    if (observations) kept.push([TIME.exec(text)?.[1] ?? "", came, decoded]);
  };
}

/** What was kept, once so many have come or none for so long. */
async function arrived(wanted: { messages: number; silenceMs: number }): Promise<Row[]> {
  let [count, since] = [kept.length, performance.now()];
  while (kept.length < wanted.messages && performance.now() - since < wanted.silenceMs) {
    await sleep(5);
    if (kept.length > count) [count, since] = [kept.length, performance.now()];
  }
  return kept;
}

function sendBack(to: string): void {
  const back = connected();
  back.onmessage = (payload) => back.publish(to, payload);
}

/** Publishes on an absolute schedule, which waits for no arrival. */
async function publish(wanted: { to: string; messages: unknown[]; intervalMs: number }): Promise<Row[]> {
  const rows: Row[] = [];
  const first = performance.now() + Math.min(wanted.intervalMs, 10);
  for (const [index, message] of wanted.messages.entries()) {
    const due = first + index * wanted.intervalMs;
    await sleep(due - performance.now());
    // A timer may ring up to a millisecond early: what is left of it passes in tasks.
    do await task();
    while (performance.now() < due);
    const begun = performance.now();
    const text = JSON.stringify(message);
    connected().publish(wanted.to, text);
    rows.push([TIME.exec(text)?.[1] ?? "", due, begun]);
  }
  return rows;
}

interface ToAndFro {
  rttMs: number[];
  lost: number;
  ms: number;
}

/** Sends a message again as soon as it is back. */
function pingPong(wanted: { to: string; payload: string; forMs: number; silenceMs: number }): Promise<ToAndFro> {
  const ping = connected();
  const rttMs: number[] = [];
  let lost = 0;
  return new Promise((resolve) => {
    const begin = performance.now();
    let sent = begin;
    let watch = 0;
    const send = (now: number) => {
      sent = now;
      clearTimeout(watch);
      if (now - begin >= wanted.forMs) {
        ping.onmessage = () => {};
        resolve({ rttMs, lost, ms: now - begin });
        return;
      }
      watch = window.setTimeout(gone, wanted.silenceMs);
      ping.publish(wanted.to, wanted.payload);
    };
    const gone = () => {
      lost++;
      send(performance.now());
    };
    ping.onmessage = () => {
      const now = performance.now();
      rttMs.push(now - sent);
      send(now);
    };
    send(begin);
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

/**
 * A task that no timer has started. What a task of timers upon timers waits for is held back 4 ms by browsers, and
 * mqtt.js waits so while it writes: the schedule would be measured, and not the library.
 */
function task(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

const base = new URL("./", document.baseURI);
const weirMessaging = { connect, keep, arrived, sendBack, publish, pingPong };

/** What only an opened page is told: its clock is not the bench's, and nobody can open it anew. */
const opened = {
  /** Asks the gateway for its time so often; the stamps of each answer. */
  clock: ({ count }: { count: number }) => probe(base, count),
  /** Begins anew, as far from what was before as a page that was just opened. */
  fresh: () => location.reload(),
};

Object.assign(globalThis, { weirMessaging });

const run = new URLSearchParams(location.search).get("run");
if (run !== null) {
  byId("doing").textContent = "measuring: keep this page in front";
  byId("doing").textContent = await obey(base, run, { ...weirMessaging, ...opened });
}
