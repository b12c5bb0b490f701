import { expect, test } from "vitest";
import { AmqpReceiver, type Arrived } from "../src/delivery/amqp-client";
import { Described, frame, Name, Reader, Ubyte, Ushort, Writer } from "../src/delivery/amqp-codec";

function back(value: unknown): unknown {
  const writer = new Writer();
  writer.value(value);
  return new Reader(writer.finish()).value();
}

test("what is written reads back", () => {
  const values = [null, true, false, 0, 70_000, 4_294_967_295, "°C", "x".repeat(300), [1, "a", null]];
  for (const value of values) expect(back(value)).toEqual(value);
  expect(back(new Name("PLAIN"))).toEqual(new Name("PLAIN"));
  expect(back(new Ubyte(7))).toBe(7);
  expect(back(new Ushort(700))).toBe(700);
  expect(back(new Map([["a", 1]]))).toEqual(new Map([["a", 1]]));
  expect(back(new Described(0x28, ["a"]))).toEqual(new Described(0x28, ["a"]));
  expect(back(Uint8Array.of(1, 2))).toEqual(Uint8Array.of(1, 2));
});

// Section 1.6: the short encodings, arrays, and numbers that are not written here.
test("what others write is read", () => {
  const read = (...bytes: number[]) => new Reader(Uint8Array.from(bytes)).value();
  expect(read(0x43)).toBe(0);
  expect(read(0x52, 200)).toBe(200);
  expect(read(0x54, 0xff)).toBe(-1);
  expect(read(0x80, 0, 0, 0, 0, 0, 0, 1, 0)).toBe(256);
  expect(read(0x82, 0x40, 0x35, 0x80, 0, 0, 0, 0, 0)).toBe(21.5);
  expect(read(0xe0, 6, 2, 0xa3, 1, 0x61, 1, 0x62)).toEqual([new Name("a"), new Name("b")]);
  expect(() => read(0xa1, 9, 0x61)).toThrow();
});

function joined(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function transfer(more: boolean, payload: Uint8Array): Uint8Array {
  const head = frame(0x14, [0, 0, Uint8Array.of(1), 0, true, more]);
  const bytes = joined(head, payload);
  new DataView(bytes.buffer).setUint32(0, bytes.length);
  return bytes;
}

function receiver(token?: string) {
  const sent: Uint8Array[] = [];
  const came: Arrived[] = [];
  const wanted = { host: "h", addresses: ["a/#"], filters: new Map([["weir:since", "1-2"]]), idleMs: 1000 };
  const made = new AmqpReceiver(
    token === undefined ? wanted : { ...wanted, token },
    (bytes) => sent.push(bytes),
    () => {},
    (arrived) => came.push(arrived),
  );
  return { made, sent, came };
}

test("a message comes in pieces and in two transfers, with its annotations", () => {
  const { made, came } = receiver();
  made.take(Uint8Array.of(0x41, 0x4d, 0x51, 0x50, 3, 1, 0, 0));
  made.take(frame(0x44, [new Ubyte(0)], true));
  made.take(Uint8Array.of(0x41, 0x4d, 0x51, 0x50, 0, 1, 0, 0));
  const message = new Writer();
  message.value(new Described(0x72, new Map([["weir-cursor", "1-3"]])));
  message.value(new Described(0x75, Uint8Array.of(7, 8, 9)));
  const bytes = message.finish();
  const all = joined(transfer(true, bytes.subarray(0, 5)), transfer(false, bytes.subarray(5)));
  for (const byte of all) made.take(Uint8Array.of(byte));
  expect(came.length).toBe(1);
  expect(came[0]?.data).toEqual(Uint8Array.of(7, 8, 9));
  expect(came[0]?.annotations.get("weir-cursor")).toBe("1-3");
});

test("a token is a password, and a refusal is told with its condition", () => {
  const { made, sent } = receiver("secret");
  made.take(Uint8Array.of(0x41, 0x4d, 0x51, 0x50, 3, 1, 0, 0));
  made.take(frame(0x40, [[new Name("PLAIN")]], true));
  expect(new TextDecoder().decode(sent[0])).toContain("\0token\0secret");
  expect(() => made.take(frame(0x44, [new Ubyte(1)], true))).toThrow("login");
  const error = new Described(0x1d, [new Name("amqp:not-found"), "nothing there"]);
  expect(() => made.take(frame(0x16, [0, true, error]))).toThrow("nothing there");
});
