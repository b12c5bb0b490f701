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
  paceOf,
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
  const { pacer } = subscription;
  const current = { ...subscription };
  const noting: Sink = {
    ...sink,
    control: (control) => {
      if (control.cursor !== undefined) current.since = control.cursor;
      sink.control(control);
    },
  };
  for (let again = true; again && !signal.aborted; ) {
    again = false;
    const turn = new AbortController();
    const end = () => turn.abort();
    signal.addEventListener("abort", end, { once: true });
    const begun = pacer?.told();
    // An event stream goes one way: another pace is another request, so only where it is quite another.
    pacer?.tell((cost) => {
      again ||= differs(begun, cost);
      if (again) end();
    });
    const opened = await follow(open(current), subscription.format.binary, noting, turn.signal);
    pacer?.tell(undefined);
    signal.removeEventListener("abort", end);
    if (!opened && !signal.aborted && !again)
      await refusal(subscription, signal, "the event stream did not open");
  }
}

function open(subscription: Subscription): EventSource {
  const query: Record<string, string | true> = {
    as: subscription.format.name,
    ...position(subscription),
    ...paceOf(subscription),
  };
  if (subscription.token !== undefined) query["access_token"] = subscription.token;
  return new EventSource(liveUrl(subscription, query));
}

/** Whether a pace is more than twice or less than half of another. */
function differs(one: string | undefined, other: string): boolean {
  const [a, b] = [Number.parseFloat(one ?? "0"), Number.parseFloat(other)];
  return Math.max(a, b) > 2 * Math.min(a, b);
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
      // Base64 is part of decoding.
      const arrival = performance.now();
      sink.message(binary ? fromBase64(event.data) : event.data, arrival);
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
