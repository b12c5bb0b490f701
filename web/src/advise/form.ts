/** The form: a question as fields, as a query of the page's address, and as a command line. */

import { byId, el, segments } from "../ui/dom";
import type { Levels } from "./answer";

const FIELDS = ["link", "clients", "rate", "payload"] as const;
const BY = ["latency", "bytes", "cpu", "memory"];
const PRESETS = ["browser", "encrypted", "p99<5ms", "p99<200ms", "loss<0.1%", "bytes<1kB", "target=weir"];

/** Builds the form from the levels that were measured and from the page's address. */
export function startForm(levels: Levels, changed: () => void): void {
  const given = new URLSearchParams(location.search);
  const link = byId<HTMLSelectElement>("link");
  const links = new Set([...(levels["link"] ?? ["local"]), ...given.getAll("link")]);
  for (const level of links) link.append(new Option(level, level));
  for (const level of levels["payload"] ?? []) byId("payloads").append(new Option(level, level));
  for (const field of FIELDS) {
    const value = given.get(field);
    if (value !== null) byId<HTMLInputElement>(field).value = value;
  }
  segments(byId("by"), BY, given.get("by") ?? "latency", changed);
  for (const need of given.getAll("need")) addNeed(need, changed);
  for (const preset of PRESETS) {
    const button = el("button", "preset", preset);
    button.type = "button";
    button.addEventListener("click", () => {
      addNeed(preset, changed);
      changed();
    });
    byId("presets").append(button);
  }
  const own = el("button", "preset", "another ...");
  own.type = "button";
  own.addEventListener("click", () => addNeed("", changed).focus());
  byId("presets").append(own);
}

function addNeed(text: string, changed: () => void): HTMLInputElement {
  const input = el("input");
  input.name = "need";
  input.value = text;
  input.placeholder = "p99<200ms";
  input.spellcheck = false;
  input.setAttribute("aria-label", "A need");
  const close = el("button", "quiet", "×");
  close.type = "button";
  close.setAttribute("aria-label", "Take this need out");
  const row = el("div", "need", input, close);
  close.addEventListener("click", () => {
    row.remove();
    changed();
  });
  byId("needs").append(row);
  return input;
}

/** The question as a query; what was left empty is not in it. */
export function query(): URLSearchParams {
  const asked = new URLSearchParams();
  for (const [name, value] of new FormData(byId<HTMLFormElement>("question")))
    if (typeof value === "string" && value.trim() !== "" && name !== "by") asked.append(name, value.trim());
  const by = document.querySelector<HTMLInputElement>("#by input:checked")?.value ?? "latency";
  if (by !== "latency") asked.append("by", by);
  return asked;
}

/** The question as the command that asks it. */
export function command(asked: URLSearchParams): string {
  const words = [...asked].map(([name, value]) => `--${name} ${quoted(value)}`);
  return ["weir advise", ...words].join(" ");
}

function quoted(word: string): string {
  return /^[\w./=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
