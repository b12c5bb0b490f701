/** Protobuf by protobuf-es, from the schema as a descriptor; its objects become observations. */

import { create, createFileRegistry, fromBinary, type Message } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { type Observation, type Value, valueOfJson } from "../../data/observation";
import { bytes } from "../../formats/format";
import type { Contender } from "./list";

/** Fields of `Observation` (crates/codec/schema/weir.proto): number, name, type, and whether in `value`. */
export const FIELDS: readonly (readonly [number, string, Type, boolean?])[] = [
  [1, "topic", Type.STRING],
  [2, "sensor", Type.STRING],
  [3, "type", Type.STRING],
  [4, "number", Type.DOUBLE, true],
  [5, "text", Type.STRING, true],
  [6, "truth", Type.BOOL, true],
  [7, "json", Type.STRING, true],
  [8, "null", Type.BOOL, true],
  [9, "unit", Type.STRING],
  [10, "time", Type.SFIXED64],
  [11, "lat", Type.DOUBLE],
  [12, "lon", Type.DOUBLE],
  [13, "end", Type.SFIXED64],
  [14, "result_time", Type.SFIXED64],
  [15, "valid_from", Type.SFIXED64],
  [16, "valid_to", Type.SFIXED64],
  [17, "quality", Type.STRING],
  [18, "feature", Type.STRING],
  [19, "parameters", Type.STRING],
];

/** An observation as the library gives it. */
interface Row {
  topic?: string;
  sensor?: string;
  type?: string;
  unit?: string;
  time?: bigint;
  lat?: number;
  lon?: number;
  value: { case?: string; value?: Value };
}

const MESSAGE = schema();

export const byProtobufEs: Contender = {
  format: "protobuf",
  by: "protobuf-es",
  decode: (payload, topic) => {
    const message = fromBinary(MESSAGE, bytes(payload)) as Message & { observations: Row[] };
    return message.observations.map((row) => observationOf(row, topic));
  },
};

function observationOf(row: Row, topic: string): Observation {
  const value = resultOf(row.value);
  const observation: Observation = { topic: row.topic || topic, value };
  if (row.time !== undefined) {
    observation.time = Number(row.time / 1_000_000n) + Number(row.time % 1_000_000n) / 1e6;
  }
  if (row.type) observation.type = row.type;
  if (row.unit) observation.unit = row.unit;
  if (row.sensor) observation.sensor = row.sensor;
  if (row.lat !== undefined) observation.lat = row.lat;
  if (row.lon !== undefined) observation.lon = row.lon;
  return observation;
}

function resultOf({ case: kind, value }: Row["value"]): Value {
  if (kind === "json") return valueOfJson(value as string);
  return kind === "null" ? null : (value ?? null);
}

function schema() {
  const file = create(FileDescriptorProtoSchema, {
    name: "weir.proto",
    package: "weir",
    syntax: "proto3",
    messageType: [
      {
        name: "Message",
        field: [
          { name: "observations", number: 1, label: Label.REPEATED, type: Type.MESSAGE, typeName: ".weir.Observation" },
        ],
      },
      observation(),
    ],
  });
  const message = createFileRegistry(file, () => undefined).getMessage("weir.Message");
  if (message === undefined) throw new Error("the schema has no message");
  return message;
}

/** Members outside `value` are optional, which is a group of one each (proto3 field presence). */
function observation() {
  const alone = FIELDS.filter(([, , , isValue]) => !isValue).map(([, name]) => name);
  const field = FIELDS.map(([number, name, type, isValue]) => ({
    number,
    name,
    type,
    label: Label.OPTIONAL,
    proto3Optional: !isValue,
    oneofIndex: isValue ? 0 : 1 + alone.indexOf(name),
  }));
  const oneofDecl = ["value", ...alone.map((name) => `_${name}`)].map((name) => ({ name }));
  return { name: "Observation", field, oneofDecl };
}
