/**
 * The clients of a page: a file of `clients/` and a line of `CLIENTS` a protocol, by the libraries that people use.
 *
 * Nothing is asked of a client but to publish and to hand on what comes, so that a page is the same by every
 * protocol. The native clients are in `bench/studies/src/messaging/protocols`. A library that only some pages need
 * is imported when its protocol is wanted.
 */

import type { At, Client } from "./clients/client";
import { connectDds } from "./clients/dds";
import { connectMqtt } from "./clients/mqtt";

export type { At, Client } from "./clients/client";

export const CLIENTS: Record<string, (at: At) => Promise<Client>> = {
  mqtt: connectMqtt,
  amqp091: (at) => import("./clients/amqp091").then((it) => it.connectAmqp091(at)),
  amqp10: (at) => import("./clients/amqp10").then((it) => it.connectAmqp10(at)),
  dds: connectDds,
  xmpp: (at) => import("./clients/xmpp").then((it) => it.connectXmpp(at)),
};
