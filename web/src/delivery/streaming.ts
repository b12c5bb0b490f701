/** HTTP streaming: one answer that never ends, read as it arrives. */

import {
  accepted,
  type Delivery,
  headersOf,
  liveUrl,
  paceOf,
  position,
  type Sink,
  type Subscription,
} from "./delivery";
import { type Framing, Lengths, Lines } from "./framing";

export const streaming: Delivery = {
  id: "stream",
  label: "HTTP streaming",
  hint: "one response that never ends",
  run,
};

async function run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void> {
  const url = liveUrl(subscription, { stream: true, ...position(subscription), ...paceOf(subscription) });
  const request = { headers: headersOf(subscription), signal, cache: "no-store" as const };
  const response = await accepted(await fetch(url, request));
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("the response has no body");
  sink.opened();
  const { binary, multiline } = subscription.format;
  const framing: Framing = binary ? new Lengths(sink) : new Lines(sink, multiline ?? false);
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) return;
    framing.push(value, performance.now());
  }
}
