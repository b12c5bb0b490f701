/**
 * The list of datastreams: searchable, grouped by thing, drawn only where it is scrolled to, so that its cost
 * does not depend on how many there are. Rows are made once and reused.
 */

import type { Datastream, Store } from "../data/store";
import { matches } from "../data/topic";
import type { Selection } from "../selection";
import { showProblems } from "./problems";
import { byId, el, setText } from "../ui/dom";
import { count, unitSign, valueText } from "../ui/figures";
import { seriesColor } from "../ui/palette";

/** Height of a row in pixels; the style sheet's `--row` says the same. */
const ROW = 32;
/** Rows kept ready above and below what is visible. */
const SPARE = 4;

type Item = { kind: "thing"; thing: string } | { kind: "datastream"; datastream: Datastream };

interface Row {
  root: HTMLElement;
  mark: HTMLElement;
  name: HTMLElement;
  value: HTMLElement;
  unit: HTMLElement;
  shown: string;
}

export class DatastreamList {
  private readonly box = byId("rows");
  private readonly search = byId<HTMLInputElement>("search");
  private readonly tall = el("div", "tall");
  private readonly rows: Row[] = [];
  private items: Item[] = [];
  private active = 0;
  private revision = -1;

  constructor(
    private readonly store: Store,
    private readonly selection: Selection,
  ) {
    this.box.append(this.tall);
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("click", (event) => this.click(event));
    this.search.addEventListener("input", () => this.refresh());
    byId("clear").addEventListener("click", () => selection.clear());
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  focusSearch(): void {
    this.search.focus();
    this.search.select();
  }

  /** Brings figures up to date; the order only where datastreams came or went. */
  update(): void {
    if (this.revision !== this.store.revision || this.store.datastreams.size === 0) this.refresh();
    else this.draw();
  }

  private refresh(): void {
    this.revision = this.store.revision;
    const found = [...this.store.datastreams.values()].filter(finder(this.search.value));
    found.sort(byThing);
    this.items = grouped(found);
    this.active = Math.min(this.active, Math.max(0, this.items.length - 1));
    this.tall.style.height = `${this.items.length * ROW}px`;
    const all = this.store.datastreams.size;
    setText(byId("list-count"), found.length === all ? String(all) : `${found.length} of ${all}`);
    const none = this.store.read ? "none" : "unread";
    this.box.dataset["empty"] = all === 0 ? none : found.length === 0 ? "unfound" : "";
    this.draw();
  }

  private draw(): void {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - SPARE);
    const visible = Math.ceil(this.box.clientHeight / ROW) + 2 * SPARE;
    const last = Math.min(this.items.length, first + visible);
    for (let i = first; i < last; i++) this.place(this.row(i - first), i);
    for (const row of this.rows.slice(Math.max(0, last - first))) hide(row);
    const online = [...this.store.datastreams.values()].filter((datastream) => !datastream.online).length;
    const stale = online === 0 ? "" : `, ${online} stale`;
    setText(byId("list-selected"), `${count(this.store.selected.length, "curve")}${stale}`);
    showProblems(this.store.datastreams.values());
  }

  private place(row: Row, index: number): void {
    const item = this.items[index] as Item;
    row.root.hidden = false;
    row.root.style.transform = `translateY(${index * ROW}px)`;
    row.root.id = `row-${index}`;
    row.root.dataset["index"] = String(index);
    row.root.classList.toggle("active", index === this.active);
    if (item.kind === "thing") placeThing(row, item.thing);
    else placeDatastream(row, item.datastream);
  }

  private row(i: number): Row {
    const known = this.rows[i];
    if (known !== undefined) return known;
    const row = newRow();
    this.tall.append(row.root);
    this.rows.push(row);
    return row;
  }

