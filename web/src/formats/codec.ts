/**
 * The gateway's own codec as WebAssembly (crates/wasm): reads and writes every format the gateway has.
 *
 * A message becomes columns in the module's memory, looked at as typed arrays: nothing is copied, and a
 * name is made a string only once however often it comes. What a call returns is good until the next one.
 *
 * This file imports nothing, so that it is all that a page of somebody else's needs beside `codec.wasm`
 * (scripts/codec-package; docs/guides/codec-in-the-browser.md).
 */

import type * as Wasm from "./codec.wasm";

/** A payload: text for text formats, bytes for binary ones. */
export type Payload = string | Uint8Array;

/** What was observed: a number, a boolean, a text, nothing, or an array or object of these. */
export type Value = number | boolean | string | null | Value[] | { [name: string]: Value };

/** An observation; times are in milliseconds since the epoch. */
export interface Observation {
  topic: string;
  value: Value;
  time?: number;
  type?: string;
  unit?: string;
  sensor?: string;
  lat?: number;
  lon?: number;
  /** When it ended, of one that took its time. */
  end?: number;
  /** When its result was there. */
  resultTime?: number;
  /** From when to when the result is to be used. */
  validTime?: [number, number];
  quality?: string;
  /** What it is of. */
  feature?: string;
  parameters?: { [name: string]: Value };
}

/** The names of its members, of which the compiler refuses one too many or too few. */
export const MEMBERS: Readonly<Record<keyof Observation, true>> = {
  topic: true,
  value: true,
  time: true,
  type: true,
  unit: true,
  sensor: true,
  lat: true,
  lon: true,
  end: true,
  resultTime: true,
  validTime: true,
  quality: true,
  feature: true,
  parameters: true,
};

/** A payload that is not what its format says; the message names the place where that is known. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** A line of the gateway's list of formats. */
export interface FormatRow {
  name: string;
  media: string;
  text: boolean;
  oneLine: boolean;
  topics: boolean;
}

/** What the module exports; addresses are offsets in its memory. */
type Exports = typeof Wasm;

/** Words of the view, in the order of crates/wasm/src/view.rs. */
const VIEW = {
  rows: 0,
  times: 1,
  streams: 2,
  kinds: 3,
  numbers: 4,
  places: 5,
  textSpans: 6,
  texts: 7,
  names: 8,
  nameSpans: 9,
  nameTexts: 10,
  generation: 11,
  reply: 12,
  replyLength: 13,
  tape: 14,
  tapeLength: 15,
  documentText: 16,
  documentTextLength: 17,
  extras: 18,
  length: 19,
} as const;

/** What a row's result is, as in `Columns.kinds` (crates/wasm/src/columns.rs). */
export const KIND = { number: 0, bool: 1, text: 2, null: 3, json: 4 } as const;

/** A datastream's names. */
export interface Names {
  topic: string;
  sensor?: string;
  type?: string;
  unit?: string;
}

/** A message, column by column; one entry a row in each, good until the next call. */
export interface Columns {
  rows: number;
  /** Milliseconds since the epoch; NaN where the message has no time. */
  times: Float64Array;
  /** Index into the names. */
  streams: Uint32Array;
  /** One of `KIND`. */
  kinds: Uint8Array;
  /** The number; 0 or 1 for a boolean, NaN for the rest. */
  numbers: Float64Array;
  /** Latitude and longitude a row; empty where no row has a place. */
  places: Float64Array;
  /** Start and length in the texts a row, which `Codec.text` reads; empty where no row is a text or JSON. */
  textSpans: Uint32Array;
}

/** How the bits of a stream of EXI are laid out (EXI 1.0 section 5.4), in the order of crates/wasm/src/document.rs. */
export const ALIGNMENTS = ["bit-packed", "byte-aligned", "pre-compression", "compression"] as const;
export type Alignment = (typeof ALIGNMENTS)[number];

/** A document in EXI as steps of crates/wasm/src/document.rs; `document.ts` makes a tree of it. */
export interface Tape {
  /** Good until the next call. */
  words: Uint32Array;
  /** All texts, end to end, from which spans of the words cut. */
  text: string;
}

