import { AMQPWebSocketClient } from "@cloudamqp/amqp-client/amqp-websocket-client";

import type { At, Client } from "./client";

const EXCHANGE = "amq.topic";
const PROPERTIES = { contentType: "application/json" };

/** The routing key of a topic or filter: levels are words, as the gateway's own client maps them. */
const keyOf = (topic: string) => topic.replaceAll("/", ".").replaceAll("+", "*");

/** @cloudamqp/amqp-client, nothing acknowledged, a queue that ends with the page. */
export async function connectAmqp091(at: At): Promise<Client> {
  const [user, password] = [at.user ?? "guest", at.password ?? "guest"];
  const connection = new AMQPWebSocketClient(at.url, "/", user, password);
  await connection.connect();
  const channel = await connection.channel();
  const client: Client = {
    publish: (topic, payload) => {
      void channel.basicPublish(EXCHANGE, keyOf(topic), payload, PROPERTIES);
    },
    onmessage: () => {},
  };
  const queue = await channel.queueDeclare("", { exclusive: true, autoDelete: true, durable: false });
  await channel.queueBind(queue.name, EXCHANGE, keyOf(at.topic));
  await channel.basicConsume(queue.name, { noAck: true }, (message) => {
    client.onmessage(message.body ?? new Uint8Array());
  });
  return client;
}
