/**
 * AMQP 1.0 types and frames (OASIS, parts 1 and 2), as much as a receiver's side needs: what is written is null,
 * booleans, unsigned integers, text, symbols, lists, maps and described values; what is read is any value.
 *
 * rhea, the library that browsers could load, is 218 kB and speaks more than is needed here.
 */

/** A name out of a vocabulary. */
export class Name {
  constructor(readonly text: string) {}
}

/** A value with what says what it is. */
export class Described {
  constructor(
    readonly descriptor: unknown,
    readonly value: unknown,
  ) {}
}

/** An unsigned integer of one byte, where others are of four. */
export class Ubyte {
  constructor(readonly value: number) {}
}

/** An unsigned integer of two bytes. */
export class Ushort {
  constructor(readonly value: number) {}
}

const UTF8 = new TextEncoder();
const TEXT = new TextDecoder();

/** Writes values one behind the other. */
export class Writer {
  private bytes = new Uint8Array(256);
  private length = 0;

  finish(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }

  put(...bytes: number[]): void {
    this.raw(Uint8Array.from(bytes));
  }

  raw(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.bytes.length) {
      const grown = new Uint8Array(2 * (this.length + bytes.length));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  u32(value: number): void {
    this.put(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
  }

  value(value: unknown): void {
    if (value === null || value === undefined) this.put(0x40);
    else if (typeof value === "boolean") this.put(value ? 0x41 : 0x42);
    else if (typeof value === "number") {
      this.put(0x70);
      this.u32(value);
    } else if (value instanceof Ubyte) this.put(0x50, value.value);
    else if (value instanceof Ushort) this.put(0x60, value.value >>> 8, value.value & 255);
    else if (typeof value === "string") this.text(0xb1, value);
    else if (value instanceof Name) this.text(0xb3, value.text);
    else if (value instanceof Uint8Array) this.counted(0xb0, value);
    else if (value instanceof Described) {
      this.put(0);
      this.descriptor(value.descriptor);
      this.value(value.value);
    } else if (value instanceof Map) this.compound(0xd1, [...value].flat());
    else if (Array.isArray(value)) this.compound(0xd0, value);
    else throw new Error(`no AMQP value: ${String(value)}`);
  }

  private descriptor(descriptor: unknown): void {
    if (typeof descriptor === "number") this.put(0x53, descriptor);
    else this.value(descriptor);
  }

  private text(code: number, text: string): void {
    this.counted(code, UTF8.encode(text));
  }

  private counted(code: number, bytes: Uint8Array): void {
    this.put(code);
    this.u32(bytes.length);
    this.raw(bytes);
  }

  private compound(code: number, values: unknown[]): void {
    const inside = new Writer();
    for (const value of values) inside.value(value);
    this.put(code);
    this.u32(inside.length + 4);
    this.u32(values.length);
    this.raw(inside.finish());
  }
}

/** Bytes of SASL or AMQP frames: a performative of this number, its fields, on channel 0. */
export function frame(code: number, fields: unknown[], sasl = false): Uint8Array<ArrayBuffer> {
  const body = new Writer();
  body.value(new Described(code, fields));
  const bytes = body.finish();
  const out = new Writer();
  out.u32(bytes.length + 8);
  out.put(2, sasl ? 1 : 0, 0, 0);
  out.raw(bytes);
  return out.finish();
}

/** Reads values one behind the other. */
export class Reader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  /** What is not read yet. */
  rest(): Uint8Array {
    return this.bytes.subarray(this.at);
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new Error("an AMQP value ends too early");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  value(): unknown {
    const code = this.u8();
    if (code !== 0) return this.of(code);
    const descriptor = this.value();
    return new Described(descriptor, this.value());
  }

  private u8(): number {
    return this.take(1)[0] ?? 0;
  }

  private u32(): number {
    this.take(4);
    return this.view.getUint32(this.at - 4);
  }

  private of(code: number): unknown {
    if (code >= 0xa0) return this.sized(code);
    const width = [0, 1, 2, 4, 8, 16][(code >> 4) - 4] ?? 0;
    this.take(width);
    const at = this.at - width;
    switch (code) {
      case 0x41:
        return true;
      case 0x42:
        return false;
      case 0x56:
        return this.bytes[at] === 1;
      case 0x43:
      case 0x44:
        return 0;
      case 0x45:
        return [];
      case 0x50:
      case 0x52:
      case 0x53:
        return this.view.getUint8(at);
      case 0x51:
      case 0x54:
      case 0x55:
        return this.view.getInt8(at);
      case 0x60:
        return this.view.getUint16(at);
      case 0x61:
        return this.view.getInt16(at);
      case 0x70:
        return this.view.getUint32(at);
      case 0x71:
        return this.view.getInt32(at);
      case 0x72:
        return this.view.getFloat32(at);
      case 0x80:
        return Number(this.view.getBigUint64(at));
      case 0x81:
      case 0x83:
        return Number(this.view.getBigInt64(at));
      case 0x82:
        return this.view.getFloat64(at);
      default:
        // Null, and types of a fixed width of which nothing is made here.
        return null;
    }
  }

  private sized(code: number): unknown {
    const wide = (code & 0x10) !== 0;
    const bytes = this.take(wide ? this.u32() : this.u8());
    switch (code & 0xef) {
      case 0xa0:
        return bytes;
      case 0xa1:
        return TEXT.decode(bytes);
      case 0xa3:
        return new Name(TEXT.decode(bytes));
      default:
        return new Reader(bytes).inside(code & 0xef, wide);
    }
  }

  private inside(code: number, wide: boolean): unknown {
    const count = wide ? this.u32() : this.u8();
    if (code === 0xe0) return this.array(count);
    const values: unknown[] = [];
    while (values.length < count) values.push(this.value());
    if (code === 0xc0) return values;
    const map = new Map<string, unknown>();
    for (let at = 0; at + 1 < values.length; at += 2) map.set(textOf(values[at]), values[at + 1]);
    return map;
  }

  private array(count: number): unknown[] {
    const code = this.u8();
    if (code === 0) throw new Error("arrays of described values are not read");
    const values: unknown[] = [];
    while (values.length < count) values.push(this.of(code));
    return values;
  }
}

/** The text of a string or a symbol. */
export function textOf(value: unknown): string {
  return value instanceof Name ? value.text : String(value);
}
