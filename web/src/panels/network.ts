/**
 * The network from above: what has a position, grouped into plans of places that lie together. A heating
 * network gets its pipes, a thing that moves its track. Built anew only when places or the panel's size
 * change; colours and words are updated in place.
 */

import { clusters, type Place, type Point, projection, tree } from "../data/geo";
import { type Box, labelSpot } from "../data/labels";
import { numeric } from "../data/observation";
import type { Datastream, Store } from "../data/store";
import { PLACES_MAX } from "../limits";
import { byId, el, setText, svg } from "../ui/dom";
import { unitSign, valueText } from "../ui/figures";

const MARGIN = 26;
const STATION_R = 10;
const POINT_R = 6;
const PLANT_HALF = 13;

type Project = (place: Place) => Point;

/** A thing at a place, with its datastreams. */
interface Thing extends Place {
  name: string;
  datastreams: Datastream[];
}

interface Mark {
  thing: Thing;
  root: SVGGElement;
  value: SVGTextElement;
  project: Project;
  track: SVGPolylineElement | undefined;
  /** Of its plan. */
  width: number;
}

export class Network {
  private readonly box = byId("plans");
  private built = "";
  private marks: Mark[] = [];

  constructor(
    private readonly store: Store,
    private readonly pick: (thing: string) => void,
  ) {}

  update(): void {
    const wanted = `${this.store.revision} ${this.box.clientWidth} ${this.box.clientHeight}`;
    if (this.built !== wanted) this.build();
    this.built = wanted;
    const heat = spanOf(this.marks.map(({ thing }) => leading(thing)));
    const alarms = this.marks.flatMap(({ thing }) => alarmOf(thing) ?? []);
    for (const mark of this.marks) {
      this.refresh(mark, heat);
      mark.root.classList.toggle(
        "alarm",
        alarms.some((alarm) => concerns(alarm, mark.thing)),
      );
    }
    this.note(alarms);
  }

  /** An alarm, if there is one, else how many places there are. */
  private note(alarms: readonly string[]): void {
    const places = this.marks.length === 0 ? "" : `${this.marks.length} places`;
    const note = byId("network-note");
    note.classList.toggle("alarm", alarms.length > 0);
    setText(note, alarms.length === 0 ? places : `alarm: ${alarms.join(", ")}`);
  }

  private build(): void {
    this.marks = [];
    const things = located(this.store);
    const groups = clusters(things);
    const figures = groups.map((group, i) => frame(group, i === 0));
    this.box.replaceChildren(...figures.map(({ figure }) => figure));
    for (const [i, group] of groups.entries()) this.plan(group, figures[i]?.drawing as SVGSVGElement);
    if (groups.length === 0) this.box.append(el("p", "empty", "No datastream has a position yet."));
  }

  private plan(group: Thing[], drawing: SVGSVGElement): void {
    const { clientWidth: width, clientHeight: height } = drawing;
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const project = projection([...group, ...corners(this.store, group)], width, height, MARGIN);
    const edges = pipes(group, project);
    drawing.append(...edges.flatMap(([from, to]) => pair(from, to)));
    const taken = [...group.map((thing) => around(project(thing), radius(thing))), ...edges.flatMap(along)];
    for (const thing of group) this.mark(thing, project, group.length > 1, taken, drawing);
  }

  private mark(
    thing: Thing,
    project: Project,
    numbered: boolean,
    taken: Box[],
    drawing: SVGSVGElement,
  ): void {
    const root = svg("g", { class: `place ${kindOf(thing)}`, tabindex: 0, role: "button" });
    const title = svg("title");
    title.textContent = `${thing.name}: select its datastreams`;
    const name = svg("text", { class: "name", y: 4 });
    if (numbered) name.textContent = shortName(thing.name);
    const spot = labelSpot(project(thing), radius(thing), taken, drawing.clientWidth, drawing.clientHeight);
    const value = svg("text", {
      class: "value",
      x: spot?.x ?? 0,
      y: spot?.y ?? 0,
      "text-anchor": spot?.anchor ?? "middle",
    });
    if (spot === undefined) value.classList.add("crowded");
    root.append(title, svg("circle", { r: 20, class: "target" }), shape(thing), name, value);
    const track = moves(this.store, thing) ? svg("polyline", { class: "track" }) : undefined;
    if (track !== undefined) drawing.append(track);
    drawing.append(root);
    this.answer(root, thing);
    this.marks.push({ thing, root, value, project, track, width: drawing.clientWidth });
  }

