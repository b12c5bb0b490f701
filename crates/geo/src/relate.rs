//! How two geometries lie to each other (OGC 06-103r4 section 6.1.15).
//!
//! Corners and the middles of the pieces between crossings stand for all points of a line: between two
//! crossings with a boundary a piece is wholly inside or wholly outside, so nothing is missed.

use super::effort::are_apart;
use super::{Geometry, Point};

/// Degrees within which two points are one: a tenth of a millimetre on the ground.
pub(crate) const NEAR: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Inside,
    Border,
    Outside,
}

/// Whether they have a point in common.
pub fn intersects(a: &Geometry, b: &Geometry) -> bool {
    !are_apart(a, b) && meet(a, b)
}

fn meet(a: &Geometry, b: &Geometry) -> bool {
    pieces(a, b).any(|point| place(point, b) != Place::Outside)
        || pieces(b, a).any(|point| place(point, a) != Place::Outside)
}

/// Whether no point of `b` lies outside of `a`, and some lies within.
pub fn contains(a: &Geometry, b: &Geometry) -> bool {
    if are_apart(a, b) {
        return false;
    }
    let mut within = false;
    for point in pieces(b, a) {
        match place(point, a) {
            Place::Outside => return false,
            Place::Inside => within = true,
            Place::Border => {}
        }
    }
    // A border of `a` inside of a polygon `b` means that `b` goes beyond.
    let goes_beyond = b.dimension() == 2
        && (a.dimension() < 2 || pieces(a, b).any(|point| place(point, b) == Place::Inside));
    !goes_beyond && (within || (b.dimension() == 2 && equals_corners(a, b)))
}

/// Whether each covers the other.
pub fn equals(a: &Geometry, b: &Geometry) -> bool {
    a.dimension() == b.dimension()
        && !are_apart(a, b)
        && pieces(a, b).all(|point| place(point, b) != Place::Outside)
        && pieces(b, a).all(|point| place(point, a) != Place::Outside)
        && (a.dimension() < 2
            || (pieces(a, b).all(|point| place(point, b) == Place::Border)
                && pieces(b, a).all(|point| place(point, a) == Place::Border)))
}

/// Whether they have points in common, but none within both.
pub fn touches(a: &Geometry, b: &Geometry) -> bool {
    intersects(a, b) && !interiors_meet(a, b)
}

/// Whether they share a part of their own dimension, and neither contains the other.
pub fn overlaps(a: &Geometry, b: &Geometry) -> bool {
    a.dimension() == b.dimension()
        && interiors_meet(a, b)
        && !contains(a, b)
        && !contains(b, a)
        && (a.dimension() != 1 || shares_a_piece(a, b))
}

/// Whether they share inner points of a lesser dimension, and one goes on beyond the other.
pub fn crosses(a: &Geometry, b: &Geometry) -> bool {
    let beyond = |a: &Geometry, b: &Geometry| pieces(a, b).any(|it| place(it, b) == Place::Outside);
    match (a.dimension(), b.dimension()) {
        (1, 1) => interiors_meet(a, b) && !shares_a_piece(a, b),
        (x, y) if x < y => interiors_meet(a, b) && beyond(a, b),
        (x, y) if x > y => interiors_meet(a, b) && beyond(b, a),
        _ => false,
    }
}

/// The least distance, degrees.
pub fn distance(a: &Geometry, b: &Geometry) -> f64 {
    if intersects(a, b) {
        return 0.0;
    }
    let to = |from: &Geometry, other: &Geometry| {
        let each = from.corners().map(|point| to_geometry(point, other));
        each.fold(f64::INFINITY, f64::min)
    };
    to(a, b).min(to(b, a))
}

fn to_geometry(point: Point, other: &Geometry) -> f64 {
    let points = other.points.iter().map(|&it| between(point, it));
    let segments = other.segments().map(|(a, b)| to_segment(point, a, b));
    points.chain(segments).fold(f64::INFINITY, f64::min)
}

/// Length of all lines, degrees.
pub fn length(geometry: &Geometry) -> f64 {
    let pieces = geometry.lines.iter().flat_map(|line| line.windows(2));
    pieces.map(|pair| between(pair[0], pair[1])).sum()
}

pub(crate) fn between(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

fn to_segment(point: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let squared = dx * dx + dy * dy;
    let along = if squared > 0.0 {
        ((point.0 - a.0) * dx + (point.1 - a.1) * dy) / squared
    } else {
        0.0
    };
    let along = along.clamp(0.0, 1.0);
    between(point, (a.0 + along * dx, a.1 + along * dy))
}

fn equals_corners(a: &Geometry, b: &Geometry) -> bool {
    pieces(a, b).all(|point| place(point, b) == Place::Border)
        && pieces(b, a).all(|point| place(point, a) == Place::Border)
}

fn interiors_meet(a: &Geometry, b: &Geometry) -> bool {
    if are_apart(a, b) {
        return false;
    }
    let both = |point: Point| place(point, a) == Place::Inside && place(point, b) == Place::Inside;
    let inner = |of: &Geometry, other: &Geometry| pieces(of, other).any(both);
    inner(a, b) || inner(b, a) || (a.dimension() == 2 && b.dimension() == 2 && areas_meet(a, b))
}

/// Whether two areas share more than a border.
fn areas_meet(a: &Geometry, b: &Geometry) -> bool {
    pieces(a, b).any(|point| place(point, b) == Place::Inside)
        || pieces(b, a).any(|point| place(point, a) == Place::Inside)
        || equals_corners(a, b)
}

fn shares_a_piece(a: &Geometry, b: &Geometry) -> bool {
    cuts(a, b)
        .any(|(from, to)| between(from, to) > NEAR && place(middle(from, to), b) != Place::Outside)
}

pub(crate) fn middle(a: Point, b: Point) -> Point {
    ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0)
}

