/** The encoding `msgpack`: the members of the JSON message in MessagePack. */

import { Unpackr } from "msgpackr";
import { bytes, DecodeError, type Format } from "./format";
import { observationsOf } from "./json";

const decoder = new Unpackr({ mapsAsObjects: true, useRecords: false });

export const msgpack: Format = {
  name: "msgpack",
  media: "application/msgpack",
  binary: true,
  topics: true,
  decode: (payload, topic) => observationsOf(decode(bytes(payload)), topic),
};

function decode(payload: Uint8Array): unknown {
  try {
    return decoder.unpack(payload);
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : "not MessagePack");
  }
}
