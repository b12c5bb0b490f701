// @xmpp/client through a server's WebSocket (RFC 7395): node xmpp.mjs URL USER PASSWORD SERVICE NODE. Prints each item
// with JSON as a line, and publishes each line that it is given.
import { createInterface } from "node:readline";
import { client, xml } from "@xmpp/client";
import { WebSocket } from "ws";

// Node.js has one of its own from version 22 on.
globalThis.WebSocket ??= WebSocket;

const [url, user, password, service, node] = process.argv.slice(2);
const PUBSUB = "http://jabber.org/protocol/pubsub";
const JSON_CONTAINER = "urn:xmpp:json:0";
const say = (told) => console.log(JSON.stringify(told));
const fail = (error) => {
  console.error(error);
  process.exit(1);
};

const [username, domain] = user.split("@");
const xmpp = client({ service: url, domain, username, password });
const ask = (content) => xmpp.iqCaller.set(xml("pubsub", { xmlns: PUBSUB }, content), service);

xmpp.on("error", fail);
xmpp.on("stanza", (stanza) => {
  const items = stanza.is("message") ? stanza.getChild("event")?.getChild("items") : undefined;
  for (const item of items?.getChildren("item") ?? []) {
    say({ node: items.attrs.node, id: item.attrs.id, json: item.getChild("json", JSON_CONTAINER)?.text() });
  }
});

async function publish(line) {
  const { to, json } = JSON.parse(line);
  const item = xml("item", {}, xml("json", { xmlns: JSON_CONTAINER }, json));
  const answer = await ask(xml("publish", { node: to }, item));
  say({ published: answer.getChild("publish").getChild("item").attrs.id });
}

xmpp.on("online", async (jid) => {
  await xmpp.send(xml("presence", { to: service }));
  await ask(xml("subscribe", { node, jid: jid.toString() }));
  say({ subscribed: jid.toString() });
  for await (const line of createInterface({ input: process.stdin })) await publish(line);
  await xmpp.stop();
});

await xmpp.start().catch(fail);
