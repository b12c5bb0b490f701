/**
 * Plans from positions: groups places that lie together, projects a group into a box, and joins the
 * stations of a network. No map tiles and no roads: pipes are the shortest tree that joins all stations,
 * since positions say where stations are and not how the pipes run.
 */

/** A place on the ground, degrees WGS 84. */
export interface Place {
  lat: number;
  lon: number;
}

/** A projected point in pixels. */
export interface Point {
  x: number;
  y: number;
}

/** Places closer than this are one plan: degrees, about 55 km. */
const TOGETHER_DEG = 0.5;

/** Groups of places that hang together, largest first. */
export function clusters<T extends Place>(places: readonly T[]): T[][] {
  const groups: T[][] = [];
  for (const place of places) {
    const near = groups.filter((group) => group.some((other) => near2(place, other)));
    const merged = [place, ...near.flat()];
    for (const group of near) groups.splice(groups.indexOf(group), 1);
    groups.push(merged);
  }
  return groups.sort((a, b) => b.length - a.length);
}

/** A projection of the places into a box of `width` by `height` less `margin`, true to scale, north up. */
export function projection(places: readonly Place[], width: number, height: number, margin: number) {
  const lats = places.map((place) => place.lat);
  const lons = places.map((place) => place.lon);
  const [south, north] = [least(lats), most(lats)];
  const [west, east] = [least(lons), most(lons)];
  const narrow = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const scale = Math.min(
    (width - 2 * margin) / Math.max((east - west) * narrow, 1e-4),
    (height - 2 * margin) / Math.max(north - south, 1e-4),
  );
  return (place: Place): Point => ({
    x: width / 2 + (place.lon - (west + east) / 2) * narrow * scale,
    y: height / 2 - (place.lat - (south + north) / 2) * scale,
  });
}

/** Edges of the shortest tree over the points, grown from point 0 (Prim). */
export function tree(points: readonly Point[]): [number, number][] {
  const edges: [number, number][] = [];
  const inside = new Set<number>([0]);
  while (inside.size < points.length) {
    let best: { from: number; to: number; length: number } | undefined;
    for (const from of inside) {
      for (let to = 0; to < points.length; to++) {
        if (inside.has(to)) continue;
        const length = distance(points[from] as Point, points[to] as Point);
        if (best === undefined || length < best.length) best = { from, to, length };
      }
    }
    if (best === undefined) break;
    inside.add(best.to);
    edges.push([best.from, best.to]);
  }
  return edges;
}

function near2(a: Place, b: Place): boolean {
  return Math.abs(a.lat - b.lat) < TOGETHER_DEG && Math.abs(a.lon - b.lon) < TOGETHER_DEG;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}
