/**
 * The encoding `msgpack`: the members of the JSON message in MessagePack, for a page without the codec, which
 * reads it faster (list.ts). Its timestamps (extension -1) are read as seconds: a `Date` would cut them to
 * milliseconds.
 */

import { Decoder, ExtensionCodec } from "@msgpack/msgpack";
import { bytes, DecodeError, type Format } from "./format";
import { observationsOf } from "./json";

const TIMESTAMP = -1;
const extensions = new ExtensionCodec();
extensions.register({ type: TIMESTAMP, encode: () => null, decode: secondsOf });

const decoder = new Decoder({ extensionCodec: extensions });

export const msgpack: Format = {
  name: "msgpack",
  media: "application/msgpack",
  binary: true,
  topics: true,
  decode: (payload, topic) => observationsOf(decode(bytes(payload)), topic),
};

function decode(payload: Uint8Array): unknown {
  try {
    return decoder.decode(payload);
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : "not MessagePack");
  }
}

/** Seconds since the epoch from the 32, 64 or 96 bits of a timestamp. */
export function secondsOf(data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  switch (data.length) {
    case 4:
      return view.getUint32(0);
    case 8:
      // 30 bits of nanoseconds, then 34 of seconds.
      return (view.getUint32(0) % 4) * 2 ** 32 + view.getUint32(4) + (view.getUint32(0) >>> 2) / 1e9;
    case 12:
      return Number(view.getBigInt64(4)) + view.getUint32(0) / 1e9;
    default:
      throw new DecodeError(`a timestamp of ${data.length} bytes`);
  }
}