/** Adds what few observations carry, of members as JSON names them. */
export function addExtras<Row extends Observation>(observation: Row, members: Record<string, unknown>): Row {
  const { validTime, parameters } = members;
  for (const name of ["end", "resultTime"] as const) {
    const time = timeOfText(members[name]);
    if (time !== undefined) observation[name] = time;
  }
  if (Array.isArray(validTime)) {
    const [from, to] = validTime.map(timeOfText);
    if (from !== undefined && to !== undefined) observation.validTime = [from, to];
  }
  for (const name of ["quality", "feature"] as const) {
    const text = members[name];
    if (typeof text === "string") observation[name] = text;
  }
  if (typeof parameters === "object" && parameters !== null) {
    observation.parameters = parameters as { [name: string]: Value };
  }
  return observation;
}

/** Milliseconds since the epoch of a time of RFC 3339 with up to nine decimals. */
export function timeOfText(text: unknown): number | undefined {
  const ms = typeof text === "string" ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return undefined;
  // Date.parse keeps three decimals; the rest is added here.
  const decimals = /\.\d{3}(\d+)/.exec(text as string)?.[1];
  return decimals === undefined ? ms : ms + Number(`0.${decimals}`);
}

const ABSENT = 0xffff_ffff;
const utf8 = new TextDecoder();
const toUtf8 = new TextEncoder();

export class Codec {
  readonly formats: readonly FormatRow[];
  private names: Names[] = [];
  private generation = 0;
  private words: Uint32Array = new Uint32Array();

  private constructor(private readonly wasm: Exports) {
    wasm.formats();
    this.formats = JSON.parse(utf8.decode(this.reply())) as FormatRow[];
  }

  /** Compiles the module from its bytes, or as it arrives: `Codec.load(fetch("codec.wasm"))`. */
  static async load(source: BufferSource | Promise<Response>): Promise<Codec> {
    const { instance } =
      source instanceof Promise
        ? await WebAssembly.instantiateStreaming(source, {})
        : await WebAssembly.instantiate(source, {});
    return new Codec(instance.exports as unknown as Exports);
  }

  /** The index of a format. */
  index(name: string): number {
    const index = this.formats.findIndex((format) => format.name === name);
    if (index < 0) throw new DecodeError(`the codec has no format ${name}`);
    return index;
  }

  /** Reads a message; `topic` stands in where it names none. Throws `DecodeError`. */
  columns(format: number, payload: Payload, topic: string): Columns {
    this.put(topic, "topic");
    this.put(payload, "input");
    const refused = this.wasm.decode(format) !== 0;
    if (refused) throw new DecodeError(utf8.decode(this.reply()));
    this.look();
    const rows = this.word("rows");
    return {
      rows,
      times: this.array(Float64Array, "times", rows),
      streams: this.array(Uint32Array, "streams", rows),
      kinds: this.array(Uint8Array, "kinds", rows),
      numbers: this.array(Float64Array, "numbers", rows),
      places: this.array(Float64Array, "places", 2 * rows),
      textSpans: this.array(Uint32Array, "textSpans", 2 * rows),
    };
  }

  /** Reads a message as objects. */
  observations(format: number, payload: Payload, topic: string): Observation[] {
    const columns = this.columns(format, payload, topic);
    const names = this.known();
    const all = new Array<Observation>(columns.rows);
    for (let row = 0; row < columns.rows; row++) {
      all[row] = this.observation(columns, names[columns.streams[row] as number] as Names, row);
    }
    if (this.word("extras") > 0) this.addExtras(all);
    return all;
  }

  /** Writes the message read last in another format; a view of the module's memory. */
  encode(format: number): Uint8Array {
    if (this.wasm.encode(format) !== 0) throw new DecodeError("the codec has no such format");
    return this.reply();
  }

  /** Reads a document in EXI without a schema; a header of its own may say another alignment. Throws `DecodeError`. */
  tape(payload: Uint8Array, alignment: Alignment = "bit-packed"): Tape {
    this.put(payload, "input");
    const refused = this.wasm.document(ALIGNMENTS.indexOf(alignment)) !== 0;
    if (refused) throw new DecodeError(utf8.decode(this.reply()));
    this.look();
    const words = this.array(Uint32Array, "tape", this.word("tapeLength"));
    return { words, text: this.textAt(this.word("documentText"), this.word("documentTextLength")) };
  }

