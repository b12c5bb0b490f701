import { expect, test } from "vitest";
import { type Control, Refused, type Sink, type Subscription } from "../src/delivery/delivery";
import { addressOf, filtersOf, refused } from "../src/delivery/mqtt";
import { Publications, type UserProperties } from "../src/delivery/publications";
import { FORMATS } from "../src/formats/list";

class Heard implements Sink {
  readonly messages: unknown[] = [];
  readonly controls: Control[] = [];
  opened(): void {}
  message(payload: string | Uint8Array): void {
    this.messages.push(payload);
  }
  control(control: Control): void {
    this.controls.push(control);
  }
}

const utf8 = new TextEncoder();
const nowhere = { took() {} };

function packet(payload: Uint8Array, properties?: UserProperties) {
  return { payload, properties, bytes: payload.length + 4 };
}

test("text formats come as text and binary ones as bytes", () => {
  const heard = new Heard();
  new Publications(heard, false, nowhere).take(packet(utf8.encode("21.5")), 0);
  new Publications(heard, true, nowhere).take(packet(Uint8Array.of(1, 2)), 0);
  expect(heard.messages).toEqual(["21.5", Uint8Array.of(1, 2)]);
});

test("the position hears of a packet's cursor and length before its message is handed on", () => {
  const heard = new Heard();
  const took: unknown[] = [];
  const position = {
    took: (cursor: string | undefined, bytes: number) => took.push([cursor, bytes, heard.messages.length]),
  };
  const publications = new Publications(heard, true, position);
  publications.take(packet(Uint8Array.of(1), { "weir-cursor": "1-7" }), 0);
  publications.take(packet(Uint8Array.of(2)), 0);
  expect(took).toEqual([
    ["1-7", 5, 0],
    [undefined, 5, 1],
  ]);
});

test("a position that is none is one gap, however many filters say so; a short queue is one each time", () => {
  const heard = new Heard();
  const publications = new Publications(heard, true, nowhere);
  for (const gap of ["retention:3", "retention:3", "policy:1", "policy:2"])
    publications.take(packet(Uint8Array.of(1), { "weir-gap": gap }), 0);
  expect(heard.controls.map(({ gap }) => gap)).toEqual([
    { reason: "retention", count: 3 },
    { reason: "policy", count: 1 },
    { reason: "policy", count: 2 },
  ]);
});

const [json] = FORMATS;
const subscription: Subscription = { base: new URL("https://h/x/"), filters: ["a/#", "b/+"], format: json };

test("the connection is beside the page, and the filters ask for the format", () => {
  expect(addressOf(subscription.base).href).toBe("wss://h/x/mqtt");
  expect(addressOf(new URL("http://[::1]:8080/")).href).toBe("ws://[::1]:8080/mqtt");
  expect(filtersOf(subscription)).toEqual(["$as/json/a/#", "$as/json/b/+"]);
});

test("a code that no retry changes is a refusal, another may pass", () => {
  const error = Object.assign(new Error("Not authorized"), { code: 135 });
  expect(refused(error, { 135: 403 })).toEqual(new Refused(403, "Not authorized"));
  expect(refused(error, {})).toBe(error);
  expect(refused(new Error("closed"), { 135: 403 })).not.toBeInstanceOf(Refused);
});
