/** What a subscription gives: messages, and gaps where something is missing. */

import type { Codec, Columns, Observation, Payload } from "../../../web/src/formats/codec";

/** Something is missing here (docs/concepts/cursors.md); `count` of messages where the gateway knows it. */
export interface Gap {
  readonly kind: "gap";
  readonly reason: string;
  readonly count?: number;
  cursor: string | undefined;
}

/** Observations that travelled together. */
export class Message {
  readonly kind = "message";

  constructor(
    /** Text for text formats, bytes for binary ones. */
    readonly payload: Payload,
    /** The format's name. */
    readonly format: string,
    /** `since` of a subscription that is to go on behind this message, as far as it is told yet. */
    public cursor: string | undefined,
    private readonly codec: Codec,
    private readonly topic: string,
  ) {}

  /** The observations; throws `DecodeError` where the payload is not what its format says. */
  get observations(): Observation[] {
    return this.codec.observations(this.codec.index(this.format), this.payload, this.topic);
  }

  /** The same as typed arrays on the codec's memory, good until the next message is read. */
  get columns(): Columns {
    return this.codec.columns(this.codec.index(this.format), this.payload, this.topic);
  }
}

export type Event = Message | Gap;
