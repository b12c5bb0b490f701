import { encode as encodeMsgpack } from "@msgpack/msgpack";
import { DOMParser } from "@xmldom/xmldom";
import { encode as encodeCbor } from "cbor-x";
import { beforeAll, expect, test } from "vitest";
import type { Observation } from "../src/data/observation";
import { DecodeError } from "../src/formats/format";
import { FORMATS, offered } from "../src/formats/list";
import { resolve } from "../src/formats/senml";

beforeAll(() => {
  globalThis.DOMParser = DOMParser as unknown as typeof globalThis.DOMParser;
});

const TIME = Date.parse("2026-11-20T09:41:00.250Z");
const RECORD = {
  topic: "heating/substation-3/supply/temperature",
  sensor: "urn:dev:mac:0024befffe804ff1",
  type: "temperature",
  value: 71.25,
  unit: "Cel",
  time: "2026-11-20T09:41:00.250Z",
  lat: 44.8125,
  lon: 20.4612,
};
const EXPECTED: Observation = { ...RECORD, time: TIME };

function decode(name: string, payload: string | Uint8Array, topic = "default"): Observation[] {
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (format === undefined) throw new Error(`no format ${name}`);
  return format.decode(payload, topic);
}

test("json reads every member", () => {
  expect(decode("json", JSON.stringify({ observations: [RECORD] }))).toEqual([EXPECTED]);
});

test("a flat JSON object is one datastream a member under the topic", () => {
  expect(decode("json", '{"temperature":21.5,"open":true}', "kitchen")).toEqual([
    { topic: "kitchen/temperature", value: 21.5 },
    { topic: "kitchen/open", value: true },
  ]);
});

test("cbor and msgpack read what json reads", () => {
  expect(decode("cbor", encodeCbor({ observations: [RECORD] }))).toEqual([EXPECTED]);
  expect(decode("msgpack", encodeMsgpack({ observations: [RECORD] }))).toEqual([EXPECTED]);
});

test("xml reads the same names as elements", () => {
  const members = Object.entries(RECORD).map(([name, value]) => `<${name}>${value}</${name}>`);
  const source = `<observations><observation>${members.join("")}</observation></observations>`;
  expect(decode("xml", source)).toEqual([EXPECTED]);
});

test("csv reads by the names of its header, quotes and all", () => {
  const source =
    'topic,value,unit,time,lat,lon\r\na/b,71.25,Cel,2026-11-20T09:41:00.250Z,,\r\n"a,c","say ""1""",,,44.5,20\r\n';
  expect(decode("csv", source)).toEqual([
    { topic: "a/b", value: 71.25, unit: "Cel", time: TIME },
    { topic: "a,c", value: 'say "1"', lat: 44.5, lon: 20 },
  ]);
});

test("plain reads number, boolean and text", () => {
  expect(decode("plain", "21.5\n", "k")).toEqual([{ topic: "k", value: 21.5 }]);
  expect(decode("plain", "true", "k")).toEqual([{ topic: "k", value: true }]);
  expect(decode("plain", "open", "k")).toEqual([{ topic: "k", value: "open" }]);
});

// RFC 8428 section 5.1.3: base name, base time, base unit.
test("senml resolves its base fields", () => {
  const pack = [
    {
      bn: "urn:dev:ow:10e2073a0108006:",
      bt: 1.276020076001e9,
      bu: "A",
      bver: 5,
      n: "voltage",
      u: "V",
      v: 120.1,
    },
    { n: "current", t: -5, v: 1.2 },
  ];
  expect(decode("senml-json", JSON.stringify(pack))).toEqual([
    { topic: "urn:dev:ow:10e2073a0108006:voltage", value: 120.1, unit: "V", time: 1276020076001 },
    { topic: "urn:dev:ow:10e2073a0108006:current", value: 1.2, unit: "A", time: 1276020071001 },
  ]);
});

test("senml times below 2^28 count from now", () => {
  expect(resolve([{ n: "a", v: 1, t: -10 }], "", 100_000)[0]?.time).toBe(90_000);
});

test("senml-cbor reads numeric labels", () => {
  const record = new Map<number, unknown>([
    [-2, "a/"],
    [0, "b"],
    [1, "Cel"],
    [2, 7],
    [6, 1.76363166e9],
  ]);
  expect(decode("senml-cbor", encodeCbor([record]))).toEqual([
    { topic: "a/b", value: 7, unit: "Cel", time: 1763631660000 },
  ]);
});

// One Observation of weir.proto, written out: topic 1, number 4, unit 9, time 10 in nanoseconds.
test("protobuf reads what the schema says and skips what it does not know", () => {
  const observation = [
    [0x0a, 3, 0x61, 0x2f, 0x62],
    [0x21, 0, 0, 0, 0, 0, 0xd0, 0x51, 0x40],
    [0x4a, 3, 0x43, 0x65, 0x6c],
    [0x51, ...new Uint8Array(new BigInt64Array([BigInt(TIME) * 1_000_000n]).buffer)],
    [0xf2, 0x07, 2, 1, 2],
  ].flat();
  expect(decode("protobuf", Uint8Array.from([0x0a, observation.length, ...observation]))).toEqual([
    { topic: "a/b", value: 71.25, unit: "Cel", time: TIME },
  ]);
});

