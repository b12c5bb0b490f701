/** MessagePack by msgpackr. */

import { addExtension, Unpackr } from "msgpackr/unpack";
import { bytes } from "../../formats/format";
import { observationsOf } from "../../formats/json";
import { secondsOf } from "../../formats/msgpack";
import type { Contender } from "./list";

// Its own timestamps are `Date`s, which cut to milliseconds. The type is -1 as a byte.
addExtension({ type: 0xff, unpack: secondsOf });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true });

export const byMsgpackr: Contender = {
  format: "msgpack",
  by: "msgpackr",
  decode: (payload, topic) => observationsOf(unpackr.unpack(bytes(payload)), topic),
};
