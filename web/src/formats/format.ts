/**
 * What a format is to the dashboard: a name as in the gateway's table of encodings, the shape of its payload,
 * and a decoder. Adding a format costs its file and one line in `list.ts`; the menu is derived from there.
 */

import { DecodeError, type Observation, type Payload } from "./codec";

export { DecodeError, type Payload };

/** One encoding of a message. */
export interface Format {
  /** The encoding's name: `as=` in a URL, `weir.NAME` as a WebSocket subprotocol. */
  name: string;
  /** Media type, for `Accept`. */
  media: string;
  binary: boolean;
  /** Whether a message may span lines, so that in a stream only the control line ends it. */
  multiline?: boolean;
  /** Whether a message says which datastreams it carries; if not, one datastream is subscribed at a time. */
  topics: boolean;
  /** Reads a message; `topic` stands in where the format carries none. Throws `DecodeError`. */
  decode(payload: Payload, topic: string): Observation[];
}

export function text(payload: Payload): string {
  if (typeof payload !== "string") throw new DecodeError("binary payload where text was expected");
  return payload;
}

export function bytes(payload: Payload): Uint8Array {
  if (typeof payload === "string") throw new DecodeError("text payload where bytes were expected");
  return payload;
}
