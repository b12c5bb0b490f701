/** WebSocket with subprotocol `weir.ENC`: messages in text or binary frames, controls in text frames. */

import {
  type Delivery,
  liveUrl,
  paceOf,
  position,
  readControl,
  refusal,
  type Sink,
  type Subscription,
} from "./delivery";

export const webSocket: Delivery = {
  id: "websocket",
  label: "WebSocket",
  hint: "one connection, a frame a message",
  run,
};

async function run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void> {
  const query = { ...position(subscription), ...paceOf(subscription) };
  if (subscription.token !== undefined) query["access_token"] = subscription.token;
  const url = liveUrl(subscription, query);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url, `weir.${subscription.format.name}`);
  socket.binaryType = "arraybuffer";
  const { pacer } = subscription;
  socket.addEventListener("open", () => pacer?.tell((cost) => socket.send(`{"weir":{"pace":"${cost}"}}`)));
  const ended = await follow(socket, sink, signal);
  pacer?.tell(undefined);
  if (signal.aborted) return;
  if (!ended.opened) await refusal(subscription, signal, "the WebSocket did not open");
  if (ended.reason !== "") throw new Error(ended.reason);
}

/** Hands on frames until the socket closes; says whether it ever opened, and the close reason. */
function follow(
  socket: WebSocket,
  sink: Sink,
  signal: AbortSignal,
): Promise<{ opened: boolean; reason: string }> {
  return new Promise((resolve) => {
    let opened = false;
    socket.onopen = () => {
      opened = true;
      sink.opened();
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => frame(event.data, sink);
    socket.onclose = (event) => resolve({ opened, reason: event.reason });
    const end = () => {
      socket.onmessage = null;
      socket.close();
      resolve({ opened, reason: "" });
    };
    signal.addEventListener("abort", end, { once: true });
  });
}

function frame(data: string | ArrayBuffer, sink: Sink): void {
  const arrival = performance.now();
  if (typeof data !== "string") return sink.message(new Uint8Array(data), arrival);
  const control = readControl(data);
  if (control !== undefined) sink.control(control);
  else sink.message(data, arrival);
}
