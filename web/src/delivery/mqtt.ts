/**
 * MQTT 5 over WebSocket by mqtt.js, which is loaded when the scheme is first chosen.
 *
 * The latest values and the cursor to begin at come by a request, as in long polling: retained messages are
 * what publishers chose to leave, not what was last. Then all filters are subscribed to at that cursor, in the
 * format wanted. The library's own reconnection is not used: it knows no cursor.
 */

import type { IClientOptions, MqttClient } from "mqtt";
import type { Payload } from "../formats/format";
import { CONNECT_MS, KEEP_ALIVE_S, MESSAGE_BYTES_MAX } from "../limits";
import {
  controlOfHeaders,
  type Delivery,
  type Gap,
  latest,
  payloadOf,
  Refused,
  refusal,
  type Sink,
  type Subscription,
} from "./delivery";
import { Aged, InTurn, type Position } from "./positions";
import { CURSOR, Publications, type UserProperties } from "./publications";
import { sleep } from "./sleep";

export const mqtt: Delivery = {
  id: "mqtt",
  label: "MQTT",
  hint: "MQTT 5 over WebSocket, a packet a datastream",
  run,
};

/** Where a connection begins: after a cursor, or with the latest values. */
interface Beginning {
  cursor?: string;
  gap?: Gap;
  payload?: Payload;
}

/** What a code of a CONNACK or SUBACK is as a status of HTTP (MQTT 5.0 section 2.4); others may pass. */
const STATUS_OF_CONNACK: Record<number, number> = { 134: 401, 135: 401 };
const STATUS_OF_SUBACK: Record<number, number> = { 135: 403, 143: 400 };

/** A filter that nobody subscribes to: taking it back asks for an answer and changes nothing. */
const NOBODY = "$weir";

async function run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void> {
  const library = import("mqtt");
  const [loaded, beginning] = await Promise.all([library, begin(subscription, signal)]);
  if (signal.aborted) return;
  // What it is built into for browsers has no other export.
  const { connect, ReasonCodes } = loaded.default;
  const address = addressOf(subscription.base);
  const client = connect(address.href, optionsOf(subscription, address));
  const words = (code: number) => ReasonCodes[code as keyof typeof ReasonCodes] ?? `code ${code}`;
  const opened = await follow(new Following(client, subscription, sink, signal), beginning, words, signal);
  if (!opened && !signal.aborted)
    await refusal(subscription, signal, "the gateway took no MQTT connection");
}

/** `/mqtt` beside the page. */
export function addressOf(base: URL): URL {
  const url = new URL("mqtt", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url;
}

/** The topic filters of a SUBSCRIBE: what the gateway delivers in a format. */
export function filtersOf(subscription: Subscription): string[] {
  return subscription.filters.map((filter) => `$as/${subscription.format.name}/${filter}`);
}

async function begin(subscription: Subscription, signal: AbortSignal): Promise<Beginning> {
  if (subscription.since !== undefined) return { cursor: subscription.since };
  const response = await latest(subscription, signal);
  // The stamp of this answer says nothing about the packets that follow, which have none.
  const { sent: _, ...beginning } = controlOfHeaders(response.headers);
  return { ...beginning, payload: await payloadOf(response, subscription.format) };
}

function optionsOf(subscription: Subscription, address: URL): IClientOptions {
  const options: IClientOptions = {
    protocolVersion: 5,
    // The gateway gives it a name, and forgets it when it ends.
    clientId: "",
    clean: true,
    keepalive: KEEP_ALIVE_S,
    connectTimeout: CONNECT_MS,
    reconnectPeriod: 0,
    // The page wakes at least once a minute even when hidden, which this keep-alive outlasts.
    timerVariant: "native",
    properties: { maximumPacketSize: MESSAGE_BYTES_MAX },
    // The library would put the address together anew, without the brackets of IPv6.
    createWebsocket: (_url, protocols) => new WebSocket(address, protocols),
  };
  // A token is a password, whoever the user.
  if (subscription.token !== undefined) {
    options.username = "token";
    options.password = subscription.token;
  }
  return options;
}

/** Follows one connection; resolves when it ends, saying whether the gateway accepted it. */
function follow(
  following: Following,
  beginning: Beginning,
  words: (code: number) => string,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const { client, publications } = following;
    let opened = false;
    const fail = (error: Error) => {
      reject(error);
      client.end(true);
    };
    const end = () => {
      resolve(opened);
      client.end(true);
    };
    client.on("connect", () => {
      opened = true;
      following.subscribe(beginning).catch((error) => fail(refused(error, STATUS_OF_SUBACK)));
    });
    client.on("message", (_topic, payload, { properties, length = payload.length }) => {
      const publication = { payload, properties: properties?.userProperties, bytes: length };
      try {
        publications.take(publication, performance.now());
      } catch (error) {
        fail(error as Error);
      }
    });
    client.on("disconnect", ({ properties, reasonCode }) =>
      fail(new Error(properties?.reasonString ?? words(reasonCode ?? 0))),
    );
    client.on("error", (error) => fail(refused(error, STATUS_OF_CONNACK)));
    client.on("close", end);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** One connection and what comes by it. */
class Following {
  readonly publications: Publications;

  constructor(
    readonly client: MqttClient,
    private readonly subscription: Subscription,
    private readonly sink: Sink,
    private readonly signal: AbortSignal,
  ) {
    this.publications = new Publications(sink, subscription.format.binary, this.position());
  }

  /** Shows what there is, then asks for what comes after it. */
  async subscribe({ payload, ...beginning }: Beginning): Promise<void> {
    this.sink.opened();
    if (payload !== undefined && payload.length > 0) this.sink.message(payload, performance.now());
    this.sink.control(beginning);
    const userProperties: UserProperties = { [CURSOR]: beginning.cursor ?? "" };
    // `rh: 2`: no retained messages, which the latest values stand for.
    await this.client.subscribeAsync(filtersOf(this.subscription), {
      qos: 0,
      rh: 2,
      properties: { userProperties },
    });
  }

  private position(): Position {
    const tell = (cursor: string) => this.sink.control({ cursor });
    if (this.subscription.filters.length === 1) return new InTurn(tell);
    const wait = (ms: number) => sleep(ms, this.signal);
    return new Aged(tell, () => this.client.unsubscribeAsync(NOBODY), wait);
  }
}

/** An error with the code of an answer as a status of HTTP, where no retry would change the answer. */
export function refused(error: Error & { code?: unknown }, statuses: Record<number, number>): Error {
  const status = typeof error.code === "number" ? statuses[error.code] : undefined;
  return status === undefined ? error : new Refused(status, error.message);
}
