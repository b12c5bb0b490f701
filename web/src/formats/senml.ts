/**
 * The encodings `senml-json` and `senml-cbor` (RFC 8428): a list of records, resolved with the base fields
 * that precede them. A record without a value only sets a base or is not ours to show. Positions come as
 * records of their own, named `lat` and `lon`, and are left to the catalog.
 */

import type { Observation, Value } from "../data/observation";
import { decodeCbor } from "./cbor";
import { bytes, DecodeError, type Format, text } from "./format";
import { parse } from "./json";

export const senmlJson: Format = {
  name: "senml-json",
  media: "application/senml+json",
  binary: false,
  topics: true,
  decode: (payload, topic) => resolve(parse(text(payload)), topic, Date.now()),
};

export const senmlCbor: Format = {
  name: "senml-cbor",
  media: "application/senml+cbor",
  binary: true,
  topics: true,
  decode: (payload, topic) => resolve(named(decodeCbor(bytes(payload), "maps")), topic, Date.now()),
};

/** Labels of the CBOR representation (RFC 8428 section 6, table 4). */
const LABELS: Record<number, string> = {
  [-1]: "bver",
  [-2]: "bn",
  [-3]: "bt",
  [-4]: "bu",
  [-5]: "bv",
  [-6]: "bs",
  0: "n",
  1: "u",
  2: "v",
  3: "vs",
  4: "vb",
  5: "s",
  6: "t",
  7: "ut",
  8: "vd",
};

/** Times below 2^28 seconds count from now (RFC 8428 section 4.5.3). */
const RELATIVE_BELOW_S = 2 ** 28;

/** A SenML pack as observations; `now` in milliseconds serves relative times. */
export function resolve(pack: unknown, topic: string, now: number): Observation[] {
  if (!Array.isArray(pack)) throw new DecodeError("a SenML pack is a list of records");
  const base = { bn: "", bt: 0, bu: undefined as string | undefined, bv: 0 };
  const observations: Observation[] = [];
  for (const [i, record] of pack.entries()) {
    if (typeof record !== "object" || record === null) throw new DecodeError(`record ${i} is not an object`);
    readBase(record, base);
    const observation = readRecord(record, base, topic, now);
    if (observation) observations.push(observation);
  }
  return observations;
}

interface Base {
  bn: string;
  bt: number;
  bu: string | undefined;
  bv: number;
}

function readBase(record: Record<string, unknown>, base: Base): void {
  if (typeof record["bn"] === "string") base.bn = record["bn"];
  if (record["bt"] !== undefined) base.bt = Number(record["bt"]);
  if (typeof record["bu"] === "string") base.bu = record["bu"];
  if (record["bv"] !== undefined) base.bv = Number(record["bv"]);
}

function readRecord(record: Record<string, unknown>, base: Base, topic: string, now: number) {
  const value = readValue(record, base.bv);
  if (value === undefined) return undefined;
  const name = `${base.bn}${record["n"] ?? ""}`;
  const observation: Observation = { topic: name === "" ? topic : name, value };
  const seconds = base.bt + Number(record["t"] ?? 0);
  observation.time = seconds < RELATIVE_BELOW_S ? now + seconds * 1000 : seconds * 1000;
  const unit = record["u"] ?? base.bu;
  if (typeof unit === "string") observation.unit = unit;
  return observation;
}

function readValue(record: Record<string, unknown>, base: number): Value | undefined {
  if (record["v"] !== undefined) return Number(record["v"]) + base;
  if (typeof record["vs"] === "string") return record["vs"];
  if (typeof record["vb"] === "boolean") return record["vb"];
  return undefined;
}

function named(pack: unknown): unknown {
  if (!Array.isArray(pack)) return pack;
  return pack.map((record) => {
    if (!(record instanceof Map)) return record;
    return Object.fromEntries(
      [...record].map(([label, value]) => [LABELS[Number(label)] ?? String(label), value]),
    );
  });
}
