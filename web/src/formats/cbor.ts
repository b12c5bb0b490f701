/** The encoding `cbor`: the members of the JSON message in CBOR (RFC 8949). */

import { Decoder } from "cbor-x";
import { bytes, DecodeError, type Format } from "./format";
import { observationsOf } from "./json";

const decoder = new Decoder({ mapsAsObjects: true, useRecords: false });

export const cbor: Format = {
  name: "cbor",
  media: "application/cbor",
  binary: true,
  topics: true,
  decode: (payload, topic) => observationsOf(decode(bytes(payload)), topic),
};

function decode(payload: Uint8Array): unknown {
  try {
    return decoder.decode(payload);
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : "not CBOR");
  }
}
