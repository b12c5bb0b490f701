/**
 * CometD's Bayeux, by long polling or by WebSocket: what paper 000's time pushed messages with. For the measuring
 * page alone, which sets the gateway beside it; the dashboard follows the gateway.
 *
 * A client shakes hands, subscribes, and keeps one `/meta/connect` open, with whose answer messages come. What a
 * message carries is a text; reading it out of its envelope is part of decoding, so arrivals are taken before.
 */

import { accepted, type Delivery, type Sink, type Subscription } from "./delivery";

/** A message of Bayeux, as far as it is read here. */
interface Message {
  channel: string;
  clientId?: string;
  successful?: boolean;
  error?: string;
  data?: unknown;
}

/** How Bayeux is carried. */
export type Transport = "long-polling" | "websocket";

const HANDSHAKE = "/meta/handshake";
const SUBSCRIBE = "/meta/subscribe";
const CONNECT = "/meta/connect";
const DISCONNECT = "/meta/disconnect";

/** CometD at an address, by a transport; the subscription's first filter, without its wildcard, is the channel. */
export function cometd(address: string, transport: Transport): Delivery {
  const run = transport === "websocket" ? overWebSocket : byLongPolling;
  return {
    id: `cometd-${transport}`,
    label: "CometD",
    hint: "Bayeux",
    run: (subscription, sink, signal) => run(address, channelOf(subscription), sink, signal),
  };
}

function channelOf({ filters: [filter = ""] }: Subscription): string {
  return `/${filter.replace(/\/#$/, "")}`;
}

function handshake(transport: Transport): Message[] {
  const said = { channel: HANDSHAKE, version: "1.0", supportedConnectionTypes: [transport] };
  return [said as Message];
}

function connect(clientId: string, transport: Transport): Message[] {
  return [{ channel: CONNECT, clientId, connectionType: transport } as Message];
}

async function byLongPolling(
  address: string,
  channel: string,
  sink: Sink,
  signal: AbortSignal,
): Promise<void> {
  const url = `http://${address}/cometd/`;
  const ask = async (messages: readonly Message[]): Promise<Message[]> =>
    read(await (await accepted(await post(url, messages, signal))).text(), channel, sink);
  const clientId = clientOf(await ask(handshake("long-polling")));
  await ask([{ channel: SUBSCRIBE, clientId, subscription: channel } as Message]);
  // A session that is left behind is served for seconds more, at the expense of the next.
  const leave = () => void post(url, [{ channel: DISCONNECT, clientId } as Message]).catch(() => {});
  signal.addEventListener("abort", leave, { once: true });
  // The first is answered at once: from then on the server holds them.
  await ask(connect(clientId, "long-polling"));
  const held = ask(connect(clientId, "long-polling"));
  sink.opened();
  await held;
  while (!signal.aborted) await ask(connect(clientId, "long-polling"));
}

function post(url: string, messages: readonly Message[], signal?: AbortSignal): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(messages);
  const request = { method: "POST", headers, body, credentials: "include" as const };
  return fetch(url, signal === undefined ? request : { ...request, signal });
}

function overWebSocket(address: string, channel: string, sink: Sink, signal: AbortSignal): Promise<void> {
  const socket = new WebSocket(`ws://${address}/cometd`);
  const send = (messages: readonly Message[]) => socket.send(JSON.stringify(messages));
  let clientId = "";
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => socket.close(), { once: true });
    socket.onopen = () => send(handshake("websocket"));
    socket.onclose = () => (signal.aborted ? resolve() : reject(new Error("CometD closed the WebSocket")));
    socket.onmessage = ({ data }) => {
      for (const answer of read(data as string, channel, sink)) {
        if (answer.channel === HANDSHAKE) {
          clientId = answer.clientId ?? "";
          send([{ channel: SUBSCRIBE, clientId, subscription: channel } as Message]);
          send(connect(clientId, "websocket"));
        }
        if (answer.channel === SUBSCRIBE) sink.opened();
        if (answer.channel === CONNECT) send(connect(clientId, "websocket"));
      }
    };
  });
}

/** Hands on what is published; gives the answers. */
function read(text: string, channel: string, sink: Sink): Message[] {
  const arrival = performance.now();
  const messages = JSON.parse(text) as Message[];
  for (const { data } of messages.filter((one) => one.channel === channel)) {
    sink.message(typeof data === "string" ? data : JSON.stringify(data), arrival);
  }
  const answers = messages.filter((one) => one.channel !== channel);
  const refused = answers.find(({ successful }) => successful === false);
  if (refused !== undefined) throw new Error(`CometD refuses ${refused.channel}: ${refused.error ?? ""}`);
  return answers;
}

function clientOf(answers: readonly Message[]): string {
  const id = answers.find(({ channel }) => channel === HANDSHAKE)?.clientId;
  if (id === undefined) throw new Error("CometD gives no client identifier");
  return id;
}
