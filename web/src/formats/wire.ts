/**
 * The wire format of Protocol Buffers: varints, lengths, numbers of fixed width. It knows no schema.
 *
 * A name that stands where the same one stood before, byte by byte, is not made a string again: names repeat
 * from observation to observation, and making strings is most of what reading costs.
 */

import { DecodeError } from "./format";

/** Longest name that is remembered, and how many slots there are for them. */
const NAME_BYTES_MAX = 256;
const SLOTS = 1024;

/** A name met before. */
interface Known {
  bytes: Uint8Array;
  text: string;
}

const utf8 = new TextDecoder();
/** Kept across messages; a slot holds the last name that fell to it. */
const known: (Known | undefined)[] = new Array(SLOTS).fill(undefined);

export class Reader {
  at = 0;
  end: number;
  private readonly view: DataView;

  constructor(private readonly source: Uint8Array) {
    this.end = source.length;
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength);
  }

  /** Reads no further than the next `length` bytes until `widen` with what this returns. */
  narrow(length: number): number {
    const outer = this.end;
    this.end = this.at + length;
    return outer;
  }

  widen(outer: number): void {
    this.end = outer;
  }

  /** A varint; beyond 53 bits it is a double near it, which no field of ours reaches. */
  varint(): number {
    let value = 0;
    let unit = 1;
    for (let count = 0; count < 10; count++) {
      if (this.at >= this.end) throw new DecodeError(`byte ${this.at}: a varint does not end`);
      const byte = this.source[this.at++] as number;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 128;
    }
    throw new DecodeError(`byte ${this.at}: a varint of more than ten bytes`);
  }

  /** A length whose bytes are all there. */
  length(): number {
    const length = this.varint();
    this.want(length);
    return length;
  }

  double(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  /**
   * Nanoseconds in 64 bits as milliseconds, the nearest double. The upper half is worth 4294 ms and 967,296 ns
   * each, so that every step is exact in doubles.
   */
  milliseconds(): number {
    const at = this.take(8);
    const upper = this.view.getInt32(at + 4, true);
    const nanos = upper * 967_296 + this.view.getUint32(at, true);
    const whole = Math.floor(nanos / 1e6);
    return upper * 4294 + whole + (nanos - whole * 1e6) / 1e6;
  }

  /** Text that is likely to come again. */
  name(): string {
    const length = this.length();
    const at = this.take(length);
    if (length === 0 || length > NAME_BYTES_MAX) return this.decode(at, length);
    const slot = this.slot(at, length);
    const before = known[slot];
    if (before !== undefined && this.is(before.bytes, at, length)) return before.text;
    const text = this.decode(at, length);
    known[slot] = { bytes: this.source.slice(at, at + length), text };
    return text;
  }

  text(): string {
    const length = this.length();
    return this.decode(this.take(length), length);
  }

  skip(wire: number): void {
    if (wire === 0) this.varint();
    else if (wire === 1) this.take(8);
    else if (wire === 2) this.take(this.length());
    else if (wire === 5) this.take(4);
    else throw new DecodeError(`byte ${this.at}: wire type ${wire} is unknown`);
  }

  private decode(at: number, length: number): string {
    return utf8.decode(this.source.subarray(at, at + length));
  }

  /** From the length and four of its bytes, the last and those on the way to it. */
  private slot(at: number, length: number): number {
    let hash = length;
    const step = length >> 2 || 1;
    for (let i = length - 1; i >= 0; i -= step) hash = (hash * 31 + (this.source[at + i] as number)) | 0;
    return hash & (SLOTS - 1);
  }

  private is(bytes: Uint8Array, at: number, length: number): boolean {
    if (bytes.length !== length) return false;
    for (let i = 0; i < length; i++) if (bytes[i] !== this.source[at + i]) return false;
    return true;
  }

  private take(length: number): number {
    this.want(length);
    const at = this.at;
    this.at += length;
    return at;
  }

  private want(length: number): void {
    const left = this.end - this.at;
    if (length > left) throw new DecodeError(`byte ${this.at}: ${length} bytes wanted, ${left} left`);
  }
}
