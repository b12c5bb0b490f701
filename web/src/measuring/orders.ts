/**
 * Orders for a page that nobody drives: a browser or a phone that a person opened. They come over the gateway
 * itself, as observations at a topic that only the link names, and so do the answers.
 */

import { accepted } from "../delivery/delivery";

/** What may be asked of the page, by name. */
export type Orders = Readonly<Record<string, (argument: never) => unknown>>;

interface Order {
  id: number;
  call: string;
  argument?: unknown;
}

/** Follows the orders of a run until its connection ends. */
export function obey(base: URL, run: string, orders: Orders): Promise<string> {
  const url = new URL(`live/bench/measure/${run}/orders?bare`, base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url, "weir.json");
  const answers = new URL(`live/bench/measure/${run}/answers`, base);
  const hello = { id: 0, answer: { browser: navigator.userAgent } };
  return new Promise((ended) => {
    socket.onopen = () => void send(answers, hello);
    socket.onclose = () => ended("the run broke off, or is not there: ask for its link again");
    socket.onmessage = async ({ data }) => {
      for (const order of read(data as string)) await send(answers, await done(order, orders));
    };
  });
}

function read(text: string): Order[] {
  const { observations } = JSON.parse(text) as { observations?: { value: string }[] };
  return (observations ?? []).map(({ value }) => JSON.parse(value) as Order);
}

async function done({ id, call, argument }: Order, orders: Orders): Promise<unknown> {
  try {
    const order = orders[call];
    if (order === undefined) throw new Error(`the page knows no ${call}`);
    return { id, answer: (await order(argument as never)) ?? null };
  } catch (error) {
    return { id, fault: error instanceof Error ? error.message : String(error) };
  }
}

async function send(url: URL, answer: unknown): Promise<void> {
  const body = JSON.stringify({ observations: [{ value: JSON.stringify(answer) }] });
  await accepted(await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body }));
}
