/**
 * The client's half of an AMQP 1.0 connection over a WebSocket, as a receiver whose messages come settled: login,
 * one session, a link for each address, credit. It is told bytes and gives bytes, and owns no socket.
 */

import { randomName } from "../net/random";
import { Described, frame, Name, Reader, textOf, Ubyte } from "./amqp-codec";

/** Messages that may be under way on a link; credit is given anew when half of it is used. */
const CREDIT = 1000;
/** Transfers that may be under way in the session. */
const WINDOW = 1_000_000;
const FRAME_BYTES_MAX = 1 << 20;
const SASL = [0x41, 0x4d, 0x51, 0x50, 3, 1, 0, 0];
const AMQP = [0x41, 0x4d, 0x51, 0x50, 0, 1, 0, 0];

/** Performatives and sections by their numbers (sections 2.7, 3.2 and 5.3.3). */
const OPEN = 0x10;
const BEGIN = 0x11;
const ATTACH = 0x12;
const FLOW = 0x13;
const TRANSFER = 0x14;
const DETACH = 0x16;
const END = 0x17;
const CLOSE = 0x18;
const MECHANISMS = 0x40;
const INIT = 0x41;
const OUTCOME = 0x44;
const ANNOTATIONS = 0x72;
const DATA = 0x75;

/** A message: its data, and the annotations of its sender. */
export interface Arrived {
  data: Uint8Array;
  annotations: Map<string, unknown>;
  /** Length on the wire. */
  bytes: number;
}

/** Why the peer does not go on: its condition, and its sentence. */
export class Condition extends Error {
  constructor(
    readonly condition: string,
    description: string,
  ) {
    super(description === "" ? condition : description);
  }
}

/** What is wanted of a connection. */
export interface Wanted {
  host: string;
  /** A token, which stands in the place of a password. */
  token?: string;
  addresses: readonly string[];
  /** Filters of each source, by their names. */
  filters: ReadonlyMap<string, string>;
  /** Milliseconds after which a silent peer is gone. */
  idleMs: number;
}

interface Link {
  credit: number;
  count: number;
  parts: Uint8Array[];
}

export class AmqpReceiver {
  private rest = new Uint8Array(0);
  private stage: "sasl" | "header" | "open" = "sasl";
  private readonly links: Link[] = [];
  private nextIncoming = 0;
  private answers: (() => void)[] = [];

  constructor(
    private readonly wanted: Wanted,
    private readonly send: (bytes: Uint8Array<ArrayBuffer>) => void,
    private readonly opened: () => void,
    private readonly message: (arrived: Arrived) => void,
  ) {}

  /** Says the first words. */
  begin(): void {
    this.send(Uint8Array.from(SASL));
  }

  /** An empty frame, so that the gateway knows that somebody is there (section 2.4.5). */
  beat(): void {
    this.send(Uint8Array.from([0, 0, 0, 8, 2, 0, 0, 0]));
  }

  /** Asks for the session's state and resolves when it has come. */
  roundTrip(): Promise<void> {
    this.send(frame(FLOW, [this.nextIncoming, WINDOW, 0, WINDOW, null, null, null, null, false, true]));
    return new Promise((resolve) => this.answers.push(resolve));
  }

  /** Takes bytes as they come; throws a `Condition` where the peer refuses. */
  take(bytes: Uint8Array): void {
    this.rest = joined([this.rest, bytes]);
    for (;;) {
      const length = this.length();
      if (length === undefined || this.rest.length < length) return;
      const whole = this.rest.subarray(0, length);
      this.rest = this.rest.slice(length);
      this.frame(whole);
    }
  }

  /** Length of what stands at the front: a frame, or a protocol header. */
  private length(): number | undefined {
    if (this.rest.length < 8) return undefined;
    if (this.rest[0] === 0x41) return 8;
    const view = new DataView(this.rest.buffer, this.rest.byteOffset);
    const length = view.getUint32(0);
    if (length < 8 || length > FRAME_BYTES_MAX) throw new Error(`an AMQP frame of ${length} bytes`);
    return length;
  }

  private frame(bytes: Uint8Array): void {
    if (bytes[0] === 0x41) return this.header(bytes);
    const body = new Reader(bytes.subarray(4 * (bytes[4] ?? 2)));
    if (body.done) return;
    const { descriptor, value } = body.value() as Described;
    this.performative(descriptor as number, value as unknown[], body.rest(), bytes.length);
  }

