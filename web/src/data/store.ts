/**
 * The datastreams the page knows: what the catalog says of each, its latest value, and rings for those
 * selected. The one place that live messages, history and catalog meet; panels read it and never each other.
 */

import { DATASTREAMS_MAX, GAPS_MAX, RING_POINTS, SELECTED_MAX, TRACK_POINTS } from "../limits";
import { numeric, type Observation, type Value } from "./observation";
import { Ring } from "./ring";
import { splitTopic } from "./topic";

/** A datastream: one sensor, one property, one unit. */
export interface Datastream {
  readonly topic: string;
  readonly thing: string;
  readonly property: string;
  type?: string;
  unit?: string;
  sensor?: string;
  lat?: number;
  lon?: number;
  value: Value;
  /** Of the latest value, in milliseconds since the epoch. */
  time?: number;
  /** Arrival of the latest live value on the clock of `performance.now`. */
  arrival?: number;
  online: boolean;
  /** Largest magnitude seen. */
  maximum: number;
  /** What a full bar means, where the catalog says so; else `maximum` serves. */
  full?: number;
  /** Set where it is selected: the colour of its thing, shared by all of the thing's datastreams. */
  slot?: number;
  ring?: Ring;
  problem?: Problem;
  /** Observations in another unit than its own, of which its curve has none. */
  others?: Others;
}

/** How many observations there were in a unit that is not the datastream's, and when the last. */
interface Others {
  unit: string;
  times: number;
  at: number;
}

/** What of the messages to a datastream was not understood last. */
export interface Problem {
  /** What it was, and what is to be done. */
  what: string;
  /** When, in milliseconds since the epoch. */
  at?: number;
  /** How often anything was not understood. */
  times: number;
}

/** What the catalog says of a datastream. */
export type Entry = Partial<Omit<Datastream, "topic" | "thing" | "property">> & { topic: string };

/** A stretch that was missed, between two wall-clock times in milliseconds. */
export interface MissedStretch {
  from: number;
  to: number;
  reason: string;
  count?: number;
}

/** Where a thing has been, and the box its plan must show. */
export interface Track {
  lats: number[];
  lons: number[];
  south: number;
  north: number;
  west: number;
  east: number;
}

export class Store {
  readonly datastreams = new Map<string, Datastream>();
  readonly selected: Datastream[] = [];
  readonly gaps: MissedStretch[] = [];
  readonly tracks = new Map<string, Track>();
  gapCount = 0;
  /** Whether the catalog has been read. */
  read = false;
  /** Datastreams not kept because there were too many. */
  overflow = 0;
  /** Rises when datastreams come, go or change their place. */
  revision = 0;
  /** Wall-clock time of the last live message, in milliseconds. */
  lastMessage = 0;

  /** Takes the observations of one message; returns the newest observation time among them. */
  take(observations: readonly Observation[], arrival: number): number | undefined {
    const now = performance.timeOrigin + arrival;
    let newest: number | undefined;
    for (const observation of observations) {
      this.observe(observation, arrival, now);
      if (observation.time !== undefined && !(observation.time <= (newest ?? -1))) newest = observation.time;
    }
    this.lastMessage = now;
    return newest;
  }

  /**
   * Takes a reading of the catalog: adds, describes, and drops what is no longer there. Gives those whose curve
   * begins anew, since their unit is another now.
   */
  describe(entries: readonly Entry[]): Datastream[] {
    this.read = true;
    const named = new Set<string>();
    const renewed: Datastream[] = [];
    for (const entry of entries) {
      named.add(entry.topic);
      const datastream = this.at(entry.topic);
      if (datastream === undefined) continue;
      if (entry.problem === undefined) delete datastream.problem;
      const moved = datastream.lat !== entry.lat || datastream.lon !== entry.lon;
      const { unit } = datastream;
      assign(datastream, entry);
      if (unit !== undefined && unit !== datastream.unit && renew(datastream)) renewed.push(datastream);
      tellOthers(datastream);
      if (moved) this.revision++;
    }
    for (const [topic, { arrival }] of this.datastreams) {
      if (!named.has(topic) && arrival === undefined) this.forget(topic);
    }
    return renewed;
  }

  select(topic: string): Datastream | undefined {
    const datastream = this.datastreams.get(topic);
    if (datastream === undefined || datastream.slot !== undefined) return undefined;
    if (this.selected.length >= SELECTED_MAX) return undefined;
    datastream.slot = slotOf(datastream.thing, this.selected);
    datastream.ring = new Ring(RING_POINTS);
    this.selected.push(datastream);
    return datastream;
  }

  deselect(topic: string): void {
    const at = this.selected.findIndex((datastream) => datastream.topic === topic);
    if (at < 0) return;
    const [datastream] = this.selected.splice(at, 1);
    delete datastream?.slot;
    delete datastream?.ring;
  }

  missed(gap: { reason: string; count?: number }): void {
    const now = Date.now();
    this.gapCount++;
    this.gaps.push({ ...gap, from: this.lastMessage === 0 ? now : this.lastMessage, to: now });
    if (this.gaps.length > GAPS_MAX) this.gaps.shift();
  }

