/**
 * AMQP 1.0 over WebSocket by a receiver of our own, which is loaded when the scheme is first chosen.
 *
 * As by MQTT the latest values and the cursor to begin at come by a request; then a link for each filter is
 * attached behind that cursor, in the format wanted, and the gateway settles what it sends.
 */

import { CONNECT_MS, KEEP_ALIVE_S } from "../limits";
import type { Arrived, Condition } from "./amqp-client";
import {
  controlOfHeaders,
  type Delivery,
  latest,
  payloadOf,
  Refused,
  refusal,
  type Sink,
  type Subscription,
} from "./delivery";
import { filtersOf } from "./mqtt";
import { Aged, InTurn, type Position } from "./positions";
import { CURSOR, Publications, type UserProperties } from "./publications";
import { sleep } from "./sleep";

export const amqp: Delivery = {
  id: "amqp",
  label: "AMQP",
  hint: "AMQP 1.0 over WebSocket, a message a datastream",
  run,
};

/** What a condition is as a status of HTTP; others may pass. */
const STATUS_OF: Record<string, number> = {
  "amqp:unauthorized-access": 403,
  "amqp:invalid-field": 400,
  "amqp:not-found": 400,
};

async function run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void> {
  const client = import("./amqp-client");
  let since = subscription.since;
  const first = since === undefined ? await latest(subscription, signal) : undefined;
  const control = first === undefined ? {} : controlOfHeaders(first.headers);
  const payload = first === undefined ? undefined : await payloadOf(first, subscription.format);
  since ??= control.cursor;
  const { AmqpReceiver } = await client;
  if (signal.aborted) return;
  const address = addressOf(subscription.base);
  const opened = await new Promise<boolean>((resolve, reject) => {
    const socket = new WebSocket(address, "amqp");
    socket.binaryType = "arraybuffer";
    let open = false;
    const publications = new Publications(sink, subscription.format.binary, positionOf());
    const receiver = new AmqpReceiver(
      {
        host: address.hostname,
        ...(subscription.token === undefined ? {} : { token: subscription.token }),
        addresses: filtersOf(subscription),
        filters: new Map(since === undefined ? [] : [["weir:since", since]]),
        idleMs: KEEP_ALIVE_S * 1000,
      },
      (bytes) => socket.send(bytes),
      () => {
        open = true;
        sink.opened();
        if (payload !== undefined && payload.length > 0) sink.message(payload, performance.now());
        sink.control(control);
      },
      (arrived) => publications.take(publicationOf(arrived), performance.now()),
    );
    const beating = setInterval(() => open && receiver.beat(), (KEEP_ALIVE_S * 1000) / 2);
    const late = setTimeout(() => open || fail(new Error("the gateway does not answer")), CONNECT_MS);

    function positionOf(): Position {
      const tell = (cursor: string) => sink.control({ cursor });
      if (subscription.filters.length === 1) return new InTurn(tell);
      return new Aged(tell, () => receiver.roundTrip(), (ms) => sleep(ms, signal));
    }
    function leave(): void {
      clearInterval(beating);
      clearTimeout(late);
      socket.close();
    }
    function fail(error: Error): void {
      leave();
      reject(error);
    }
    function end(): void {
      leave();
      resolve(open);
    }
    socket.onopen = () => receiver.begin();
    socket.onmessage = ({ data }) => {
      try {
        receiver.take(new Uint8Array(data as ArrayBuffer));
      } catch (error) {
        fail(refusedBy(error as Error));
      }
    };
    socket.onclose = end;
    signal.addEventListener("abort", end, { once: true });
  });
  if (!opened && !signal.aborted)
    await refusal(subscription, signal, "the gateway took no AMQP connection");
}

/** `/amqp` beside the page. */
function addressOf(base: URL): URL {
  const url = new URL("amqp", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url;
}

function publicationOf({ data, annotations, bytes }: Arrived): {
  payload: Uint8Array;
  properties: UserProperties;
  bytes: number;
} {
  const properties: UserProperties = {};
  for (const name of [CURSOR, "weir-gap"]) {
    const value = annotations.get(name);
    if (typeof value === "string") properties[name] = value;
  }
  return { payload: data, properties, bytes };
}

/** An error with its condition as a status of HTTP, where no retry would change the answer. */
function refusedBy(error: Error & Partial<Condition>): Error {
  const status = error.condition === undefined ? undefined : STATUS_OF[error.condition];
  return status === undefined ? error : new Refused(status, error.message);
}