  private header(bytes: Uint8Array): void {
    if (bytes[4] === 3 && this.stage === "sasl") return;
    if (bytes[4] === 0 && this.stage === "header") return this.open();
    throw new Condition("amqp:unauthorized-access", "the gateway let nobody in");
  }

  private open(): void {
    this.stage = "open";
    this.send(frame(OPEN, [`page-${randomName()}`, this.wanted.host, FRAME_BYTES_MAX, null, this.wanted.idleMs]));
    this.send(frame(BEGIN, [null, 0, WINDOW, WINDOW]));
    this.wanted.addresses.forEach((address, handle) => {
      this.links.push({ credit: 0, count: 0, parts: [] });
      const pairs = [...this.wanted.filters].map(([name, value]): [Name, Described] => [
        new Name(name),
        new Described(new Name(name), value),
      ]);
      const source = new Described(0x28, [address, null, null, null, null, null, null, new Map(pairs)]);
      const target = new Described(0x29, [null]);
      // The role of a receiver, whose sender settles as it sends.
      this.send(frame(ATTACH, [`${handle} ${address}`, handle, true, new Ubyte(1), null, source, target]));
    });
  }

  private performative(code: number, fields: unknown[], payload: Uint8Array, bytes: number): void {
    switch (code) {
      case MECHANISMS:
        return this.login();
      case OUTCOME:
        return this.outcome(fields);
      case OPEN:
        return this.opened();
      case ATTACH:
        // One without a source is refused by the detach that follows.
        if (fields[5] !== null && fields[5] !== undefined) this.grant(fields[1] as number);
        return;
      case FLOW:
        return this.flow(fields);
      case TRANSFER:
        return this.transfer(fields, payload, bytes);
      case DETACH:
        throw conditionOf(fields[2]);
      case END:
      case CLOSE:
        throw conditionOf(fields[0]);
    }
  }

  private login(): void {
    const { token } = this.wanted;
    if (token === undefined) return this.send(frame(INIT, [new Name("ANONYMOUS")], true));
    this.send(plain(token));
  }

  private outcome([code]: unknown[]): void {
    if (code !== 0) throw new Condition("amqp:unauthorized-access", "the gateway does not take this login");
    this.stage = "header";
    this.send(Uint8Array.from(AMQP));
  }

  private grant(handle: number): void {
    const link = this.links[handle];
    if (link === undefined) return;
    link.credit = CREDIT;
    this.send(frame(FLOW, [this.nextIncoming, WINDOW, 0, WINDOW, handle, link.count, CREDIT]));
  }

  /** A flow of the session alone answers a question. */
  private flow(fields: unknown[]): void {
    if (fields[4] === null || fields[4] === undefined) this.answers.shift()?.();
  }

  private transfer(fields: unknown[], payload: Uint8Array, bytes: number): void {
    this.nextIncoming = (this.nextIncoming + 1) >>> 0;
    const handle = fields[0] as number;
    const link = this.links[handle];
    if (link === undefined) throw new Error("a transfer on a link that there is none of");
    if (link.parts.length === 0) {
      link.count = (link.count + 1) >>> 0;
      link.credit -= 1;
    }
    link.parts.push(payload);
    if (fields[5] === true) return;
    const whole = joined(link.parts);
    link.parts = [];
    this.message({ ...sections(whole), bytes: whole.length + bytes - payload.length });
    if (link.credit < CREDIT / 2) this.grant(handle);
  }
}

/** Data and annotations of a message; what else there is in it is passed over. */
function sections(payload: Uint8Array): { data: Uint8Array; annotations: Map<string, unknown> } {
  const reader = new Reader(payload);
  const data: Uint8Array[] = [];
  let annotations = new Map<string, unknown>();
  while (!reader.done) {
    const { descriptor, value } = reader.value() as Described;
    if (descriptor === ANNOTATIONS) annotations = value as Map<string, unknown>;
    if (descriptor === DATA) data.push(value as Uint8Array);
  }
  return { data: joined(data), annotations };
}

/** The choice of PLAIN (RFC 4616), whose response is bytes. */
function plain(token: string): Uint8Array<ArrayBuffer> {
  const response = new TextEncoder().encode(`\0token\0${token}`);
  return frame(INIT, [new Name("PLAIN"), response], true);
}

function conditionOf(error: unknown): Error {
  if (!(error instanceof Described)) return new Error("the gateway has ended the link");
  const [condition, description] = error.value as unknown[];
  return new Condition(textOf(condition), typeof description === "string" ? description : "");
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
