// Prints each event of an SSE stream as one line of JSON: node eventsource.mjs URL [LAST_EVENT_ID]
import { EventSource } from "eventsource";

const [url, last] = process.argv.slice(2);
const source = new EventSource(url, {
  fetch: (input, init) =>
    fetch(input, { ...init, headers: { ...init.headers, ...(last ? { "Last-Event-ID": last } : {}) } }),
});
const print = (event) =>
  console.log(JSON.stringify({ event: event.type, id: event.lastEventId, data: event.data }));
source.addEventListener("message", print);
source.addEventListener("gap", print);
source.addEventListener("error", (event) => console.error(event.message ?? "error"));
