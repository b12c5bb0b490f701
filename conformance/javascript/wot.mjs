// A consumer of a Thing Description, node-wot, does one thing to a property and prints what it gets, a line each:
// node wot.mjs SCHEME OPERATION TD-URL PROPERTY [VALUE | COUNT]
import core from "@node-wot/core";
import http from "@node-wot/binding-http";
import coap from "@node-wot/binding-coap";
import mqtt from "@node-wot/binding-mqtt";

const [scheme, operation, address, property, argument] = process.argv.slice(2);
const factories = {
  http: () => new http.HttpClientFactory(),
  coap: () => new coap.CoapClientFactory(),
  mqtt: () => new mqtt.MqttClientFactory(),
};
const servient = new core.Servient();
servient.addClientFactory(factories[scheme]());
const wot = await servient.start();
const description = await (await fetch(address)).json();
const thing = await wot.consume(description);

const print = async (output) => console.log(JSON.stringify(await output.value()));
if (operation === "read") {
  await print(await thing.readProperty(property));
} else if (operation === "write") {
  await thing.writeProperty(property, JSON.parse(argument));
  // What has not left yet goes with the connection's end.
  await servient.shutdown();
  console.log("written");
} else {
  let left = Number(argument);
  await thing.observeProperty(property, async (output) => {
    // Values are taken as they come, whoever of them is read first.
    left -= 1;
    const number = left;
    if (number >= 0) await print(output);
    if (number === 0) process.exit(0);
  });
  console.error("observing");
}
if (operation !== "observe") process.exit(0);
