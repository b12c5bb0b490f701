/**
 * A subscriber of a publish-subscribe service (XEP-0060) by strophe.js. Knows stanzas and no gateway but for its
 * names: `weir#since` and the elements that carry messages (docs/reference/xmpp.md).
 */

import { $iq, $pres, Strophe } from "strophe.js";
import { CONNECT_MS } from "../limits";
import { type Account, Refused } from "./delivery";
import { CURSOR, GAP, type Publication } from "./publications";

const PUBSUB = "http://jabber.org/protocol/pubsub";
const OBSERVATIONS = "urn:weir:observations:0";
const { CONNECTED, AUTHFAIL, CONNFAIL, CONNTIMEOUT, ERROR, DISCONNECTED } = Strophe.Status;

/** Conditions of a refusal (RFC 6120 section 8.3.3) as a status of HTTP; others may pass. */
const STATUS_OF: Record<string, number> = {
  forbidden: 403,
  "not-allowed": 403,
  "bad-request": 400,
  "item-not-found": 400,
  "not-acceptable": 400,
};

export class XmppSubscriber {
  private readonly connection: InstanceType<typeof Strophe.Connection>;
  /** Ends what waits for the connection: with an error, or without when it was left. */
  private ended: (error?: Error) => void = () => {};
  private readonly end = new Promise<void>((resolve, reject) => {
    this.ended = (error) => (error === undefined ? resolve() : reject(error));
  });

  constructor(
    url: string,
    private readonly service: string,
  ) {
    Strophe.setLogLevel(Strophe.LogLevel.FATAL);
    // Who waits hears of it; when nobody does any more, nobody need.
    this.end.catch(() => {});
    this.connection = new Strophe.Connection(url);
  }

  /** Logs in, or fails with what the server says. */
  async logIn({ address, password }: Account): Promise<void> {
    const logged = new Promise<void>((resolve) => {
      this.connection.connect(address, password, (status: number, condition?: string | null) => {
        const why = condition ? `: ${condition}` : "";
        if (status === CONNECTED) resolve();
        if (status === AUTHFAIL)
          this.ended(new Refused(401, `The XMPP server does not take this account${why}`, undefined, "xmpp"));
        if (status === CONNFAIL || status === CONNTIMEOUT || status === ERROR)
          this.ended(new Error(`the XMPP server does not answer${why}`));
        if (status === DISCONNECTED) this.ended();
      });
    });
    const late = setTimeout(() => this.ended(new Error("the XMPP server does not answer")), CONNECT_MS);
    try {
      await Promise.race([logged, this.lost()]);
    } finally {
      clearTimeout(late);
    }
  }

  /** Subscribes to nodes behind a cursor and hands on what comes, until the connection ends. */
  async follow(nodes: readonly string[], since: string | undefined, take: (one: Publication) => void): Promise<void> {
    this.connection.addHandler((message: Element) => this.hear(message, take), null, "message", null, null, null);
    // So that the service hears when this page is gone.
    this.connection.send($pres({ to: this.service }));
    for (const node of nodes) await this.subscribe(node, since);
    await this.end;
  }

  /** Asks for nothing and resolves when that is answered. */
  async roundTrip(): Promise<void> {
    await this.ask($iq({ type: "get", to: this.service }).c("ping", { xmlns: "urn:xmpp:ping" }));
  }

  leave(): void {
    this.ended();
    this.connection.disconnect("");
  }

  private async lost(): Promise<never> {
    await this.end;
    throw new Error("the XMPP server closed the connection");
  }

  private async subscribe(node: string, since: string | undefined): Promise<void> {
    const { jid } = this.connection;
    const request = $iq({ type: "set", to: this.service }).c("pubsub", { xmlns: PUBSUB }).c("subscribe", { node, jid });
    if (since !== undefined) {
      const form = request.up().c("options", { node, jid }).c("x", { xmlns: "jabber:x:data", type: "submit" });
      form.c("field", { var: "FORM_TYPE", type: "hidden" }).c("value").t(`${PUBSUB}#subscribe_options`).up().up();
      form.c("field", { var: "weir#since" }).c("value").t(since);
    }
    await this.ask(request);
  }

  private ask(request: ReturnType<typeof $iq>): Promise<Element> {
    const answer = new Promise<Element>((resolve, reject) => {
      this.connection.sendIQ(request, resolve, (error: Element | null) => reject(refusalOf(error)), CONNECT_MS);
      // What is sent waits for a timer otherwise.
      this.connection.flush();
    });
    return Promise.race([answer, this.lost()]);
  }

  /** Takes what a message tells; stays, as it says itself. */
  private hear(message: Element, take: (one: Publication) => void): true {
    try {
      for (const publication of publicationsOf(message, this.service)) take(publication);
    } catch (error) {
      this.ended(error as Error);
    }
    return true;
  }
}

/** Items and gaps of a notification of the service, in their order. */
export function publicationsOf(message: Element, service: string): Publication[] {
  if (message.getAttribute("from") !== service) return [];
  const gaps = Array.from(message.getElementsByTagName("gap"), gapOf);
  return [...gaps, ...Array.from(message.getElementsByTagName("item"), itemOf)];
}

function gapOf(element: Element): Publication {
  const [reason = "unknown", count] = ["reason", "count"].map((name) => element.getAttribute(name) ?? undefined);
  const gap = count === undefined ? reason : `${reason}:${count}`;
  return { payload: new Uint8Array(0), properties: { [GAP]: gap }, bytes: lengthOf(element) };
}

function itemOf(item: Element): Publication {
  const [payload] = elements(item);
  if (payload === undefined) throw new Error("an item without a payload");
  const cursor = item.getAttribute("id");
  const properties = cursor === null ? {} : { [CURSOR]: cursor };
  return { payload: bytesOf(payload), properties, bytes: lengthOf(item) };
}

/** A message in its format, as its payload carries it. */
function bytesOf(payload: Element): Uint8Array<ArrayBuffer> {
  if (payload.namespaceURI === OBSERVATIONS) return utf8(new XMLSerializer().serializeToString(payload));
  const text = payload.textContent ?? "";
  if (payload.localName !== "data") return utf8(text);
  return Uint8Array.from(atob(text.replace(/\s/g, "")), (character) => character.charCodeAt(0));
}

function elements(parent: Element): Element[] {
  return Array.from(parent.childNodes).filter((node): node is Element => node.nodeType === 1);
}

function lengthOf(element: Element): number {
  return new XMLSerializer().serializeToString(element).length;
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}

/** What an answer of type `error` says. */
function refusalOf(answer: Element | null): Error {
  if (answer === null) return new Error("the XMPP service does not answer");
  const [error] = Array.from(answer.getElementsByTagName("error"));
  const said = error === undefined ? [] : elements(error);
  const [condition = "refused"] = said.filter(({ localName }) => localName !== "text").map((it) => it.localName);
  const text = said.find(({ localName }) => localName === "text")?.textContent ?? condition;
  const status = STATUS_OF[condition];
  return status === undefined ? new Error(text) : new Refused(status, text);
}
