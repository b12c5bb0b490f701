/** A format of the gateway's list as a `Format` that the codec reads. */

import type { Codec, FormatRow } from "./codec";
import type { Format } from "./format";

/** A format that the codec reads. */
export function byCodec(codec: Codec, row: FormatRow): Format {
  const index = codec.index(row.name);
  return {
    name: row.name,
    media: row.media,
    binary: !row.text,
    multiline: row.text && !row.oneLine,
    topics: row.topics,
    decode: (payload, topic) => codec.observations(index, payload, topic),
  };
}
