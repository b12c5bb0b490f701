/** Which datastreams are shown together: as one chart, and side by side as bars. */

import type { Datastream } from "./store";

/** As many groups may stand by themselves before datastreams of one unit share one. */
const FINE_MAX = 4;

/** What tells groups apart. */
type Kind = Pick<Datastream, "property" | "unit" | "type">;

/** One group for each property and unit; where that makes too many, for each unit. */
export function grouped<T extends Kind>(selected: readonly T[]): T[][] {
  const fine = groupBy(selected, ({ property, unit }) => `${property} ${unit ?? ""}`);
  if (fine.length <= FINE_MAX) return fine;
  return groupBy(selected, ({ unit, type, property }) => unit ?? type ?? property);
}

function groupBy<T>(selected: readonly T[], key: (datastream: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const datastream of selected) {
    const group = groups.get(key(datastream)) ?? [];
    groups.set(key(datastream), group);
    group.push(datastream);
  }
  return [...groups.values()];
}

/** What the members of a group have in common: their property, or nothing where they differ in that. */
export function groupName(members: readonly Kind[]): string {
  const [first] = members;
  const alike = members.every(({ property }) => property === first?.property);
  return alike ? (first?.property.replaceAll("/", " ") ?? "") : "";
}

/**
 * Groups one after the other in rows of at most so many; a group begins a row of its own rather than being torn
 * apart, and is torn apart only where it is longer than a row.
 */
export function rowsOf<T>(groups: readonly (readonly T[])[], capacity: number): T[][][] {
  const rows: T[][][] = [];
  let room = 0;
  for (const group of groups) {
    for (let at = 0; at < group.length; ) {
      if (room === 0 || (at === 0 && group.length > room)) {
        rows.push([]);
        room = Math.max(1, capacity);
      }
      const part = group.slice(at, at + room);
      rows[rows.length - 1]?.push(part);
      at += part.length;
      room -= part.length;
    }
  }
  return rows;
}
