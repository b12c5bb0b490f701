/**
 * The encoding `json`, and the tree shape that cbor and msgpack share with it: a record with `observations`,
 * or a flat object with one datastream per member under the topic.
 */

import { type Observation, readObservation } from "../data/observation";
import { DecodeError, type Format, text } from "./format";

export const json: Format = {
  name: "json",
  media: "application/json",
  binary: false,
  topics: true,
  decode: (payload, topic) => observationsOf(parse(text(payload)), topic),
};

/** The observations of a tree of names, whatever syntax it came in. */
export function observationsOf(tree: unknown, topic: string): Observation[] {
  if (!isRecord(tree)) throw new DecodeError("a message is an object with observations");
  const rows = tree["observations"];
  if (rows === undefined) return flat(tree, topic);
  if (!Array.isArray(rows)) throw new DecodeError("observations is not a list");
  return rows.map((row, i) => {
    if (!isRecord(row)) throw new DecodeError(`observations[${i}] is not an object`);
    return readObservation(row, topic);
  });
}

/** Parses JSON, saying what is wrong in our own error. */
export function parse(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : "not JSON");
  }
}

function flat(tree: Record<string, unknown>, topic: string): Observation[] {
  const under = topic === "" ? "" : `${topic}/`;
  return Object.entries(tree).map(([name, value]) => readObservation({ value }, `${under}${name}`));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
