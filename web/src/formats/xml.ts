/**
 * The encoding `xml`, the papers' sensor message: `<observation>` elements in `<observations>`, members by
 * the same names as in JSON, read with the browser's own parser.
 */

import { type Observation, readObservation, valueOfJson, valueOfText } from "../data/observation";
import { DecodeError, type Format, text } from "./format";

export const xml: Format = {
  name: "xml",
  media: "application/xml",
  binary: false,
  topics: true,
  decode: (payload, topic) => decodeXml(text(payload), topic),
};

function decodeXml(source: string, topic: string): Observation[] {
  const tree = new DOMParser().parseFromString(source, "application/xml");
  const fault = tree.getElementsByTagName("parsererror")[0];
  if (fault) throw new DecodeError(fault.textContent?.trim() ?? "not XML");
  return Array.from(tree.getElementsByTagName("observation"), (element) => readElement(element, topic));
}

function readElement(element: Element, topic: string): Observation {
  const record: Record<string, unknown> = {};
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.nodeType !== 1) continue;
    const name = (child as Element).localName;
    record[name] = read(child as Element, name, child.textContent ?? "");
  }
  return readObservation(record, topic);
}

function read(element: Element, name: string, content: string): unknown {
  switch (name) {
    case "value":
      return readValue(element.getAttribute("kind"), content);
    case "lat":
    case "lon":
      return Number(content);
    default:
      return content;
  }
}

/** The result as it reads, unless its `kind` says that it is another (weir.xsd). */
function readValue(kind: string | null, content: string): unknown {
  if (kind === "json") return valueOfJson(content);
  if (kind === "text") return content;
  return kind === "null" ? null : valueOfText(content.trim());
}
