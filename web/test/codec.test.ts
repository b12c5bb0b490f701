/** The codec as WebAssembly: built by scripts/wasm before the tests. */

import { readFile } from "node:fs/promises";
import { DOMImplementation, DOMParser } from "@xmldom/xmldom";
import { beforeAll, expect, test } from "vitest";
import { ALIGNMENTS, Codec, type FormatRow } from "../src/formats/codec";
import { readDocument } from "../src/formats/document";
import { DecodeError, type Format, type Payload } from "../src/formats/format";
import { byCodec } from "../src/formats/by-codec";
import { FORMATS, withCodec } from "../src/formats/list";
import { contenders } from "../src/measure/contenders/list";
import { FIELDS } from "../src/measure/contenders/protobuf-es";

const SENT = "heating/substation-3/supply/temperature";
const MESSAGE = JSON.stringify({
  observations: [
    {
      topic: SENT,
      sensor: "urn:dev:mac:0024befffe804ff1",
      type: "temperature",
      value: 71.25,
      unit: "Cel",
      time: "2026-11-20T09:41:00.250Z",
      lat: 44.8125,
      lon: 20.4612,
    },
    { topic: "heating/substation-3/supply/flow", value: 18.5, unit: "m3/h", time: "2026-11-20T09:41:00.250Z" },
  ],
});

let codec: Codec;

beforeAll(async () => {
  globalThis.DOMParser = DOMParser as unknown as typeof globalThis.DOMParser;
  globalThis.document = { implementation: new DOMImplementation() } as unknown as Document;
  codec = await Codec.load(await readFile(new URL("../src/formats/codec.wasm", import.meta.url)));
});

/** The message in a format, as a delivery hands it on. */
function written(name: string): Payload {
  codec.columns(codec.index("json"), MESSAGE, SENT);
  const bytes = codec.encode(codec.index(name)).slice();
  return codec.formats[codec.index(name)]?.text ? new TextDecoder().decode(bytes) : bytes;
}

test("the codec brings every format that the list lacks", () => {
  const names = withCodec(codec).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(names)).toEqual(new Set([...FORMATS.map(({ name }) => name), ...codec.formats.map(({ name }) => name)]));
});

test("what JavaScript decoders read, the codec reads equal", () => {
  for (const format of FORMATS) {
    const row = codec.formats[codec.index(format.name)];
    if (row === undefined) throw new Error(format.name);
    const payload = written(format.name);
    expect(byCodec(codec, row).decode(payload, SENT), format.name).toEqual(format.decode(payload, SENT));
  }
});

test("what the list says of a format is what the codec says of it", () => {
  const said = ({ name, media, binary, multiline = false, topics }: Format) => ({ name, media, binary, multiline, topics });
  for (const format of FORMATS) {
    const row = codec.formats[codec.index(format.name)] as FormatRow;
    expect(said(format)).toEqual(said(byCodec(codec, row)));
  }
});

test("every format of the codec gives back the values it was given", () => {
  const wanted = codec.observations(codec.index("json"), MESSAGE, SENT).map(({ value }) => value);
  for (const row of codec.formats.filter(({ topics }) => topics)) {
    const read = byCodec(codec, row).decode(written(row.name), SENT);
    expect(read.map(({ value }) => value), row.name).toEqual(wanted);
  }
});

test("a column is a view of the module's memory, one entry a row", () => {
  const columns = codec.columns(codec.index("json"), MESSAGE, SENT);
  expect([...columns.numbers]).toEqual([71.25, 18.5]);
  expect([...columns.times]).toEqual([Date.parse("2026-11-20T09:41:00.250Z"), Date.parse("2026-11-20T09:41:00.250Z")]);
  expect(columns.places.length).toBe(4);
  expect(columns.textSpans.length).toBe(0);
});

test("a block of two datastreams in turns is read as the JSON it was made of, and can be written again", () => {
  const row = (i: number) => ({ topic: `x/${i % 2}`, value: i / 4, unit: "Cel", time: new Date(1.7e12 + i).toISOString() });
  const message = JSON.stringify({ observations: Array.from({ length: 500 }, (_, i) => row(i)) });
  const [json, block] = [codec.index("json"), codec.index("block")];
  const wanted = codec.observations(json, message, "x");
  const bytes = codec.encode(block).slice();
  expect(codec.observations(block, bytes, "x")).toEqual(wanted);
  expect(codec.observations(json, new TextDecoder().decode(codec.encode(json)), "x")).toEqual(wanted);
});

