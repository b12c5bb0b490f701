import { AMQPWebSocketClient } from "@cloudamqp/amqp-client/amqp-websocket-client";

import type { At, Client } from "./client";

const EXCHANGE = "amq.topic";
const PROPERTIES = { contentType: "application/json" };

/** AMQP 0.9.1's connection.open-ok with no known hosts: a method frame of five bytes, 10.41 and an empty string. */
const OPEN_OK = new Uint8Array([1, 0, 0, 0, 0, 0, 5, 0, 10, 0, 41, 0, 0xce]);
const METHOD_AT = 7;
const METHOD_BYTES = 4;

/** The routing key of a topic or filter: levels are words, as the gateway's own client maps them. */
const keyOf = (topic: string) => topic.replaceAll("/", ".").replaceAll("+", "*");

/** @cloudamqp/amqp-client, nothing acknowledged, a queue that ends with the page. */
export async function connectAmqp091(at: At): Promise<Client> {
  const [user, password] = [at.user ?? "guest", at.password ?? "guest"];
  const connection = new AMQPWebSocketClient(at.url, "/", user, password);
  hideKnownHosts(connection);
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

/**
 * Has the client see no known hosts, whatever the broker names: @cloudamqp/amqp-client 4.1 takes them for empty, as
 * RabbitMQ sends them, and understands nothing behind the `/` of Qpid Broker-J.
 */
function hideKnownHosts(connection: AMQPWebSocketClient) {
  const inner = connection as unknown as { handleMessage: (event: { data: ArrayBuffer }) => void };
  const handle = inner.handleMessage.bind(connection);
  let isOpen = false;
  inner.handleMessage = (event) => {
    if (isOpen) return handle(event);
    isOpen = methodOf(event.data) === methodOf(OPEN_OK.buffer);
    handle(isOpen ? { data: OPEN_OK.buffer } : event);
  };
}

/** Class and method of the frame that a message begins with. */
function methodOf(message: ArrayBuffer): string {
  return new Uint8Array(message).slice(METHOD_AT, METHOD_AT + METHOD_BYTES).join(".");
}