  private answer(root: SVGGElement, thing: Thing): void {
    root.addEventListener("click", () => this.pick(thing.name));
    root.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.pick(thing.name);
    });
  }

  private refresh({ thing, root, value, project, track, width }: Mark, heat: [number, number]): void {
    const { x, y } = project(current(thing));
    root.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    const lead = leading(thing);
    setText(value, lead === undefined ? "" : `${briefly(lead)} ${unitSign(lead.unit)}`.trim());
    root.classList.toggle("stale", !thing.datastreams.some((datastream) => datastream.online));
    root.classList.toggle(
      "selected",
      thing.datastreams.some((datastream) => datastream.slot !== undefined),
    );
    root.style.setProperty("--warmth", warmth(lead, heat));
    if (track === undefined) return;
    track.setAttribute("points", polyline(this.store, thing, project));
    turnInwards(value, x < width / 2, radius(thing));
  }
}

/** The value of what moves stands on the side where there is room. */
function turnInwards(value: SVGTextElement, right: boolean, r: number): void {
  value.setAttribute("x", String(right ? r + 4 : -r - 4));
  value.setAttribute("y", "4");
  value.setAttribute("text-anchor", right ? "start" : "end");
}

function located(store: Store): Thing[] {
  const things = new Map<string, Thing>();
  for (const datastream of store.datastreams.values()) {
    const { lat, lon, thing: name, topic } = datastream;
    if (lat === undefined || lon === undefined) continue;
    const thing = things.get(name) ?? { name: name || topic, lat, lon, datastreams: [] };
    thing.datastreams.push(datastream);
    things.set(name, thing);
  }
  return [...things.values()].slice(0, PLACES_MAX);
}

function frame(group: readonly Thing[], large: boolean) {
  const name = planName(group);
  const drawing = svg("svg", { role: "group", "aria-label": name });
  const caption = el("figcaption", "", name, el("span", "", where(group)));
  return { drawing, figure: el("figure", large ? "plan large" : "plan", drawing, caption) };
}

function shape(thing: Thing): SVGElement {
  if (kindOf(thing) !== "plant") return svg("circle", { class: "shape", r: radius(thing) });
  const side = 2 * PLANT_HALF;
  return svg("rect", { class: "shape", x: -PLANT_HALF, y: -PLANT_HALF, width: side, height: side, rx: 6 });
}

function radius(thing: Thing): number {
  const kind = kindOf(thing);
  return kind === "plant" ? PLANT_HALF : kind === "station" ? STATION_R : POINT_R;
}

function around({ x, y }: Point, r: number): Box {
  return { left: x - r, right: x + r, top: y - r, bottom: y + r };
}

/** Where the pipes of a heating network begin and end. */
function pipes(group: readonly Thing[], project: Project): [Point, Point][] {
  const stations = group.filter((thing) => thing.name.startsWith("heating/"));
  stations.sort((a, b) => Number(kindOf(b) === "plant") - Number(kindOf(a) === "plant"));
  const points = stations.map(project);
  return tree(points).map(([from, to]) => [points[from] as Point, points[to] as Point]);
}

/** Small boxes along a pipe, so that no label lies across it. */
function along([a, b]: [Point, Point]): Box[] {
  const steps = Math.max(1, Math.ceil(Math.hypot(b.x - a.x, b.y - a.y) / 6));
  return Array.from({ length: steps }, (_, i) => {
    const share = i / steps;
    return around({ x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share }, 3);
  });
}

/** Supply and return side by side. */
function pair(a: Point, b: Point): SVGElement[] {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [dx, dy] = [(-(b.y - a.y) / length) * 1.8, ((b.x - a.x) / length) * 1.8];
  const line = (kind: string, side: number) =>
    svg("line", {
      class: `pipe ${kind}`,
      x1: a.x + dx * side,
      y1: a.y + dy * side,
      x2: b.x + dx * side,
      y2: b.y + dy * side,
    });
  return [line("supply", 1), line("return", -1)];
}

