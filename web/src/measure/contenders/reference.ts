/** MessagePack by its reference implementation, `@msgpack/msgpack`. */

import { Decoder, ExtensionCodec } from "@msgpack/msgpack";
import { bytes } from "../../formats/format";
import { observationsOf } from "../../formats/json";
import { secondsOf } from "../../formats/msgpack";
import type { Contender } from "./list";

const extensions = new ExtensionCodec();
extensions.register({ type: -1, encode: () => null, decode: secondsOf });
const decoder = new Decoder({ extensionCodec: extensions });

export const byReference: Contender = {
  format: "msgpack",
  by: "@msgpack/msgpack",
  decode: (payload, topic) => observationsOf(decoder.decode(bytes(payload)), topic),
};