  private click(event: MouseEvent): void {
    const root = (event.target as Element).closest<HTMLElement>("[data-index]");
    if (root === null) return;
    this.active = Number(root.dataset["index"]);
    this.choose();
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.items.length,
      End: this.items.length,
    };
    const step = steps[event.key];
    if (step !== undefined) this.move(step);
    else if (event.key === "Enter" || event.key === " ") this.choose();
    else return;
    event.preventDefault();
  }

  private move(step: number): void {
    this.active = Math.min(this.items.length - 1, Math.max(0, this.active + step));
    const top = this.active * ROW;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    const bottom = top + ROW - this.box.clientHeight;
    if (bottom > this.box.scrollTop) this.box.scrollTop = bottom;
    this.box.setAttribute("aria-activedescendant", `row-${this.active}`);
    this.draw();
  }

  private choose(): void {
    const item = this.items[this.active];
    if (item?.kind === "datastream") this.selection.toggle(item.datastream.topic);
    else if (item?.kind === "thing") this.selection.toggleThing(item.thing);
    this.draw();
  }
}

/** A filter where the words look like one, else all words must occur somewhere in topic, type or sensor. */
function finder(words: string): (datastream: Datastream) => boolean {
  const trimmed = words.trim().toLowerCase();
  if (/[+#]/.test(trimmed)) return ({ topic }) => matches(trimmed, topic.toLowerCase());
  const wanted = trimmed.split(/\s+/);
  return ({ topic, type, sensor }) => {
    const all = `${topic} ${type ?? ""} ${sensor ?? ""}`.toLowerCase();
    return wanted.every((word) => all.includes(word));
  };
}

const names = new Intl.Collator("en", { numeric: true });

function byThing(a: Datastream, b: Datastream): number {
  return names.compare(a.thing, b.thing) || names.compare(a.property, b.property);
}

function grouped(found: readonly Datastream[]): Item[] {
  const items: Item[] = [];
  let thing: string | undefined;
  for (const datastream of found) {
    if (datastream.thing !== thing) items.push({ kind: "thing", thing: datastream.thing });
    thing = datastream.thing;
    items.push({ kind: "datastream", datastream });
  }
  return items;
}

function newRow(): Row {
  const [mark, name, value, unit] = [el("i"), el("span", "name"), el("span", "value"), el("span", "unit")];
  return { root: el("div", "row", mark, name, value, unit), mark, name, value, unit, shown: "" };
}

function placeThing(row: Row, thing: string): void {
  if (row.shown !== `/${thing}`) {
    row.root.className = `thing row${row.root.classList.contains("active") ? " active" : ""}`;
    row.root.setAttribute("role", "presentation");
    row.root.removeAttribute("aria-selected");
    row.root.removeAttribute("aria-description");
    row.root.classList.remove("problem");
    row.mark.removeAttribute("style");
    row.root.title = `select all of ${thing}`;
    setText(row.value, "");
    setText(row.unit, "");
    row.shown = `/${thing}`;
  }
  setText(row.name, thing || "no thing");
}

function placeDatastream(row: Row, datastream: Datastream): void {
  const selected = datastream.slot !== undefined;
  if (row.shown !== datastream.topic) {
    row.root.setAttribute("role", "option");
    row.root.classList.remove("thing");
    setText(row.name, datastream.property);
    row.shown = datastream.topic;
  }
  const problem = datastream.problem?.what;
  row.root.title = problem === undefined ? datastream.topic : `${datastream.topic}: ${problem}`;
  row.root.classList.toggle("problem", problem !== undefined);
  if (problem === undefined) row.root.removeAttribute("aria-description");
  else row.root.setAttribute("aria-description", problem);
  row.root.setAttribute("aria-selected", String(selected));
  row.root.classList.toggle("stale", !datastream.online);
  row.mark.style.color = selected ? seriesColor(datastream.slot as number) : "";
  setText(row.value, valueText(datastream.value));
  setText(row.unit, unitSign(datastream.unit));
}

function hide(row: Row): void {
  row.root.hidden = true;
  row.root.removeAttribute("id");
}
