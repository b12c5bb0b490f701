// Publishes and receives a message of each quality, prints them as one object: node mqtt.mjs URL VERSION
import mqtt from "mqtt";

const [url, version] = process.argv.slice(2);
const client = mqtt.connect(url, { protocolVersion: Number(version), reconnectPeriod: 0 });
const came = {};
client.on("connect", () =>
  client.subscribe(`js/${version}/#`, { qos: 2 }, (failed) => {
    if (failed) throw failed;
    for (const qos of [0, 1, 2]) client.publish(`js/${version}/${qos}`, String(qos), { qos });
  }),
);
client.on("message", (topic, payload) => {
  came[topic] = payload.toString();
  if (Object.keys(came).length === 3) {
    console.log(JSON.stringify(came));
    client.end();
  }
});
client.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