  private observe(observation: Observation, arrival: number, now: number): void {
    const datastream = this.at(observation.topic);
    if (datastream === undefined) return;
    const time = observation.time ?? now;
    if (datastream.time !== undefined && time < datastream.time) return;
    datastream.arrival = arrival;
    datastream.online = true;
    if (!isOfUnit(observation, datastream.unit)) return setAside(datastream, observation, time);
    datastream.value = observation.value;
    datastream.time = time;
    if (observation.unit !== undefined) datastream.unit = observation.unit;
    if (observation.type !== undefined) datastream.type = observation.type;
    this.locate(datastream, observation);
    const value = numeric(observation.value);
    if (value === undefined) return;
    if (Math.abs(value) > datastream.maximum) datastream.maximum = Math.abs(value);
    datastream.ring?.push(time, value);
  }

  private at(topic: string): Datastream | undefined {
    const known = this.datastreams.get(topic);
    if (known !== undefined) return known;
    if (this.datastreams.size >= DATASTREAMS_MAX) {
      this.overflow++;
      return undefined;
    }
    const datastream: Datastream = { topic, ...splitTopic(topic), value: null, online: false, maximum: 0 };
    this.datastreams.set(topic, datastream);
    this.revision++;
    return datastream;
  }

  private forget(topic: string): void {
    this.deselect(topic);
    this.datastreams.delete(topic);
    this.revision++;
  }

  private locate(datastream: Datastream, { lat, lon }: Observation): void {
    if (lat === undefined || lon === undefined) return;
    if (datastream.lat === lat && datastream.lon === lon) return;
    if (datastream.lat !== undefined) this.follow(datastream.thing, lat, lon);
    else this.revision++;
    datastream.lat = lat;
    datastream.lon = lon;
  }

  /** Puts earlier positions in front of a track. */
  retrace(thing: string, lats: readonly number[], lons: readonly number[]): void {
    const track = this.tracks.get(thing);
    if (track === undefined) return;
    const [laterLats, laterLons] = [track.lats, track.lons];
    track.lats = [];
    track.lons = [];
    for (const [i, lat] of lats.entries()) this.follow(thing, lat, lons[i] as number);
    for (const [i, lat] of laterLats.entries()) this.follow(thing, lat, laterLons[i] as number);
  }

  private follow(thing: string, lat: number, lon: number): void {
    const track = this.tracks.get(thing) ?? newTrack(lat, lon);
    this.tracks.set(thing, track);
    const last = track.lats.length - 1;
    if (track.lats[last] === lat && track.lons[last] === lon) return;
    track.lats.push(lat);
    track.lons.push(lon);
    if (widen(track, lat, lon)) this.revision++;
    if (track.lats.length > TRACK_POINTS) {
      track.lats.shift();
      track.lons.shift();
    }
  }
}

/** Whether a number may stand beside those of a unit: one without any contradicts none. */
export function isOfUnit(observation: Observation, unit: string | undefined): boolean {
  return unit === undefined || observation.unit === undefined || observation.unit === unit;
}

function setAside(datastream: Datastream, { unit = "" }: Observation, at: number): void {
  const { times } = datastream.others ?? { times: 0 };
  datastream.others = { unit, times: times + 1, at };
}

/** Says that there are observations which its curve does not have, where nothing else is to be said. */
function tellOthers(datastream: Datastream): void {
  if (datastream.others === undefined || datastream.problem !== undefined) return;
  const { unit, ...when } = datastream.others;
  const what = `Observations in ${unit} are not shown: the curve is in ${datastream.unit}.`;
  datastream.problem = { what, ...when };
}

/** Drops what is of the unit of before; says whether that was a curve. */
function renew(datastream: Datastream): boolean {
  delete datastream.others;
  datastream.maximum = Math.abs(numeric(datastream.value) ?? 0);
  if (datastream.ring === undefined) return false;
  datastream.ring = new Ring(RING_POINTS);
  return true;
}

function assign(datastream: Datastream, entry: Entry): void {
  const { topic: _, value, time, ...rest } = entry;
  Object.assign(datastream, rest);
  if (time !== undefined && !(time < (datastream.time ?? Number.NEGATIVE_INFINITY))) {
    datastream.value = value ?? datastream.value;
    datastream.time = time;
  }
  const magnitude = Math.abs(numeric(datastream.value) ?? 0);
  if (magnitude > datastream.maximum) datastream.maximum = magnitude;
}

function newTrack(lat: number, lon: number): Track {
  return { lats: [], lons: [], south: lat, north: lat, west: lon, east: lon };
}

/** Widens a track's box where a position leaves it, by a quarter more, so that it is not widened each time. */
function widen(track: Track, lat: number, lon: number): boolean {
  if (lat >= track.south && lat <= track.north && lon >= track.west && lon <= track.east) return false;
  const spare = Math.max(track.north - track.south, track.east - track.west, 0.001) / 4;
  if (lat < track.south) track.south = lat - spare;
  if (lat > track.north) track.north = lat + spare;
  if (lon < track.west) track.west = lon - spare;
  if (lon > track.east) track.east = lon + spare;
  return true;
}

function slotOf(thing: string, selected: readonly Datastream[]): number {
  const sibling = selected.find((datastream) => datastream.thing === thing);
  if (sibling?.slot !== undefined) return sibling.slot;
  const taken = new Set(selected.map((datastream) => datastream.slot));
  let slot = 0;
  while (taken.has(slot)) slot++;
  return slot;
}
