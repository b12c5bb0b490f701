import { expect, test } from "vitest";
import {
  type Control,
  liveUrl,
  position,
  readControl,
  readGap,
  type Sink,
  type Subscription,
} from "../src/delivery/delivery";
import { type Framing, Lengths, Lines } from "../src/delivery/framing";
import { FORMATS } from "../src/formats/list";
import { MESSAGE_BYTES_MAX } from "../src/limits";

class Heard implements Sink {
  readonly messages: (string | number[])[] = [];
  readonly controls: Control[] = [];
  opened(): void {}
  message(payload: string | Uint8Array): void {
    this.messages.push(typeof payload === "string" ? payload : [...payload]);
  }
  control(control: Control): void {
    this.controls.push(control);
  }
}

function feed(framing: Framing, bytes: Uint8Array, step: number): void {
  for (let at = 0; at < bytes.length; at += step) framing.push(bytes.slice(at, at + step), 0);
}

const utf8 = new TextEncoder();

function framed(...frames: (string | number[])[]): Uint8Array {
  const parts = frames.map((frame) =>
    typeof frame === "string" ? utf8.encode(frame) : Uint8Array.from(frame),
  );
  return Uint8Array.from(parts.flatMap((part) => [0, 0, part.length >> 8, part.length & 255, ...part]));
}

test.each([1, 2, 7, 1000])("lines come whole in chunks of %i bytes", (step) => {
  const heard = new Heard();
  feed(new Lines(heard, false), utf8.encode('{"a":"ü"}\n\n{"b":2}\r\n{"weir":{"cursor":"7"}}\n{"c"'), step);
  expect(heard.messages).toEqual(['{"a":"ü"}', '{"b":2}']);
  expect(heard.controls).toEqual([{ cursor: "7" }]);
});

test("a message of several lines ends at the control line", () => {
  const heard = new Heard();
  feed(new Lines(heard, true), utf8.encode('topic,value\r\na,1\r\n{"weir":{"cursor":"8"}}\n'), 5);
  expect(heard.messages).toEqual(["topic,value\na,1"]);
  expect(heard.controls).toEqual([{ cursor: "8" }]);
});

test.each([1, 4, 1000])("messages of several lines in one batch are told apart in chunks of %i bytes", (step) => {
  const heard = new Heard();
  const batch = [
    '{"weir":{"cursor":"8","gap":{"reason":"policy","count":2}}}',
    "@prefix a: <a#> .",
    "",
    "a:b a:c 1 .",
    '{"weir":{}}',
    "a:b a:c 2 .",
    '{"weir":{"cursor":"9"}}',
  ];
  feed(new Lines(heard, true), utf8.encode(`${batch.join("\n")}\na:b`), step);
  expect(heard.messages).toEqual(["@prefix a: <a#> .\n\na:b a:c 1 .", "a:b a:c 2 ."]);
  expect(heard.controls).toEqual([
    { cursor: "8", gap: { reason: "policy", count: 2 } },
    {},
    { cursor: "9" },
  ]);
});

test("a message of several lines that never ends ends the stream", () => {
  const line = utf8.encode(`${"x".repeat(1 << 20)}\n`);
  const lines = new Lines(new Heard(), true);
  const push = () => lines.push(line, 0);
  for (let i = 0; i < MESSAGE_BYTES_MAX / (1 << 20) - 1; i++) push();
  expect(push).toThrow(/exceeds/);
});

test.each([1, 3, 1000])("length-prefixed frames come whole in chunks of %i bytes", (step) => {
  const heard = new Heard();
  feed(new Lengths(heard), framed([1, 2, 3], [], '{"weir":{"cursor":"9","sent":5}}', [0x7b, 1]), step);
  expect(heard.messages).toEqual([
    [1, 2, 3],
    [0x7b, 1],
  ]);
  expect(heard.controls).toEqual([{ cursor: "9", sent: 5 }]);
});

test("a frame over the limit ends the stream", () => {
  expect(() => new Lengths(new Heard()).push(Uint8Array.from([255, 0, 0, 0]), 0)).toThrow(/exceeds/);
});

test("a message is not taken for a control", () => {
  expect(readControl('{"observations":[{"value":"{\\"weir\\":1}"}]}')).toBeUndefined();
  expect(readControl('{"weir":{"cursor":"1","gap":{"reason":"retention","count":3}}}')).toEqual({
    cursor: "1",
    gap: { reason: "retention", count: 3 },
  });
});

test("a gap is read from JSON and from a user property", () => {
  expect(readGap('{"reason":"rollback"}')).toEqual({ reason: "rollback" });
  expect(readGap("policy:12")).toEqual({ reason: "policy", count: 12 });
  expect(readGap("foreign")).toEqual({ reason: "foreign" });
  expect(readGap(7)).toEqual({ reason: "unknown" });
});

const [json] = FORMATS;

test("several filters are one path and repeated parameters", () => {
  const subscription: Subscription = { base: new URL("http://h/x/"), filters: ["a/#", "b/+"], format: json };
  expect(liveUrl(subscription, { stream: true, since: "7" }).href).toBe(
    "http://h/x/live/a/%23?topic=b%2F%2B&stream&since=7",
  );
});

test("a subscription says in which unit it wants numbers", () => {
  const subscription: Subscription = { base: new URL("http://h/"), filters: ["a"], format: json, unit: "" };
  expect(liveUrl(subscription, {}).href).toBe("http://h/live/a?unit=");
  expect(liveUrl({ ...subscription, unit: "m/s" }, { stream: true }).href).toBe("http://h/live/a?unit=m%2Fs&stream");
});

test("without a cursor a subscription begins with the latest values", () => {
  const subscription: Subscription = { base: new URL("http://h/"), filters: ["#"], format: json };
  expect(position(subscription)).toEqual({ snapshot: true });
  expect(position({ ...subscription, since: "7" })).toEqual({ since: "7" });
});
