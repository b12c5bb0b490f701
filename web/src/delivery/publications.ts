/** What comes in by a connection of a protocol whose messages have properties, without the connection itself. */

import { MESSAGE_BYTES_MAX } from "../limits";
import { type Gap, readGap, type Sink } from "./delivery";
import type { Position } from "./positions";

/** User properties of a packet (MQTT 5.0 section 2.2.2.2); a name that repeats has a list. */
export type UserProperties = Record<string, string | string[]>;

/** What the names of user properties are on both sides. */
export const CURSOR = "weir-cursor";
export const GAP = "weir-gap";

/** Why a queue was shortened; it happens to each subscription by itself, and more than once. */
const POLICY = "policy";

/** One packet. */
export interface Publication {
  payload: Uint8Array;
  properties: UserProperties | undefined;
  /** Length on the wire. */
  bytes: number;
}

export class Publications {
  private readonly decoder = new TextDecoder();
  /** Reasons why the position was none to continue at: each subscription says the same. */
  private readonly told = new Set<string>();

  constructor(
    private readonly sink: Sink,
    private readonly binary: boolean,
    private readonly position: Position,
  ) {}

  /** Takes one packet; `arrival` on the clock of `performance.now`. */
  take({ payload, properties, bytes }: Publication, arrival: number): void {
    if (payload.length > MESSAGE_BYTES_MAX)
      throw new Error(`a message of ${payload.length} bytes exceeds ${MESSAGE_BYTES_MAX}`);
    const gap = first(properties?.[GAP]);
    if (gap !== undefined) this.missed(readGap(gap));
    // A gap that is told by itself.
    if (gap !== undefined && payload.length === 0) return;
    // Before the message: what this tells is that the messages before it are whole.
    this.position.took(first(properties?.[CURSOR]), bytes);
    this.sink.message(this.binary ? plainBytes(payload) : this.decoder.decode(payload), arrival);
  }

  private missed(gap: Gap): void {
    if (gap.reason !== POLICY && this.told.has(gap.reason)) return;
    this.told.add(gap.reason);
    this.sink.control({ gap });
  }
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** The same bytes without what a library adds to the type. */
function plainBytes(payload: Uint8Array): Uint8Array {
  return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength);
}
