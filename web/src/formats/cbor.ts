/**
 * The encoding `cbor`: the members of the JSON message in CBOR (RFC 8949).
 *
 * Times keep their tags' own kind, text (tag 0) or seconds (tag 1): a `Date` would cut them to milliseconds.
 */

import { addExtension, Decoder } from "cbor-x/decode-no-eval";
import { bytes, DecodeError, type Format } from "./format";
import { observationsOf } from "./json";

class Instant {}
addExtension({ Class: Instant, tag: 0, encode: unused, decode: (text: unknown) => text });
addExtension({ Class: Instant, tag: 1, encode: unused, decode: (seconds: unknown) => seconds });

const objects = new Decoder({ mapsAsObjects: true, useRecords: false });
const maps = new Decoder({ mapsAsObjects: false, useRecords: false });

export const cbor: Format = {
  name: "cbor",
  media: "application/cbor",
  binary: true,
  topics: true,
  decode: (payload, topic) => observationsOf(decodeCbor(bytes(payload), "objects"), topic),
};

/** Reads one CBOR item, maps as objects or, for labels that are numbers, as `Map`. */
export function decodeCbor(payload: Uint8Array, how: "objects" | "maps"): unknown {
  try {
    return (how === "objects" ? objects : maps).decode(payload);
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : "not CBOR");
  }
}

function unused(): never {
  throw new Error("this page reads CBOR and writes none");
}
