// Sends and receives a message in each settlement mode and prints them as one object: node rhea.mjs URL,
// where the URL is amqp://HOST:PORT or ws://HOST:PORT/amqp. With a token: node rhea.mjs URL TOKEN.
import rhea from "rhea";
import { WebSocket } from "ws";

const [url, token] = process.argv.slice(2);
const { hostname, port, protocol } = new URL(url);
const container = rhea.create_container();
const options = { host: hostname, port: Number(port), reconnect: false };
if (token) Object.assign(options, { username: "any", password: token });
if (protocol === "ws:") {
  const connect = container.websocket_connect(WebSocket);
  options.connection_details = connect(url, ["amqp"], {});
}
const modes = [
  { snd_settle_mode: 1, rcv_settle_mode: 0 },
  { snd_settle_mode: 0, rcv_settle_mode: 0 },
  { snd_settle_mode: 0, rcv_settle_mode: 1 },
];
const came = {};
const outcomes = {};
let open = 0;

container.on("message", ({ message, receiver, delivery }) => {
  came[receiver.source.address] = { body: String(message.body.content ?? message.body), to: message.to };
  delivery.accept();
  finish();
});
container.on("receiver_open", () => {
  if (++open === modes.length) send();
});
for (const outcome of ["accepted", "rejected", "settled"])
  container.on(outcome, ({ sender, delivery }) => {
    // What a receiver settles last is settled for it too.
    if (!sender) return;
    outcomes[sender.target.address] = outcome === "settled" ? (outcomes[sender.target.address] ?? "settled") : outcome;
    if (outcome === "rejected") console.error(delivery.remote_state.error.description);
    finish();
  });
for (const trouble of ["connection_error", "session_error", "sender_error", "receiver_error", "disconnected"])
  container.on(trouble, (context) => {
    const error = context.connection?.error ?? context.session?.error ?? context.error;
    console.error(trouble, error?.condition ?? error?.message ?? "");
    process.exit(1);
  });

const connection = container.connect(options);
modes.forEach((mode, number) => connection.open_receiver({ source: `js/${number}`, ...mode }));

function send() {
  modes.forEach((mode, number) => {
    const sender = connection.open_sender({ target: `js/${number}`, ...mode });
    sender.once("sendable", () => {
      sender.send({ body: number + 0.5, application_properties: { number } });
    });
  });
}

function finish() {
  const settled = Object.keys(outcomes).length === modes.length - 1;
  if (Object.keys(came).length < modes.length || !settled) return;
  console.log(JSON.stringify({ came, outcomes }));
  container.removeAllListeners("disconnected");
  connection.close();
  setTimeout(() => process.exit(0), 100);
}
