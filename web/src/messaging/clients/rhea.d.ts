/** The one file of rhea that runs in a page: its own types are of the module for Node.js. */
declare module "rhea/dist/rhea-umd.js" {
  interface Context {
    connection: { properties?: Record<string, unknown> };
    message: { body: string | Uint8Array | { content: Uint8Array } };
    error?: { message?: string };
  }
  interface Emitter {
    on(event: string, listener: (context: Context) => void): void;
    once(event: string, listener: (context: Context) => void): void;
  }
  interface Sender extends Emitter {
    send(message: Record<string, unknown>): void;
    sendable(): boolean;
  }
  interface Connection extends Emitter {
    open_sender(options: Record<string, unknown>): Sender;
    open_receiver(options: Record<string, unknown>): Emitter;
  }
  const rhea: {
    websocket_connect(socket: typeof WebSocket): (url: string, protocols: string[], options: object) => unknown;
    connect(options: Record<string, unknown>): Connection;
    message: { data_section(bytes: Uint8Array): unknown };
  };
  export default rhea;
}
