/**
 * The encoding `plain`: the bare value as text, nothing else. It carries neither topic nor time, so the
 * dashboard subscribes to one datastream at a time and takes the arrival as the time.
 */

import { valueOfText } from "../data/observation";
import { type Format, text } from "./format";

export const plain: Format = {
  name: "plain",
  media: "text/plain",
  binary: false,
  topics: false,
  decode: (payload, topic) => [{ topic, value: valueOfText(text(payload).trim()) }],
};
