import { $iq, Strophe } from "strophe.js";

import type { At, Client } from "./client";

type Connection = InstanceType<typeof Strophe.Connection>;

const SERVICE = "pubsub.localhost";
const PUBSUB = "http://jabber.org/protocol/pubsub";
const JSON_CONTAINER = "urn:xmpp:json:0";
const AGAIN_MS = 50;
const ATTEMPTS_MAX = 200;

/** strophe.js through the server's WebSocket (RFC 7395): an item with JSON (XEP-0335) a message. */
export async function connectXmpp(at: At): Promise<Client> {
  const connection = new Strophe.Connection(at.url);
  await logIn(connection, at);
  const client: Client = {
    publish: (topic, payload) => {
      const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
      const request = $iq({ type: "set", to: SERVICE, id: connection.getUniqueId() })
        .c("pubsub", { xmlns: PUBSUB })
        .c("publish", { node: topic })
        .c("item")
        .c("json", { xmlns: JSON_CONTAINER })
        .t(text);
      connection.send(request);
      // What is sent waits for a timer otherwise.
      connection.flush();
    },
    onmessage: () => {},
  };
  const bytes = new TextEncoder();
  const hear = (message: Element) => {
    for (const json of message.getElementsByTagNameNS(JSON_CONTAINER, "json")) {
      client.onmessage(bytes.encode(json.textContent ?? ""));
    }
    return true;
  };
  connection.addHandler(hear, null, "message", null, null, null);
  await subscribe(connection, at.topic);
  return client;
}

function logIn(connection: Connection, at: At): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.connect(at.user ?? "", at.password ?? "", (status: number, condition?: string | null) => {
      const { CONNECTED, AUTHFAIL, CONNFAIL, CONNTIMEOUT, DISCONNECTED, ERROR } = Strophe.Status;
      const failures: number[] = [AUTHFAIL, CONNFAIL, CONNTIMEOUT, DISCONNECTED, ERROR];
      if (status === CONNECTED) resolve();
      if (failures.includes(status)) {
        reject(new Error(`${at.url}: ${condition ?? `status ${status}`}`));
      }
    });
  });
}

/** Subscribes; the service may be a component that is still on its way. */
async function subscribe(connection: Connection, node: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const request = $iq({ type: "set", to: SERVICE })
      .c("pubsub", { xmlns: PUBSUB })
      .c("subscribe", { node, jid: connection.jid });
    const refused = await new Promise<Element | null>((resolve) => {
      connection.sendIQ(
        request,
        () => resolve(null),
        (error: Element | null) => resolve(error ?? document.createElement("error")),
      );
    });
    if (refused === null) return;
    if (refused.getElementsByTagName("service-unavailable").length === 0) {
      throw new Error(`no subscription: ${refused.outerHTML}`);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  throw new Error("the publish-subscribe service does not come");
}
