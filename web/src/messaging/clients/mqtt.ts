import mqtt from "mqtt";

import { randomName } from "../../net/random";
import type { At, Client } from "./client";

const CONNECT_MS = 10_000;

/** mqtt.js at quality of service 0, by MQTT 3.1.1, which all brokers speak. */
export function connectMqtt(at: At): Promise<Client> {
  const connection = mqtt.connect(at.url, {
    protocolVersion: 4,
    clientId: `page-${randomName()}`,
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
