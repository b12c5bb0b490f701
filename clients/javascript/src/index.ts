/**
 * A client of the weir gateway for browsers and Node.js: any delivery scheme, resumed behind the last event, every
 * format by the gateway's own codec.
 *
 * What speaks to the gateway is the dashboard's (`web/src/delivery`, `web/src/formats`); here stands only what a
 * program wants around it. Draws nothing and keeps nothing.
 */

export { Refused } from "../../../web/src/delivery/delivery";
export type { State } from "../../../web/src/delivery/session";
export { Codec, type Columns, DecodeError, KIND, type Observation, type Value } from "../../../web/src/formats/codec";
export { Message, type Event, type Gap } from "./events";
export { Gateway, type Access, type Asked, type Datastream, type Members, type Range } from "./gateway";
export type { Subscription } from "./subscription";
