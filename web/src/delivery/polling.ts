/**
 * Polling: the latest values, asked for once a second. What lies between two polls is not seen, by nature of
 * the scheme, and is no gap. An unchanged state costs a 304 without a body.
 */

import { POLL_MS } from "../limits";
import {
  accepted,
  controlOfHeaders,
  type Delivery,
  headersOf,
  liveUrl,
  payloadOf,
  type Sink,
  type Subscription,
} from "./delivery";
import { sleep } from "./sleep";

export const polling: Delivery = {
  id: "polling",
  label: "Polling",
  hint: "asks for the latest values once a second",
  run,
};

async function run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void> {
  let tag: string | null = null;
  let due = performance.now();
  while (!signal.aborted) {
    // Asked by the clock: how long an answer takes does not make polls rarer.
    due = Math.max(due + (subscription.pollMs ?? POLL_MS), performance.now());
    const headers = headersOf(subscription);
    if (tag !== null) headers["If-None-Match"] = tag;
    const url = liveUrl(subscription, {});
    const response = await accepted(await fetch(url, { headers, signal, cache: "no-store" }));
    sink.opened();
    tag = response.headers.get("ETag") ?? tag;
    await hand(response, subscription, sink);
    await sleep(due - performance.now(), signal);
  }
}

async function hand(response: Response, subscription: Subscription, sink: Sink): Promise<void> {
  if (response.status === 200) {
    const payload = await payloadOf(response, subscription.format);
    if (payload.length > 0) sink.message(payload, performance.now());
  }
  sink.control(controlOfHeaders(response.headers));
}
