/**
 * One observation as the dashboard holds it, and the reading of one from a record of named members.
 *
 * All formats that are trees of names (json, cbor, msgpack, xml) end in `readObservation`, so that they
 * agree on what is missing and what is ignored. Times become milliseconds since the epoch, with fractions:
 * a double keeps about a quarter of a microsecond there, which is finer than a browser's clock.
 */

import { type Observation, timeOfText, type Value } from "../formats/codec";

export type { Observation, Value };

/** Reads an observation; `topic` stands in for a record that names none. */
export function readObservation(record: Record<string, unknown>, topic: string): Observation {
  const observation: Observation = {
    topic: textOf(record["topic"]) ?? topic,
    value: resultOf(record["value"]),
  };
  const time = timeOf(record["time"]);
  if (time !== undefined) observation.time = time;
  for (const name of ["type", "unit", "sensor"] as const) {
    const text = textOf(record[name]);
    if (text !== undefined) observation[name] = text;
  }
  const lat = numberOf(record["lat"]);
  const lon = numberOf(record["lon"]);
  if (lat !== undefined && lon !== undefined) {
    observation.lat = lat;
    observation.lon = lon;
  }
  return observation;
}

/** Reads RFC 3339 with up to nine decimals, a `Date`, or a number of seconds since the epoch. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === "string") return timeOfText(value);
  if (value instanceof Date) return value.getTime();
  if (typeof value === "number") return value * 1000;
  if (typeof value === "bigint") return Number(value) * 1000;
  return undefined;
}

/** The value as a number where it is one: booleans are 0 and 1, all else is none. */
export function numeric(value: Value): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value === "boolean") return value ? 1 : 0;
  return undefined;
}

/** Reads a value from text as the encoding `plain` does: number, boolean, else the text. */
export function valueOfText(text: string): Value {
  if (text === "true") return true;
  if (text === "false") return false;
  if (text === "null" || text === "") return null;
  return /^[-+]?(\d|\.\d)/.test(text) && !Number.isNaN(Number(text)) ? Number(text) : text;
}

/** Reads a result that stands as JSON in a text. */
export function valueOfJson(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return text;
  }
}

/** Reads an optional number from text; empty is none. */
export function numberOfText(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function resultOf(value: unknown): Value {
  switch (typeof value) {
    case "number":
    case "boolean":
    case "string":
      return value;
    case "bigint":
      return Number(value);
    default:
      return (value ?? null) as Value;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