// The codec's own division (crates/wasm/src/columns.rs), in whole numbers.
test("protobuf reads a time as the nearest double, before 1970 too", () => {
  const exact = (ns: bigint) => {
    const rest = ((ns % 1_000_000n) + 1_000_000n) % 1_000_000n;
    return Number((ns - rest) / 1_000_000n) + Number(rest) / 1e6;
  };
  const near = Array.from({ length: 500 }, (_, i) => 1_763_631_660_250_000_000n + BigInt(i) * 123_457n);
  for (const ns of [0n, 1n, -1n, -999_999n, 999_999n, 2n ** 63n - 1n, -(2n ** 63n), ...near]) {
    const time = new Uint8Array(new BigInt64Array([ns]).buffer);
    const [observation] = decode("protobuf", Uint8Array.from([0x0a, 9, 0x51, ...time]));
    expect(observation?.time, String(ns)).toBe(exact(ns));
  }
});

test("protobuf tells names apart that share their length and the bytes it looks at first", () => {
  const names = Array.from({ length: 2000 }, (_, i) => `node-${String(i).padStart(8, "0")}-temperature`);
  const message = names.flatMap((name) => [0x0a, name.length + 2, 0x0a, name.length, ...utf8(name)]);
  for (let again = 0; again < 2; again++) {
    expect(decode("protobuf", Uint8Array.from(message)).map(({ topic }) => topic)).toEqual(names);
  }
});

test("protobuf does not read beyond the observation it is in", () => {
  expect(() => decode("protobuf", Uint8Array.from([0x0a, 3, 0x21, 1, 2, 3, 4, 5, 6, 7, 8]))).toThrow(
    /byte 3: 8 bytes wanted, 2 left/,
  );
});

test("protobuf that ends too soon says at which byte", () => {
  expect(() => decode("protobuf", Uint8Array.from([0x0a, 9, 0x0a]))).toThrow(
    /byte 2: 9 bytes wanted, 1 left/,
  );
});

test.each(["json", "senml-json", "cbor", "msgpack", "csv"])("%s refuses what is none of it", (name) => {
  const binary = FORMATS.find((format) => format.name === name)?.binary;
  expect(() => decode(name, binary ? Uint8Array.from([0x92]) : "[nonsense")).toThrow(DecodeError);
});

test("nanoseconds of a time survive as fractions of a millisecond", () => {
  const [observation] = decode("json", '{"observations":[{"value":1,"time":"2026-11-20T09:41:00.250123Z"}]}');
  expect(observation?.time).toBeCloseTo(TIME + 0.123, 3);
});

test("the menu holds what both sides know, in our order", () => {
  const names = offered(FORMATS, ["protobuf", "json", "turtle"]).map(({ name }) => name);
  expect(names).toEqual(["json", "protobuf"]);
  expect(offered(FORMATS, undefined)).toBe(FORMATS);
});

test("an xml value says its kind where it would read as another", () => {
  const values = '<value kind="text">12</value>|<value>12</value>|<value kind="null"/>'.split("|");
  const rows = values.map((value) => `<observation>${value}</observation>`);
  const read = decode("xml", `<observations>${rows.join("")}</observations>`);
  expect(read.map(({ value }) => value)).toEqual(["12", 12, null]);
});

// Tag 1 with 1.5 seconds; a timestamp of 64 bits with 1 s and 500,000 ns.
test("times of cbor and msgpack keep what is finer than a millisecond", () => {
  const cbor = [
    0xa1,
    0x6c,
    ...utf8("observations"),
    0x81,
    0xa2,
    0x65,
    ...utf8("value"),
    1,
    0x64,
    ...utf8("time"),
  ];
  const tagged = [...cbor, 0xc1, 0xfb, ...new Uint8Array(new Float64Array([1.0000005]).buffer).reverse()];
  expect(decode("cbor", Uint8Array.from(tagged))[0]?.time).toBeCloseTo(1000.0005, 6);
  const msgpack = [
    0x81,
    0xac,
    ...utf8("observations"),
    0x91,
    0x82,
    0xa5,
    ...utf8("value"),
    1,
    0xa4,
    ...utf8("time"),
  ];
  const stamp = new DataView(new ArrayBuffer(8));
  stamp.setBigUint64(0, (500_000n << 34n) | 1n);
  const stamped = [...msgpack, 0xd7, 0xff, ...new Uint8Array(stamp.buffer)];
  expect(decode("msgpack", Uint8Array.from(stamped))[0]?.time).toBeCloseTo(1000.5, 6);
});

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
