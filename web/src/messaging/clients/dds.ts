import type { At, Client } from "./client";

/** What the bench's clients publish to. */
const TOPICS = ["heating", "heating/substation-1"];
const FORMAT = "weir.plain";
const CONTROL = '{"weir":';

/**
 * A domain of DDS by the WebSocket of the gateway in it, which no library is needed for. A message is the result of
 * one observation; plain text is that result alone. A topic that is published to has a connection of its own.
 */
export async function connectDds(at: At): Promise<Client> {
  const bytes = new TextEncoder();
  const writers = new Map<string, WebSocket>();
  for (const topic of TOPICS) writers.set(topic, await open(`${at.url}/${topic}?publish`));
  const client: Client = {
    publish: (topic, payload) => writers.get(topic)?.send(asText(payload)),
    onmessage: () => {},
  };
  const reader = await open(`${at.url}/${at.topic}?bare`);
  reader.onmessage = ({ data }: MessageEvent<string>) => {
    if (data && !data.startsWith(CONTROL)) client.onmessage(bytes.encode(data));
  };
  return client;
}

function open(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, FORMAT);
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onclose = () => reject(new Error(`${url}: the gateway closed the connection`));
  });
}

function asText(payload: string | Uint8Array): string {
  return typeof payload === "string" ? payload : new TextDecoder().decode(payload);
}
