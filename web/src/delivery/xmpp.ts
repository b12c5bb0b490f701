/**
 * XMPP through somebody's server: strophe.js by its WebSocket (RFC 7395), which is loaded when the scheme is first
 * chosen. The gateway is a publish-subscribe service there (XEP-0060); where, its host metadata say.
 *
 * As by MQTT the latest values and the cursor to begin at come by a request; then a node is subscribed to for each
 * filter behind that cursor, in the format wanted. Who the page is on that server, a person says: its users are not
 * the gateway's.
 */

import {
  controlOfHeaders,
  type Delivery,
  latest,
  payloadOf,
  Refused,
  type Sink,
  type Subscription,
} from "./delivery";
import { filtersOf } from "./mqtt";
import { Aged, InTurn, type Position } from "./positions";
import { Publications } from "./publications";
import { sleep } from "./sleep";

/** Relations of the links that say where (XEP-0156). */
export const SERVICE = "http://jabber.org/protocol/pubsub";
export const WEBSOCKET = "urn:xmpp:alt-connections:websocket";

export const xmpp: Delivery = {
  id: "xmpp",
  label: "XMPP",
  hint: "XMPP over WebSocket by a server of yours, a message an item",
  needs: WEBSOCKET,
  run,
};

async function run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void> {
  const { account } = subscription;
  const { service, websocket } = await placeOf(subscription, signal);
  if (account === undefined) throw new Refused(401, "an account of the XMPP server is wanted", undefined, "xmpp");
  const client = import("./xmpp-client");
  let since = subscription.since;
  const first = since === undefined ? await latest(subscription, signal) : undefined;
  const control = first === undefined ? {} : controlOfHeaders(first.headers);
  const payload = first === undefined ? undefined : await payloadOf(first, subscription.format);
  since ??= control.cursor;
  const { XmppSubscriber } = await client;
  if (signal.aborted) return;
  const subscriber = new XmppSubscriber(websocket, service);
  const publications = new Publications(sink, subscription.format.binary, positionOf());
  signal.addEventListener("abort", () => subscriber.leave(), { once: true });

  function positionOf(): Position {
    const tell = (cursor: string) => sink.control({ cursor });
    if (subscription.filters.length === 1) return new InTurn(tell);
    return new Aged(tell, () => subscriber.roundTrip(), (ms) => sleep(ms, signal));
  }

  try {
    await subscriber.logIn(account);
    if (signal.aborted) return;
    sink.opened();
    if (payload !== undefined && payload.length > 0) sink.message(payload, performance.now());
    sink.control(control);
    await subscriber.follow(filtersOf(subscription), since, (publication) =>
      publications.take(publication, performance.now()),
    );
  } finally {
    subscriber.leave();
  }
}

/** Where the service is, and the WebSocket of its server. */
async function placeOf({ base }: Subscription, signal: AbortSignal): Promise<{ service: string; websocket: string }> {
  const links = await linksOf(base, signal);
  const [service, websocket] = [links.get(SERVICE)?.replace(/^xmpp:/, ""), links.get(WEBSOCKET)];
  if (service === undefined || websocket === undefined)
    throw new Refused(404, "this gateway is behind no XMPP server that pages reach: see xmpp.websocket");
  return { service, websocket };
}

/** The gateway's links by their relations (RFC 6415); none where it says none. */
export async function linksOf(base: URL, signal?: AbortSignal): Promise<Map<string, string>> {
  const request = signal === undefined ? {} : { signal };
  const response = await fetch(new URL(".well-known/host-meta.json", base), request);
  if (!response.ok) return new Map();
  const { links = [] } = (await response.json()) as { links?: { rel: string; href: string }[] };
  return new Map(links.map(({ rel, href }) => [rel, href]));
}
