import rhea from "rhea/dist/rhea-umd.js";

import type { At, Client } from "./client";

/** Settled when it is sent (AMQP 1.0 section 2.8.2). */
const SETTLED = 1;
/** Messages that may be under way to the page. */
const CREDIT = 256;
/**
 * The relay's, the standard's, and Qpid's older one. The relay's is first: websockify knows a name only where no
 * space stands before it, and browsers put one behind each comma. Who knows another of the three chooses that.
 */
const SUBPROTOCOLS = ["binary", "amqp", "AMQPWSB10"];
const EXCHANGE = "amq.topic";

/** What a peer calls topics: exchange and key at brokers, as the gateway's own client knows them. */
interface Names {
  target: string | undefined;
  source: (topic: string) => string;
  of: (topic: string) => { to?: string; subject?: string };
}

/** The routing key of a topic or filter: levels are words, as the gateway's own client maps them. */
const keyOf = (topic: string) => topic.replaceAll("/", ".").replaceAll("+", "*");

function names(product: string): Names {
  const of = (topic: string) => ({ subject: keyOf(topic) });
  if (/rabbit/i.test(product)) {
    const exchange = `/exchange/${EXCHANGE}`;
    return { target: exchange, source: (topic) => `${exchange}/${keyOf(topic)}`, of };
  }
  if (/qpid/i.test(product)) {
    return { target: EXCHANGE, source: (topic) => `${EXCHANGE}/${keyOf(topic)}`, of };
  }
  return { target: undefined, source: (topic) => topic, of: (topic) => ({ to: topic }) };
}

const encoder = new TextEncoder();

/** A payload as a data section: of what has a content type the standard wants nothing else (section 3.2.16). */
const section = (payload: string | Uint8Array) =>
  rhea.message.data_section(typeof payload === "string" ? encoder.encode(payload) : payload);

/** A text, or bytes in a data section, which rhea hands over as they are. */
function bytes(body: string | { content: Uint8Array } | Uint8Array): Uint8Array {
  if (typeof body === "string") return encoder.encode(body);
  return body instanceof Uint8Array ? body : body.content;
}

/** rhea: one connection, a link out and a link in. */
export function connectAmqp10(at: At): Promise<Client> {
  const login = at.user === null ? {} : { username: at.user, password: at.password ?? "" };
  const dial = rhea.websocket_connect(WebSocket);
  const connection = rhea.connect({ connection_details: dial(at.url, SUBPROTOCOLS, {}), reconnect: false, ...login });
  return new Promise((resolve, reject) => {
    for (const fault of ["disconnected", "connection_error", "receiver_error", "sender_error"]) {
      connection.on(fault, (context) => reject(new Error(`${at.url}: ${context.error?.message ?? fault}`)));
    }
    connection.once("connection_open", (context) => {
      const named = names(String(context.connection.properties?.["product"] ?? ""));
      const source = { address: named.source(at.topic) };
      const sender = connection.open_sender({ target: { address: named.target }, snd_settle_mode: SETTLED });
      const client: Client = {
        publish: (topic, payload) => {
          sender.send({ ...named.of(topic), content_type: "application/json", body: section(payload) });
        },
        onmessage: () => {},
      };
      connection.on("message", (arrived) => client.onmessage(bytes(arrived.message.body)));
      const receiver = connection.open_receiver({ source, snd_settle_mode: SETTLED, credit_window: CREDIT });
      receiver.once("receiver_open", () => {
        if (sender.sendable()) resolve(client);
        else sender.once("sendable", () => resolve(client));
      });
    });
  });
}
