/**
 * Long polling: each request waits at the gateway for the next message after the cursor. The first one does
 * not wait: it fetches the latest values and the cursor to begin at.
 */

import { WAIT_S } from "../limits";
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

export const longPolling: Delivery = {
  id: "longpoll",
  label: "Long polling",
  hint: "each request waits for the next message",
  run,
};

async function run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void> {
  let since = subscription.since;
  while (!signal.aborted) {
    const response = await ask(subscription, since, signal);
    sink.opened();
    if (response.status === 200) {
      const payload = await payloadOf(response, subscription.format);
      if (payload.length > 0) sink.message(payload, performance.now());
    }
    const control = controlOfHeaders(response.headers);
    since = control.cursor ?? since;
    sink.control(control);
  }
}

async function ask(subscription: Subscription, since: string | undefined, signal: AbortSignal) {
  const headers = headersOf(subscription);
  const query: Record<string, string> = {};
  if (since !== undefined) {
    headers["Prefer"] = `wait=${WAIT_S}`;
    query["since"] = since;
  }
  return accepted(await fetch(liveUrl(subscription, query), { headers, signal, cache: "no-store" }));
}
