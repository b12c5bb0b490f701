/**
 * The encoding `csv` (RFC 4180): a header line that names the columns, then one observation a line; quoted
 * fields may hold commas, quotes and line breaks. A quoted value is a text, a bare one is read as in `plain`.
 */

import { numberOfText, type Observation, readObservation, valueOfText } from "../data/observation";
import { DecodeError, type Format, text } from "./format";

export const csv: Format = {
  name: "csv",
  media: "text/csv",
  binary: false,
  multiline: true,
  topics: true,
  decode: (payload, topic) => decodeCsv(text(payload), topic),
};

/** A field and whether it stood in quotes. */
interface Field {
  content: string;
  quoted: boolean;
}

function decodeCsv(source: string, topic: string): Observation[] {
  const [header = [], ...rows] = rowsOf(source);
  const names = header.map((field) => field.content.trim());
  if (!names.includes("value")) throw new DecodeError("line 1: no column is named value");
  return rows.map((row) => readObservation(record(names, row), topic));
}

function record(names: string[], row: Field[]): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) {
    const field = row[i];
    if (field === undefined || (field.content === "" && !field.quoted)) continue;
    if (name === "value") members[name] = field.quoted ? field.content : valueOfText(field.content);
    else if (name === "lat" || name === "lon") members[name] = numberOfText(field.content);
    else members[name] = field.content;
  }
  return members;
}

function rowsOf(source: string): Field[][] {
  const rows: Field[][] = [];
  let row: Field[] = [];
  let at = 0;
  while (at < source.length) {
    const [field, end] = source[at] === '"' ? quoted(source, at) : bare(source, at);
    row.push(field);
    at = end;
    if (source[at] === ",") {
      at++;
      continue;
    }
    if (row.length > 1 || field.content !== "") rows.push(row);
    row = [];
    at += source.startsWith("\r\n", at) ? 2 : 1;
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

function bare(source: string, start: number): [Field, number] {
  let end = start;
  while (end < source.length && !",\r\n".includes(source[end] as string)) end++;
  return [{ content: source.slice(start, end), quoted: false }, end];
}

function quoted(source: string, start: number): [Field, number] {
  let content = "";
  let at = start + 1;
  for (;;) {
    const end = source.indexOf('"', at);
    if (end < 0) throw new DecodeError(`character ${start}: a quoted field does not end`);
    content += source.slice(at, end);
    if (source[end + 1] !== '"') return [{ content, quoted: true }, end + 1];
    content += '"';
    at = end + 2;
  }
}
