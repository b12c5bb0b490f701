// One request, printed as an object: node coap.mjs METHOD URL [BODY]
// Observation, so many lines of them: node coap.mjs OBSERVE URL COUNT
import coap from "coap";

const [method, address, argument] = process.argv.slice(2);
const url = new URL(address.replace(/^coap:/, "http:"));
const observe = method === "OBSERVE";
const request = coap.request({
  hostname: url.hostname,
  port: url.port,
  pathname: url.pathname,
  query: url.search.slice(1),
  method: observe ? "GET" : method,
  observe,
});

function failed(error) {
  console.error(error.message);
  process.exit(1);
}

request.on("error", failed);
request.on("response", (response) => {
  const print = (body) =>
    console.log(JSON.stringify({ code: response.code, format: response.headers["Content-Format"], body: body.toString() }));
  if (!observe) {
    print(response.payload);
    return;
  }
  let left = Number(argument);
  response.on("error", failed);
  response.on("data", (body) => {
    if (left > 0) print(body);
    left -= 1;
    if (left === 0) {
      response.close();
      setTimeout(() => process.exit(0), 200);
    }
  });
});
if (!observe && argument !== undefined) {
  if (argument.length > 1024) request.setOption("Block1", Buffer.of(0x6));
  request.setOption("Content-Format", "text/plain");
  request.write(argument);
}
request.end();