function kindOf(thing: Thing): "plant" | "station" | "point" {
  if (/(^|\/)plant/.test(thing.name)) return "plant";
  return thing.name.startsWith("heating/") ? "station" : "point";
}

/** The datastream that stands for a thing: its supply temperature, a temperature, a speed, or the first. */
function leading(thing: Thing): Datastream | undefined {
  const find = (pattern: RegExp) => thing.datastreams.find(({ property }) => pattern.test(property));
  return find(/supply\/temperature/) ?? find(/temperature/) ?? find(/speed/) ?? thing.datastreams[0];
}

/** What a thing's datastream named alarm says, unless that is nothing. */
function alarmOf(thing: Thing): string | undefined {
  const alarm = thing.datastreams.find(({ property }) => /(^|\/)alarm$/.test(property))?.value;
  if (alarm === true) return thing.name;
  return typeof alarm === "string" && alarm !== "" && alarm !== "none" ? alarm : undefined;
}

/** Whether an alarm names a thing, or is its own. */
function concerns(alarm: string, thing: Thing): boolean {
  const last = thing.name.slice(thing.name.lastIndexOf("/") + 1);
  return alarm.split(/\s+/).includes(last) || alarmOf(thing) === alarm;
}

/** Where the thing is now: the newest position among its datastreams. */
function current(thing: Thing): Place {
  const newest = thing.datastreams.reduce((a, b) => ((b.arrival ?? 0) > (a.arrival ?? 0) ? b : a));
  return newest.lat === undefined || newest.lon === undefined ? thing : { lat: newest.lat, lon: newest.lon };
}

/** Coldest and warmest of the stations' temperatures. */
function spanOf(leads: readonly (Datastream | undefined)[]): [number, number] {
  const values = leads.flatMap((lead) =>
    lead?.property.startsWith("supply/") ? (numeric(lead.value) ?? []) : [],
  );
  return [Math.min(...values), Math.max(...values)];
}

/** Where a temperature lies between the coldest and the warmest. */
function warmth(lead: Datastream | undefined, [cold, warm]: [number, number]): string {
  const value = lead === undefined ? undefined : numeric(lead.value);
  if (value === undefined || !(warm > cold)) return "50%";
  return `${Math.round(Math.min(1, Math.max(0, (value - cold) / (warm - cold))) * 100)}%`;
}

/** A temperature to the degree where marks are close, else the value as everywhere. */
function briefly(lead: Datastream): string {
  return lead.unit === "Cel" && typeof lead.value === "number"
    ? lead.value.toFixed(1)
    : valueText(lead.value);
}

function moves(store: Store, thing: Thing): boolean {
  return store.tracks.has(thing.name);
}

/** Corners of the boxes of all tracks, so that the plan shows them whole. */
function corners(store: Store, group: readonly Thing[]): Place[] {
  return group.flatMap(({ name }) => {
    const track = store.tracks.get(name);
    if (track === undefined) return [];
    return [
      { lat: track.south, lon: track.west },
      { lat: track.north, lon: track.east },
    ];
  });
}

function polyline(store: Store, thing: Thing, project: Project): string {
  const track = store.tracks.get(thing.name);
  if (track === undefined) return "";
  const points = track.lats.map((lat, i) => project({ lat, lon: track.lons[i] as number }));
  return points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}

function planName(group: readonly Thing[]): string {
  const first = group[0] as Thing;
  return group.length === 1 ? first.name : (first.name.split("/")[0] as string);
}

function where(group: readonly Thing[]): string {
  const { lat, lon } = group[0] as Thing;
  return `${Math.abs(lat).toFixed(2)}° ${lat < 0 ? "S" : "N"} ${Math.abs(lon).toFixed(2)}° ${lon < 0 ? "W" : "E"}`;
}

function shortName(name: string): string {
  const last = name.slice(name.lastIndexOf("/") + 1);
  return /(\d+)$/.exec(last)?.[1] ?? last.slice(0, 1).toUpperCase();
}
