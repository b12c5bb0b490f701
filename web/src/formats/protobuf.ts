/**
 * The encoding `protobuf`: `Message` of weir.proto, read by hand. A generated reader would be longer than
 * this one and unpack through a descriptor; the schema is small and unknown fields are skipped as the wire
 * format wants it.
 */

import type { Observation } from "../data/observation";
import { bytes, DecodeError, type Format } from "./format";

export const protobuf: Format = {
  name: "protobuf",
  media: "application/x-protobuf",
  binary: true,
  topics: true,
  decode: (payload, topic) => decodeMessage(bytes(payload), topic),
};

/** Field numbers of `Observation` in weir.proto. */
const FIELD = {
  topic: 1,
  sensor: 2,
  type: 3,
  number: 4,
  text: 5,
  truth: 6,
  json: 7,
  unit: 9,
  time: 10,
  lat: 11,
  lon: 12,
} as const;

function decodeMessage(payload: Uint8Array, topic: string): Observation[] {
  const observations: Observation[] = [];
  const reader = new Reader(payload);
  while (!reader.atEnd) {
    const { field, wire } = reader.tag();
    if (field === 1 && wire === 2) observations.push(readObservation(new Reader(reader.slice()), topic));
    else reader.skip(wire);
  }
  return observations;
}

function readObservation(reader: Reader, topic: string): Observation {
  const observation: Observation = { topic, value: null };
  while (!reader.atEnd) {
    const { field, wire } = reader.tag();
    if (!readField(observation, field, reader)) reader.skip(wire);
  }
  return observation;
}

/** Reads one member; false where the field is not one of ours. */
function readField(observation: Observation, field: number, reader: Reader): boolean {
  switch (field) {
    case FIELD.topic:
      observation.topic = reader.text();
      return true;
    case FIELD.sensor:
      observation.sensor = reader.text();
      return true;
    case FIELD.type:
      observation.type = reader.text();
      return true;
    case FIELD.number:
      observation.value = reader.double();
      return true;
    case FIELD.truth:
      observation.value = reader.varint() !== 0n;
      return true;
    case FIELD.text:
    case FIELD.json:
      observation.value = reader.text();
      return true;
    case FIELD.unit:
      observation.unit = reader.text();
      return true;
    case FIELD.time:
      // Nanoseconds since the epoch; split so that the fraction survives the double.
      observation.time = milliseconds(reader.fixed64());
      return true;
    case FIELD.lat:
      observation.lat = reader.double();
      return true;
    case FIELD.lon:
      observation.lon = reader.double();
      return true;
    default:
      return false;
  }
}

function milliseconds(ns: bigint): number {
  return Number(ns / 1_000_000n) + Number(ns % 1_000_000n) / 1e6;
}

const utf8 = new TextDecoder();

/** The wire format: tags, varints, lengths. */
class Reader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly source: Uint8Array) {
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength);
  }

  get atEnd(): boolean {
    return this.at >= this.source.length;
  }

  tag(): { field: number; wire: number } {
    const tag = Number(this.varint());
    return { field: tag >>> 3, wire: tag & 7 };
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.source[this.at++];
      if (byte === undefined) throw new DecodeError(`byte ${this.at - 1}: a varint does not end`);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new DecodeError(`byte ${this.at}: a varint of more than ten bytes`);
  }

  double(): number {
    const at = this.take(8);
    return this.view.getFloat64(at, true);
  }

  fixed64(): bigint {
    const at = this.take(8);
    return this.view.getBigInt64(at, true);
  }

  slice(): Uint8Array {
    const length = Number(this.varint());
    const at = this.take(length);
    return this.source.subarray(at, at + length);
  }

  text(): string {
    return utf8.decode(this.slice());
  }

  skip(wire: number): void {
    if (wire === 0) this.varint();
    else if (wire === 1) this.take(8);
    else if (wire === 2) this.slice();
    else if (wire === 5) this.take(4);
    else throw new DecodeError(`byte ${this.at}: wire type ${wire} is unknown`);
  }

  private take(length: number): number {
    const at = this.at;
    if (at + length > this.source.length) {
      throw new DecodeError(`byte ${at}: ${length} bytes wanted, ${this.source.length - at} left`);
    }
    this.at += length;
    return at;
  }
}
