/**
 * THE list of decoders that the dashboard's are compared with: for a format, what else a page could read it by.
 *
 * All give the same observations. The codec as WebAssembly is one of them for every format that has others.
 */

import type { Observation } from "../../data/observation";
import type { Codec } from "../../formats/codec";
import type { Payload } from "../../formats/format";
import { byCodec } from "../../formats/by-codec";
import { FORMATS } from "../../formats/list";
import { byMsgpackr } from "./msgpackr";
import { byProtobufEs } from "./protobuf-es";

export interface Contender {
  format: string;
  /** What it is made of. */
  by: string;
  decode(payload: Payload, topic: string): Observation[];
}

const LIBRARIES: readonly Contender[] = [byMsgpackr, byProtobufEs];

/** What the decoders of the dashboard's own list are made of. */
const MADE_OF: Record<string, string> = {
  json: "JSON.parse",
  "senml-json": "JSON.parse",
  xml: "DOMParser",
  cbor: "cbor-x",
  "senml-cbor": "cbor-x",
  msgpack: "@msgpack/msgpack",
};

/** Those of the dashboard's list, those of libraries, those of the codec. */
export function contenders(codec: Codec | undefined): readonly Contender[] {
  const ours = FORMATS.map(({ name, decode }) => ({ format: name, by: MADE_OF[name] ?? "by hand", decode }));
  return [...ours, ...LIBRARIES, ...(codec === undefined ? [] : ofCodec(codec))];
}

function ofCodec(codec: Codec): Contender[] {
  const rows = codec.formats.filter(({ name }) => FORMATS.some((format) => format.name === name));
  return rows.map((row) => ({ format: row.name, by: "codec", decode: byCodec(codec, row).decode }));
}
