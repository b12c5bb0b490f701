/**
 * The encoding `plain`: bare values as text, one a line. It carries neither topic nor time, so the
 * dashboard subscribes to one datastream at a time and takes the arrival as the time.
 */

import { valueOfText } from "../data/observation";
import { type Format, text } from "./format";

export const plain: Format = {
  name: "plain",
  media: "text/plain",
  binary: false,
  multiline: true,
  topics: false,
  decode: (payload, topic) => {
    const lines = text(payload)
      .split(/\r?\n/)
      .filter((line) => line !== "");
    return lines.map((line) => ({ topic, value: valueOfText(line) }));
  },
};
