/**
 * The clients of a page: one line of `CLIENTS` a protocol, by the libraries that people use.
 *
 * Nothing is asked of a client but to publish and to hand on what comes, so that a page is the same by every
 * protocol. The native clients are in `crates/bench/src/messaging/protocols.rs`.
 */

import mqtt from "mqtt";

/** Where a broker is and what to subscribe to. */
export interface At {
  protocol: string;
  url: string;
  user: string | null;
  password: string | null;
  topic: string;
}

export interface Client {
  publish(topic: string, payload: string | Uint8Array): void;
  /** Called with every message, as soon as the library has it whole. */
  onmessage: (payload: Uint8Array) => void;
}

export const CLIENTS: Record<string, (at: At) => Promise<Client>> = {
  mqtt: connectMqtt,
};

const CONNECT_MS = 10_000;

/** mqtt.js at quality of service 0, by MQTT 3.1.1, which all brokers speak. */
function connectMqtt(at: At): Promise<Client> {
  const connection = mqtt.connect(at.url, {
    protocolVersion: 4,
    clientId: `page-${crypto.randomUUID()}`,
    clean: true,
    keepalive: 0,
    connectTimeout: CONNECT_MS,
    reconnectPeriod: 0,
    ...(at.user !== null && at.password !== null ? { username: at.user, password: at.password } : {}),
  });
  const client: Client = {
    publish: (topic, payload) => {
      connection.publish(topic, payload as string);
    },
    onmessage: () => {},
  };
  connection.on("message", (_topic, payload) => client.onmessage(payload));
  return new Promise((resolve, reject) => {
    connection.on("error", reject);
    connection.on("close", () => reject(new Error(`${at.url}: the broker closed the connection`)));
    connection.on("connect", () => {
      connection.subscribe(at.topic, { qos: 0 }, (error) => (error ? reject(error) : resolve(client)));
    });
  });
}
