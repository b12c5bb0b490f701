/**
 * The two framings of an endless HTTP body: lines for text formats, 32-bit big-endian lengths for binary
 * ones. Both tell controls from messages; neither keeps more than one unfinished message.
 */

import { MESSAGE_BYTES_MAX } from "../limits";
import { type Control, readControl, type Sink } from "./delivery";

/** Takes the chunks of a body as they arrive. */
export interface Framing {
  push(chunk: Uint8Array, arrival: number): void;
}

/**
 * One message a line; a `multiline` message ends at the control line after it, which each has, and which says
 * nothing else where there is no position to give (`{"weir":{}}`). Empty lines between messages are heartbeats.
 */
export class Lines implements Framing {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private open: string[] = [];
  private openLength = 0;

  constructor(
    private readonly sink: Sink,
    private readonly multiline: boolean,
  ) {}

  push(chunk: Uint8Array, arrival: number): void {
    const source = this.rest + this.decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = source.indexOf("\n"); end >= 0; end = source.indexOf("\n", start)) {
      this.line(source.slice(start, source[end - 1] === "\r" ? end - 1 : end), arrival);
      start = end + 1;
    }
    this.rest = source.slice(start);
    if (this.rest.length + this.openLength > MESSAGE_BYTES_MAX)
      throw new Error(`a message exceeds ${MESSAGE_BYTES_MAX} characters`);
  }

  private line(line: string, arrival: number): void {
    const control = readControl(line);
    if (control !== undefined) return this.end(control, arrival);
    if (line === "" && this.open.length === 0) return;
    if (!this.multiline) return this.sink.message(line, arrival);
    this.open.push(line);
    this.openLength += line.length + 1;
  }

  private end(control: Control, arrival: number): void {
    if (this.open.length > 0) this.sink.message(this.open.join("\n"), arrival);
    this.open = [];
    this.openLength = 0;
    this.sink.control(control);
  }
}

/** A length, then that many bytes; a frame that is `{"weir":...}` is a control, an empty one a heartbeat. */
export class Lengths implements Framing {
  private rest: Uint8Array = new Uint8Array(0);

  constructor(private readonly sink: Sink) {}

  push(chunk: Uint8Array, arrival: number): void {
    let bytes = this.rest.length === 0 ? chunk : concat(this.rest, chunk);
    while (bytes.length >= 4) {
      const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
      if (length > MESSAGE_BYTES_MAX)
        throw new Error(`a frame of ${length} bytes exceeds ${MESSAGE_BYTES_MAX}`);
      if (bytes.length < 4 + length) break;
      if (length > 0) this.frame(bytes.subarray(4, 4 + length), arrival);
      bytes = bytes.subarray(4 + length);
    }
    this.rest = bytes.slice();
  }

  private frame(frame: Uint8Array, arrival: number): void {
    const control = frame[0] === 0x7b ? readControl(new TextDecoder().decode(frame)) : undefined;
    if (control !== undefined) this.sink.control(control);
    else this.sink.message(frame, arrival);
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