  /** The text of a row of the message read last: a result that is a text, or JSON. */
  text(columns: Columns, row: number): string {
    const [start = 0, length = 0] = columns.textSpans.subarray(2 * row, 2 * row + 2);
    return this.textAt(this.word("texts") + start, length);
  }

  /** Names by index, made strings only where they are new. */
  known(): readonly Names[] {
    const generation = this.word("generation");
    if (generation !== this.generation) {
      this.generation = generation;
      this.names = [];
    }
    const count = this.word("names");
    if (this.names.length === count) return this.names;
    const spans = this.array(Uint32Array, "nameSpans", 8 * count);
    for (let index = this.names.length; index < count; index++) this.names.push(this.namesAt(spans, index));
    return this.names;
  }

  private namesAt(spans: Uint32Array, index: number): Names {
    const base = this.word("nameTexts");
    const [topic, sensor, type, unit] = [0, 2, 4, 6].map((part) => {
      const start = spans[8 * index + part] as number;
      return start === ABSENT ? undefined : this.textAt(base + start, spans[8 * index + part + 1] as number);
    });
    const names: Names = { topic: topic ?? "" };
    if (sensor !== undefined) names.sensor = sensor;
    if (type !== undefined) names.type = type;
    if (unit !== undefined) names.unit = unit;
    return names;
  }

  /** A row; members are set one by one, which engines make far faster objects of than of `...names`. */
  private observation(columns: Columns, names: Names, row: number): Observation {
    const observation: Observation = { topic: names.topic, value: this.value(columns, row) };
    const time = columns.times[row] as number;
    if (!Number.isNaN(time)) observation.time = time;
    if (names.type !== undefined) observation.type = names.type;
    if (names.unit !== undefined) observation.unit = names.unit;
    if (names.sensor !== undefined) observation.sensor = names.sensor;
    if (columns.places.length === 0) return observation;
    const lat = columns.places[2 * row] as number;
    if (!Number.isNaN(lat)) {
      observation.lat = lat;
      observation.lon = columns.places[2 * row + 1] as number;
    }
    return observation;
  }

  /** What few observations carry is in no column: it is read of the same message as JSON. */
  private addExtras(all: readonly Observation[]): void {
    const text = utf8.decode(this.encode(this.index("json")));
    const { observations } = JSON.parse(text) as { observations: Record<string, unknown>[] };
    for (const [row, observation] of all.entries()) {
      addExtras(observation, observations[row] ?? {});
    }
  }

  private value(columns: Columns, row: number): Value {
    switch (columns.kinds[row]) {
      case KIND.number:
        return columns.numbers[row] as number;
      case KIND.bool:
        return columns.numbers[row] === 1;
      case KIND.null:
        return null;
      case KIND.json:
        return JSON.parse(this.text(columns, row)) as Value;
      default:
        return this.text(columns, row);
    }
  }

  private put(content: Payload, where: "input" | "topic"): void {
    const bytes = typeof content === "string" ? toUtf8.encode(content) : content;
    const address = this.wasm[where](bytes.length);
    new Uint8Array(this.wasm.memory.buffer, address, bytes.length).set(bytes);
  }

  private reply(): Uint8Array {
    this.look();
    return this.array(Uint8Array, "reply", this.word("replyLength"));
  }

  private textAt(address: number, length: number): string {
    return utf8.decode(new Uint8Array(this.wasm.memory.buffer, address, length));
  }

  /** Takes up where things lie since the last call. */
  private look(): void {
    this.words = new Uint32Array(this.wasm.memory.buffer, this.wasm.view(), VIEW.length);
  }

  private word(name: keyof typeof VIEW): number {
    return this.words[VIEW[name]] as number;
  }

  /** A column; empty where the message has none of it. */
  private array<T>(
    type: new (buffer: ArrayBuffer, address: number, length: number) => T,
    name: keyof typeof VIEW,
    length: number,
  ): T {
    const address = this.word(name);
    return new type(this.wasm.memory.buffer, address, address === 0 ? 0 : length);
  }
}
