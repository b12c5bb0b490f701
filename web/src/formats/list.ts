/**
 * THE list of formats the dashboard reads with the browser's own or a JavaScript decoder, in the order of the
 * menu. All others that the gateway has are read by its own codec as WebAssembly and follow by themselves.
 */

import { byCodec } from "./by-codec";
import { cbor } from "./cbor";
import type { Codec, FormatRow } from "./codec";
import { csv } from "./csv";
import type { Format } from "./format";
import { json } from "./json";
import { msgpack } from "./msgpack";
import { plain } from "./plain";
import { protobuf } from "./protobuf";
import { senmlCbor, senmlJson } from "./senml";
import { xml } from "./xml";

export const FORMATS: readonly [Format, ...Format[]] = [
  json,
  senmlJson,
  xml,
  csv,
  plain,
  cbor,
  senmlCbor,
  msgpack,
  protobuf,
];

/** Formats of the list that the codec reads faster, messages of every size (docs/decisions/0020). */
const FASTER = ["msgpack"];

/** Those of the list, faster where the codec is, then what only the codec reads. */
export function withCodec(codec: Codec): readonly Format[] {
  const row = (name: string) => codec.formats[codec.index(name)] as FormatRow;
  const listed = FORMATS.map((format) =>
    FASTER.includes(format.name) ? byCodec(codec, row(format.name)) : format,
  );
  const others = codec.formats.filter(({ name }) => FORMATS.every((format) => format.name !== name));
  return [...listed, ...others.map((row) => byCodec(codec, row))];
}

/** The formats both sides know, in our order; ours alone where the gateway names none. */
export function offered(formats: readonly Format[], names: readonly string[] | undefined): readonly Format[] {
  if (names === undefined) return formats;
  return formats.filter((format) => names.includes(format.name));
}
