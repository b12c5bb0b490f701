/**
 * What T_process stands for: observations combined with what each datastream showed before, as a page that
 * watches for what is unusual would (Babovic et al. 2016, section V, "Data Processing").
 *
 * Of each datastream the last hundred results are kept, with their mean and their bounds; the paper names the
 * step and no algorithm, so this is ours.
 */

import { numeric, type Observation } from "../data/observation";

/** Results kept of a datastream. */
export const WINDOW = 100;
/** Datastreams kept; further ones are passed over. */
const DATASTREAMS_MAX = 5000;

/** A datastream's recent past. */
export interface Track {
  readonly values: Float64Array;
  /** Results taken so far. */
  count: number;
  sum: number;
  newest: number;
  mean: number;
  least: number;
  most: number;
}

export class History {
  readonly tracks = new Map<string, Track>();

  /** Takes the observations of a message; those that are no numbers are passed over. */
  combine(observations: readonly Observation[]): void {
    for (const { topic, value } of observations) {
      const number = numeric(value);
      const track = number === undefined ? undefined : this.track(topic);
      if (track !== undefined) add(track, number as number);
    }
  }

  clear(): void {
    this.tracks.clear();
  }

  private track(topic: string): Track | undefined {
    const known = this.tracks.get(topic);
    if (known !== undefined || this.tracks.size >= DATASTREAMS_MAX) return known;
    const track = { values: new Float64Array(WINDOW), count: 0, sum: 0, newest: 0, mean: 0, least: 0, most: 0 };
    this.tracks.set(topic, track);
    return track;
  }
}

function add(track: Track, value: number): void {
  const place = track.count % WINDOW;
  const leaves = track.count >= WINDOW ? (track.values[place] as number) : 0;
  track.values[place] = value;
  track.count++;
  track.sum += value - leaves;
  track.newest = value;
  const kept = Math.min(track.count, WINDOW);
  track.mean = track.sum / kept;
  const window = track.values.subarray(0, kept);
  track.least = Math.min(...window);
  track.most = Math.max(...window);
}
