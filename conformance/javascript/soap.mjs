// Calls every operation of the web service by a client that npm `soap` makes of its WSDL, and prints what it got,
// a line of JSON each: node soap.mjs WSDL
import soap from "soap";

const BEGIN = "2026-01-01T00:00:00Z";
const say = (port, what, value) => console.log(JSON.stringify({ port, what, value }));

/** The client of a port; in 1.2 the library must be told so. */
async function client(port) {
  const options = { forceSoap12Headers: port === "Soap12" };
  const made = await soap.createClientAsync(process.argv[2], options);
  return made.Observations[port];
}

/** A call; the operation's answer without what the library adds. */
function call(service, operation, request) {
  return new Promise((resolve, reject) => {
    service[operation](request, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

function whole(topic) {
  return {
    topic,
    sensor: "urn:example:sensor",
    type: "temperature",
    number: 21.5,
    unit: "Cel",
    time: BEGIN,
    latitude: 44.8,
    longitude: 20.4,
    feature: "urn:example:hall",
    end: "2026-01-01T00:00:30Z",
    resultTime: "2026-01-01T00:01:00Z",
    validTime: { from: BEGIN, to: "2026-01-02T00:00:00Z" },
    quality: "good & checked",
    parameters: '{"depth":1.5}',
  };
}

for (const port of ["Soap11", "Soap12"]) {
  const service = await client(port);
  const topic = `npm/${port}`;
  const door = { topic: `${topic}/door`, boolean: true };
  say(port, "publish", await call(service, "publish", { topic, observation: [whole(`${topic}/t`), door] }));
  const later = { topic: `${topic}/t`, number: 22, time: "2026-01-01T00:01:00Z" };
  await call(service, "publish", { topic, observation: [later] });
  say(port, "latest", await call(service, "latest", { filter: [`${topic}/#`] }));
  const first = await call(service, "history", { filter: [`${topic}/t`], from: BEGIN, limit: 1 });
  say(port, "history", first);
  const { next: page } = first;
  say(port, "history", await call(service, "history", { filter: [`${topic}/t`], from: BEGIN, limit: 1, page }));
  say(port, "describe", await call(service, "describe", { filter: [`${topic}/t`] }));
  try {
    await call(service, "publish", { topic, observation: [{ topic: "elsewhere", number: 1 }] });
  } catch (error) {
    say(port, "fault", error.message);
  }
}
