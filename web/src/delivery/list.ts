/** THE list of delivery schemes, in the order of the menu; the digits pick them. */

import { amqp } from "./amqp";
import type { Delivery } from "./delivery";
import { longPolling } from "./longpolling";
import { mqtt } from "./mqtt";
import { polling } from "./polling";
import { sse } from "./sse";
import { streaming } from "./streaming";
import { webSocket } from "./websocket";
import { xmpp } from "./xmpp";

export const DELIVERIES: readonly Delivery[] = [polling, longPolling, streaming, sse, webSocket, mqtt, amqp, xmpp];
