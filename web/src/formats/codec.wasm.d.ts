/**
 * What the codec as WebAssembly exports (crates/wasm/src/lib.rs): plain functions, and offsets in its memory.
 *
 * The order of calls is `input`, bytes written there, `topic` likewise, `decode`, `view`. What a view shows is
 * good until the next call. `codec.ts` is all of this in a class.
 */

export const memory: WebAssembly.Memory;

/** Makes room for `length` bytes of a message and says where they go. */
export function input(length: number): number;

/** Makes room for `length` bytes of the topic that stands in where a message names none. */
export function topic(length: number): number;

/** Reads the input, of the format with this index; 0: it lies in the columns, 1: the reply says why not. */
export function decode(format: number): number;

/** Writes the message read last in the format with this index, as the reply; 1: no such format. */
export function encode(format: number): number;

/** Reads the input as a document in EXI of this alignment; 0: it lies in the tape, 1: the reply says why not. */
export function document(alignment: number): number;

/** Tells the formats as a JSON array, as the reply. */
export function formats(): void;

/** Says where everything lies: words of 32 bits, in the order of crates/wasm/src/view.rs. */
export function view(): number;
