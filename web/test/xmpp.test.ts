import { DOMParser, XMLSerializer } from "@xmldom/xmldom";
import { beforeAll, expect, test, vi } from "vitest";
import { linksOf } from "../src/delivery/xmpp";
import { publicationsOf } from "../src/delivery/xmpp-client";

const SERVICE = "weir.example.org";

beforeAll(() => {
  vi.stubGlobal("XMLSerializer", XMLSerializer);
});

function message(content: string, from = SERVICE): Element {
  const text = `<message xmlns="jabber:client" from="${from}">${content}</message>`;
  return new DOMParser().parseFromString(text, "text/xml").documentElement as unknown as Element;
}

function items(payload: string): string {
  const event = "http://jabber.org/protocol/pubsub#event";
  return `<event xmlns="${event}"><items node="a/b"><item id="1-7">${payload}</item></items></event>`;
}

function textOf(payload: string): string {
  const [publication] = publicationsOf(message(items(payload)), SERVICE);
  expect(publication?.properties).toEqual({ "weir-cursor": "1-7" });
  return new TextDecoder().decode(publication?.payload);
}

test("an item's payload is the message in its format", () => {
  expect(textOf('<json xmlns="urn:xmpp:json:0">{"value":"a &lt; b"}</json>')).toBe('{"value":"a < b"}');
  expect(textOf('<text xmlns="urn:weir:message:0" type="text/csv">a,b</text>')).toBe("a,b");
  expect(textOf('<data xmlns="urn:weir:message:0" type="application/cbor">aGVs\n bG8=</data>')).toBe("hello");
  const xml = '<observations xmlns="urn:weir:observations:0"><observation><value>1</value></observation></observations>';
  expect(textOf(xml)).toBe(xml);
});

test("a gap is told by itself, with how many messages it is of where that is known", () => {
  const gap = (more: string) =>
    publicationsOf(message(`<gap xmlns="urn:weir:message:0" node="a" reason="retention"${more}/>`), SERVICE);
  expect(gap(' count="12"')[0]?.properties).toEqual({ "weir-gap": "retention:12" });
  expect(gap("")[0]?.properties).toEqual({ "weir-gap": "retention" });
});

test("what others say is passed over, and an item without a payload is an error", () => {
  expect(publicationsOf(message(items("<json xmlns='urn:xmpp:json:0'>1</json>"), "ann@example.org"), SERVICE)).toEqual([]);
  expect(() => publicationsOf(message(items("")), SERVICE)).toThrow("without a payload");
});

test("links are by their relations, and there are none where a gateway does not know the question", async () => {
  const links = [{ rel: "urn:xmpp:alt-connections:websocket", href: "wss://example.org/ws" }];
  const answers = [Response.json({ links }), new Response("no resource", { status: 404 })];
  vi.stubGlobal("fetch", async () => answers.shift());
  const base = new URL("http://gateway/");
  expect([...(await linksOf(base))]).toEqual([["urn:xmpp:alt-connections:websocket", "wss://example.org/ws"]]);
  expect([...(await linksOf(base))]).toEqual([]);
});
