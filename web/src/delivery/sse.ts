/**
 * Server-sent events through the browser's `EventSource`. Its own reconnection is not used: it cannot be
 * jittered and does not say why it failed. The next attempt resumes by `since` with the last event's id,
 * which is what the browser would have sent as `Last-Event-ID`.
 */

import type { Payload } from "../formats/format";
import {
  type Control,
  type Delivery,
  liveUrl,
  position,
  readControl,
  readGap,
  readMembers,
  refusal,
  type Sink,
  type Subscription,
} from "./delivery";

export const sse: Delivery = {
  id: "sse",
  label: "SSE",
  hint: "server-sent events",
  run,
};

async function run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void> {
  const query: Record<string, string | true> = { as: subscription.format.name, ...position(subscription) };
  if (subscription.token !== undefined) query["access_token"] = subscription.token;
  const source = new EventSource(liveUrl(subscription, query));
  const opened = await follow(source, subscription.format.binary, sink, signal);
  if (!opened && !signal.aborted) await refusal(subscription, signal, "the event stream did not open");
}

/** Hands on events until the source fails; says whether it ever opened. */
function follow(source: EventSource, binary: boolean, sink: Sink, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let opened = false;
    const end = () => {
      source.close();
      resolve(opened);
    };
    source.onopen = () => {
      opened = true;
      sink.opened();
    };
    source.onmessage = (event) => {
      sink.message(binary ? fromBase64(event.data) : event.data, performance.now());
      sink.control(idOf(event));
    };
    source.addEventListener("gap", (event) => sink.control({ ...idOf(event), gap: readGap(event.data) }));
    source.addEventListener("weir", (event) => sink.control(controlOf(event.data)));
    source.onerror = end;
    signal.addEventListener("abort", end, { once: true });
  });
}

function idOf(event: MessageEvent): Control {
  return event.lastEventId === "" ? {} : { cursor: event.lastEventId };
}

function controlOf(data: string): Control {
  const control = readControl(data);
  if (control !== undefined) return control;
  try {
    return readMembers(JSON.parse(data));
  } catch {
    return {};
  }
}

function fromBase64(data: string): Payload {
  return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
}