test("an array or object comes back as one, by the codec and by the others", () => {
  const value = [1, { open: true, by: "hand" }, null];
  const message = JSON.stringify({ observations: [{ topic: "x", value }, { topic: "x", value: "[1]" }] });
  for (const name of ["json", "cbor", "msgpack", "protobuf", "xml"]) {
    codec.columns(codec.index("json"), message, "x");
    const bytes = codec.encode(codec.index(name)).slice();
    const row = codec.formats[codec.index(name)] as FormatRow;
    const payload = row.text ? new TextDecoder().decode(bytes) : bytes;
    const ways = [byCodec(codec, row), FORMATS.find((format) => format.name === name)];
    for (const way of ways) expect(way?.decode(payload, "x").map((one) => one.value), name).toEqual([value, "[1]"]);
  }
});

test("the declarations beside the module say what it exports", async () => {
  const read = (name: string) => readFile(new URL(`../src/formats/${name}`, import.meta.url));
  const { instance } = await WebAssembly.instantiate(await read("codec.wasm"), {});
  const exported = Object.entries(instance.exports).filter(([, value]) => typeof value === "function");
  const shapes = exported.map(([name, value]) => `${name} ${(value as () => unknown).length}`);
  const declared = (await read("codec.wasm.d.ts")).toString().matchAll(/^export function (\w+)\((.*)\): \w+;$/gm);
  const count = (list: string) => list.split(",").filter((one) => one.trim() !== "").length;
  expect([...declared].map(([, name, list = ""]) => `${name} ${count(list)}`).sort()).toEqual(shapes.sort());
  expect(instance.exports["memory"]).toBeInstanceOf(WebAssembly.Memory);
});

test("every contender reads what the dashboard reads", () => {
  const all = contenders(codec);
  expect(new Set(all.map(({ by }) => by)).size).toBeGreaterThan(3);
  for (const { format, by, decode } of all) {
    const wanted = FORMATS.find(({ name }) => name === format)?.decode(written(format), SENT);
    expect(decode(written(format), SENT), `${format} by ${by}`).toEqual(wanted);
  }
});

test("protobuf-es is given the fields that the schema has", async () => {
  const schema = await readFile(new URL("../../crates/codec/schema/weir.proto", import.meta.url), "utf8");
  const observation = schema.slice(schema.indexOf("message Observation"), schema.indexOf("message Block"));
  const fields = [...observation.matchAll(/(\w+) (\w+) = (\d+);/g)];
  const kinds: Record<string, number> = { double: 1, string: 9, bool: 8, sfixed64: 16 };
  const wanted = fields.map(([, kind = "", name, number]) => [Number(number), name, kinds[kind]]);
  expect(FIELDS.map(([number, name, type]) => [number, name, type])).toEqual(wanted);
});

test("what is refused says where", () => {
  expect(() => codec.columns(codec.index("json"), '{"observations":[{', "x")).toThrow(DecodeError);
  expect(() => codec.columns(codec.index("cbor"), Uint8Array.from([0xa1]), "x")).toThrow(/1/);
});

test("a document in EXI becomes the tree that its XML becomes", () => {
  const xml = '<a xmlns="u:1" one="1"><b>€ 𝄞</b><b xmlns="">x</b><b/></a>';
  // By `weir exi encode`, with --alignment compress and without.
  const streams = {
    "bit-packed": "gADdToxAmFII3tzKBmOgExYLWIJBPUQOiBMWBvCQAyA=",
    compression: "gGNgLrUyZEpkZGTJz0tlZGJhSmJmYGRgBFFMDCwMjIwMTMyGrGscFeYtYmeuAAA=",
  } as const;
  for (const [alignment, base64] of Object.entries(streams)) {
    const tree = readDocument(codec, Buffer.from(base64, "base64"), alignment as keyof typeof streams);
    expect(shape(tree)).toEqual(shape(new globalThis.DOMParser().parseFromString(xml, "application/xml")));
  }
});

test("what is no EXI throws, whatever alignment is said", () => {
  for (const alignment of ALIGNMENTS) {
    expect(() => codec.tape(Uint8Array.from([0x20, 1, 2]), alignment), alignment).toThrow(DecodeError);
  }
});

/** What a tree says, prefixes and declarations apart. */
function shape(node: Node): unknown {
  const { namespaceURI, localName, attributes } = node as Element;
  const own = [...(attributes ?? [])].filter(({ prefix, name }) => prefix !== "xmlns" && name !== "xmlns");
  return {
    name: [namespaceURI ?? null, localName],
    own: own.map((one) => [one.namespaceURI ?? null, one.localName, one.value]),
    within: node.nodeType === 3 ? node.nodeValue : [...Array(node.childNodes?.length ?? 0).keys()].map((i) => shape(node.childNodes[i] as Node)),
  };
}
