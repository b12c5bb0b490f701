/**
 * What browsers have and Node.js has not, filled in under the names of the standards: `WebSocket` by the package `ws`
 * (Node.js 22 has its own), `EventSource` by the file beside this one.
 */

import { FetchEventSource } from "./event-source";

type Socket = new (...parameters: unknown[]) => { on(event: "error", heard: () => void): void };

export async function fillIn(): Promise<void> {
  const missing = globalThis as { EventSource?: unknown; WebSocket?: unknown };
  missing.EventSource ??= FetchEventSource;
  missing.WebSocket ??= quiet((await import("ws" as string)).WebSocket);
}

/** An error that nobody hears ends a program of Node.js; a browser's socket closes, which is heard. */
function quiet(socket: Socket): Socket {
  return class extends socket {
    constructor(...parameters: unknown[]) {
      super(...parameters);
      this.on("error", () => {});
    }
  };
}
