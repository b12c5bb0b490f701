/** THE list of formats the dashboard reads, in the order of the menu. */

import { cbor } from "./cbor";
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

/** The formats both sides know, in our order; ours alone where the gateway names none. */
export function offered(names: readonly string[] | undefined): readonly Format[] {
  if (names === undefined) return FORMATS;
  return FORMATS.filter((format) => names.includes(format.name));
}
