/**
 * What `weir bench run encoding` asks of a browser: how long its decoders take, in their steady state.
 *
 * The bench calls `weirMeasure` through the DevTools protocol. Formats of messages are those that the dashboard
 * reads, as objects, and by the codec also as columns of numbers; whole documents are read as trees, XML and JSON by
 * the browser's own parsers, EXI by the codec.
 *
 * `npm run decoders` asks it for the contenders too: what else could read a format, on messages written here.
 */

import { type Alignment, Codec } from "../formats/codec";
import { readDocument } from "../formats/document";
import type { Payload } from "../formats/format";
import { loadFormats } from "../formats/load";
import { contenders } from "./contenders/list";
import { measure, type Rule } from "./steady";

/** How a payload is read: as a document's tree, as objects, as columns, as objects by a contender. */
type How = "document" | "observations" | "columns" | "contender";

interface Job extends Rule {
  how: How;
  format: string;
  /** Which contender. */
  by?: string;
}

/** The topic that stands in where a message names none. */
const TOPIC = "bench";

/** Where the codec was put; nothing where the build had no toolchain for it. */
const built: Record<string, string> = import.meta.glob("../formats/codec.wasm", {
  query: "?url",
  import: "default",
  eager: true,
});
const address = Object.values(built)[0];
const codec = address === undefined ? undefined : await Codec.load(fetch(address));
const formats = await loadFormats();
const all = contenders(codec);

const documents: Record<string, (payload: Payload) => unknown> = {
  xml: (payload) => new DOMParser().parseFromString(payload as string, "application/xml"),
  json: (payload) => JSON.parse(payload as string),
};
const exi: Record<string, Alignment> = { exi: "bit-packed", "exi-c": "compression" };
if (codec !== undefined) {
  for (const [format, alignment] of Object.entries(exi)) {
    documents[format] = (payload) => readDocument(codec, payload as Uint8Array, alignment);
  }
}

let payload: Payload = "";
/** What was decoded last, so that no engine finds that nobody wants it. */
let last: unknown;

function decoder({ how, format, by }: Job): (payload: Payload) => unknown {
  if (how === "document") {
    const parse = documents[format];
    if (parse !== undefined) return parse;
  } else if (how === "observations") {
    const found = formats.find(({ name }) => name === format);
    if (found !== undefined) return (payload) => found.decode(payload, TOPIC);
  } else if (how === "contender") {
    const found = all.find((one) => one.format === format && one.by === by);
    if (found !== undefined) return (payload) => found.decode(payload, TOPIC);
  } else if (codec !== undefined) {
    const index = codec.index(format);
    return (payload) => codec.columns(index, payload, TOPIC);
  }
  throw new Error(`the page has no decoder of ${format}`);
}

const weirMeasure = {
  /** Names of the formats that this page reads, by the way it reads them. */
  formats: () => ({
    document: Object.keys(documents),
    observations: formats.map(({ name }) => name),
    columns: codec?.formats.map(({ name }) => name) ?? [],
    contenders: all.map(({ format, by }) => ({ format, by })),
  }),

  /** Writes a message, given in JSON, in a format, which is then what is to be read; says its length. */
  write({ message, format }: { message: string; format: string }): number {
    if (codec === undefined) throw new Error("only the codec writes, and this build has none");
    codec.columns(codec.index("json"), message, TOPIC);
    const bytes = codec.encode(codec.index(format)).slice();
    payload = codec.formats[codec.index(format)]?.text ? new TextDecoder().decode(bytes) : bytes;
    return bytes.length;
  },

  /** Takes the bytes that are to be read, in base64. */
  take({ bytes, binary }: { bytes: string; binary: boolean }): void {
    const raw = Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0));
    payload = binary ? raw : new TextDecoder().decode(raw);
  },

  /** Microseconds a call, of the last samples in the steady state. */
  measure(job: Job): Promise<number[]> {
    const decode = decoder(job);
    return measure(job, () => {
      last = decode(payload);
    });
  },

  /** What came out last. */
  last: () => last,
};

Object.assign(globalThis, { weirMeasure });
