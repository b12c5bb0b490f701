// strophe.js, a browser's XMPP, in Node.js through a server's WebSocket (RFC 7395): node strophe.mjs URL USER PASSWORD
// SERVICE NODE. Prints each item with JSON as a line, and publishes each line that it is given.
import { createInterface } from "node:readline";
import { $iq, $pres, Strophe } from "strophe.js";

const [url, user, password, service, node] = process.argv.slice(2);
const PUBSUB = "http://jabber.org/protocol/pubsub";
const JSON_CONTAINER = "urn:xmpp:json:0";
const say = (told) => console.log(JSON.stringify(told));
const fail = (error) => {
  console.error(error);
  process.exit(1);
};

// What it logs, it would log among the lines.
Strophe.setLogLevel(Strophe.LogLevel.FATAL);
const connection = new Strophe.Connection(url);
const ask = (request) =>
  new Promise((resolve, reject) => {
    connection.sendIQ(request, resolve, (error) => reject(new Error(error?.outerHTML ?? String(error))));
    connection.flush();
  });

function hear(message) {
  for (const items of Array.from(message.getElementsByTagName("items"))) {
    for (const item of Array.from(items.getElementsByTagName("item"))) {
      const [json] = Array.from(item.getElementsByTagName("json"));
      say({ node: items.getAttribute("node"), id: item.getAttribute("id"), json: json?.textContent });
    }
  }
  return true;
}

async function publish(line) {
  const { to, json } = JSON.parse(line);
  const request = $iq({ type: "set", to: service }).c("pubsub", { xmlns: PUBSUB }).c("publish", { node: to }).c("item");
  const answer = await ask(request.c("json", { xmlns: JSON_CONTAINER }).t(json));
  say({ published: answer.getElementsByTagName("item")[0].getAttribute("id") });
}

async function begin() {
  connection.addHandler(hear, null, "message");
  connection.send($pres({ to: service }));
  const pubsub = $iq({ type: "set", to: service }).c("pubsub", { xmlns: PUBSUB });
  await ask(pubsub.c("subscribe", { node, jid: connection.jid }));
  say({ subscribed: connection.jid });
  for await (const line of createInterface({ input: process.stdin })) await publish(line);
  connection.disconnect("");
}

connection.connect(user, password, (status, condition) => {
  const { CONNECTED, AUTHFAIL, CONNFAIL, CONNTIMEOUT, ERROR, DISCONNECTED } = Strophe.Status;
  if (status === AUTHFAIL) fail(`${url} refuses ${user}: ${condition ?? "not-authorized"}`);
  if (status === CONNECTED) begin().catch(fail);
  if ([CONNFAIL, CONNTIMEOUT, ERROR].includes(status)) fail(`${url}: ${condition ?? `status ${status}`}`);
  if (status === DISCONNECTED) process.exit(0);
});