/// Points of `a` that tell how all of it lies to `b`.
fn pieces<'a>(a: &'a Geometry, b: &'a Geometry) -> impl Iterator<Item = Point> + 'a {
    let cut = cuts(a, b).flat_map(|(from, to)| [from, middle(from, to), to]);
    a.points.iter().copied().chain(cut)
}

/// The segments of `a`, cut where they meet those of `b`.
pub(crate) fn cuts<'a>(
    a: &'a Geometry,
    b: &'a Geometry,
) -> impl Iterator<Item = (Point, Point)> + 'a {
    a.segments().flat_map(move |(from, to)| {
        let mut along = vec![0.0, 1.0];
        along.extend(b.segments().flat_map(|(c, d)| meeting(from, to, c, d)));
        let single = b
            .points
            .iter()
            .filter(|&&it| to_segment(it, from, to) <= NEAR);
        along.extend(single.map(|&it| between(from, it) / between(from, to).max(NEAR)));
        along.sort_by(f64::total_cmp);
        let at = move |t: f64| (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
        let pairs: Vec<_> = along
            .windows(2)
            .map(|pair| (at(pair[0]), at(pair[1])))
            .collect();
        pairs
    })
}

/// How often pieces of two geometries cross.
pub(crate) fn crossings(a: &Geometry, b: &Geometry) -> usize {
    let of_piece = |(from, to): (Point, Point)| {
        let met = b.segments().map(|(c, d)| meeting(from, to, c, d).len());
        met.sum::<usize>()
    };
    a.segments().map(of_piece).sum()
}

/// Where along the first segment the second meets it: nowhere, once, or from where to where.
fn meeting(a: Point, b: Point, c: Point, d: Point) -> Vec<f64> {
    let (r, s) = ((b.0 - a.0, b.1 - a.1), (d.0 - c.0, d.1 - c.1));
    let cross = |u: Point, v: Point| u.0 * v.1 - u.1 * v.0;
    let (to, turn) = ((c.0 - a.0, c.1 - a.1), cross(r, s));
    let squared = r.0 * r.0 + r.1 * r.1;
    if squared == 0.0 {
        return Vec::new();
    }
    if turn.abs() > NEAR * NEAR {
        let (t, u) = (cross(to, s) / turn, cross(to, r) / turn);
        let within = |it: f64| (-NEAR..=1.0 + NEAR).contains(&it);
        return Some(t.clamp(0.0, 1.0))
            .filter(|_| within(t) && within(u))
            .into_iter()
            .collect();
    }
    if to_segment(c, a, b) > NEAR && to_segment(d, a, b) > NEAR && to_segment(a, c, d) > NEAR {
        return Vec::new();
    }
    let along = |p: Point| ((p.0 - a.0) * r.0 + (p.1 - a.1) * r.1) / squared;
    [along(c), along(d)].map(|t| t.clamp(0.0, 1.0)).to_vec()
}

/// Where a point lies to a geometry. Ends of a line that is not closed are its border.
pub(crate) fn place(point: Point, geometry: &Geometry) -> Place {
    for polygon in &geometry.polygons {
        match in_polygon(point, polygon) {
            Place::Outside => {}
            found => return found,
        }
    }
    for line in &geometry.lines {
        let on = line
            .windows(2)
            .any(|pair| to_segment(point, pair[0], pair[1]) <= NEAR);
        let ends = [line.first(), line.last()].into_iter().flatten();
        let closed = line.first() == line.last();
        match (
            on,
            !closed && ends.into_iter().any(|&end| between(point, end) <= NEAR),
        ) {
            (false, _) => {}
            (true, true) => return Place::Border,
            (true, false) => return Place::Inside,
        }
    }
    if geometry.points.iter().any(|&it| between(point, it) <= NEAR) {
        Place::Inside
    } else {
        Place::Outside
    }
}

fn in_polygon(point: Point, rings: &[Vec<Point>]) -> Place {
    let on = |ring: &Vec<Point>| {
        ring.windows(2)
            .any(|pair| to_segment(point, pair[0], pair[1]) <= NEAR)
    };
    if rings.iter().any(on) {
        return Place::Border;
    }
    let Some((outer, holes)) = rings.split_first() else {
        return Place::Outside;
    };
    if is_around(outer, point) && !holes.iter().any(|hole| is_around(hole, point)) {
        Place::Inside
    } else {
        Place::Outside
    }
}

/// Counts how often a ray to the east crosses the ring.
fn is_around(ring: &[Point], (x, y): Point) -> bool {
    let crosses = |pair: &&[Point]| {
        let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
        (ay > y) != (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax
    };
    ring.windows(2).filter(crosses).count() % 2 == 1
}
