// Prints each frame of a WebSocket as one line of JSON: node ws.mjs URL SUBPROTOCOL
import { WebSocket } from "ws";

const [url, protocol] = process.argv.slice(2);
const socket = new WebSocket(url, protocol);
socket.on("message", (data, binary) =>
  console.log(JSON.stringify({ protocol: socket.protocol, binary, data: data.toString("latin1") })),
);
socket.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
