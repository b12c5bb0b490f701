/**
 * The encoding `protobuf`: `Message` of weir.proto, read by hand. A generated reader would be longer than
 * this one and unpack through a descriptor; the schema is small and unknown fields are skipped as the wire
 * format wants it.
 */

import { type Observation, valueOfJson } from "../data/observation";
import { bytes, type Format } from "./format";
import { Reader } from "./wire";

export const protobuf: Format = {
  name: "protobuf",
  media: "application/x-protobuf",
  binary: true,
  topics: true,
  decode: (payload, topic) => decodeMessage(bytes(payload), topic),
};

/** Tags of `Observation` in weir.proto: the field's number, then the wire type in three bits. */
const TAG = {
  topic: (1 << 3) | 2,
  sensor: (2 << 3) | 2,
  type: (3 << 3) | 2,
  number: (4 << 3) | 1,
  text: (5 << 3) | 2,
  truth: (6 << 3) | 0,
  json: (7 << 3) | 2,
  unit: (9 << 3) | 2,
  time: (10 << 3) | 1,
  lat: (11 << 3) | 1,
  lon: (12 << 3) | 1,
} as const;

/** `observations` of `Message`. */
const OBSERVATIONS = (1 << 3) | 2;

function decodeMessage(payload: Uint8Array, topic: string): Observation[] {
  const observations: Observation[] = [];
  const reader = new Reader(payload);
  while (reader.at < payload.length) {
    const tag = reader.varint();
    if (tag === OBSERVATIONS) observations.push(readObservation(reader, reader.length(), topic));
    else reader.skip(tag & 7);
  }
  return observations;
}

/** Reads the next `length` bytes as an observation. */
function readObservation(reader: Reader, length: number, topic: string): Observation {
  const observation: Observation = { topic, value: null };
  const outer = reader.narrow(length);
  while (reader.at < reader.end) readField(observation, reader.varint(), reader);
  reader.widen(outer);
  return observation;
}

function readField(observation: Observation, tag: number, reader: Reader): void {
  switch (tag) {
    case TAG.topic:
      observation.topic = reader.name();
      break;
    case TAG.sensor:
      observation.sensor = reader.name();
      break;
    case TAG.type:
      observation.type = reader.name();
      break;
    case TAG.number:
      observation.value = reader.double();
      break;
    case TAG.truth:
      observation.value = reader.varint() !== 0;
      break;
    case TAG.text:
      observation.value = reader.text();
      break;
    case TAG.json:
      observation.value = valueOfJson(reader.text());
      break;
    case TAG.unit:
      observation.unit = reader.name();
      break;
    case TAG.time:
      observation.time = reader.milliseconds();
      break;
    case TAG.lat:
      observation.lat = reader.double();
      break;
    case TAG.lon:
      observation.lon = reader.double();
      break;
    default:
      reader.skip(tag & 7);
  }
}
