/** THE list of delivery schemes, in the order of the menu; keys 1 to 5 pick them. */

import type { Delivery } from "./delivery";
import { longPolling } from "./longpolling";
import { polling } from "./polling";
import { sse } from "./sse";
import { streaming } from "./streaming";
import { webSocket } from "./websocket";

export const DELIVERIES: readonly Delivery[] = [polling, longPolling, streaming, sse, webSocket];
