// Publishes to an AMQP 0.9.1 broker and receives from it, and prints what came as one object: node amqp091.mjs URL OUT IN,
// where OUT is the routing key of what it publishes, and IN the pattern of what it waits for. "bound" is said once
// messages by IN reach it.
import { AMQPClient } from "@cloudamqp/amqp-client";

const [url, out, pattern] = process.argv.slice(2);
const connection = await new AMQPClient(url).connect();
const channel = await connection.channel();
await channel.confirmSelect();
const queue = await channel.queueDeclare("", { exclusive: true });
await channel.queueBind(queue.name, "amq.topic", pattern);
await channel.basicConsume(queue.name, { noAck: false }, async (message) => {
  const { contentType, deliveryMode } = message.properties;
  console.log(JSON.stringify({ key: message.routingKey, body: message.bodyString(), contentType, deliveryMode }));
  await message.ack();
  await connection.close();
});
await channel.basicPublish("amq.topic", out, '{"value": 3.5}', { contentType: "application/json", deliveryMode: 2 });
console.log("bound");
