//! What it costs to tell how two geometries lie to each other, so that who asks can be held to a limit before it is
//! spent: pairs of pieces that are tried, and points that are looked at.
//!
//! Two whose boxes are apart cost next to nothing, since nothing is tried ([`Bounds::are_apart`]).

use super::relate::{NEAR, crossings};
use super::{Geometry, Point};

/// How often a relation goes over all pairs of pieces: those that are told apart by more than one question.
const PASSES: usize = 4;

/// Steps of some nanoseconds each that a relation of two geometries takes at most, in order of magnitude.
pub fn effort(a: &Geometry, b: &Geometry) -> usize {
    let [of_a, of_b] = [a, b].map(|it| it.corners().count());
    if Bounds::are_apart(a, b) {
        return of_a + of_b;
    }
    let pairs = of_a * of_b;
    // Each piece between two crossings is looked at by a point of it, from all of either geometry.
    let pieces = of_a + of_b + 2 * crossings(a, b);
    PASSES * pairs + pieces * (of_a + of_b)
}

/// The box around a geometry.
struct Bounds {
    least: Point,
    most: Point,
}

impl Bounds {
    fn of(geometry: &Geometry) -> Self {
        let nowhere = Self {
            least: (f64::INFINITY, f64::INFINITY),
            most: (f64::NEG_INFINITY, f64::NEG_INFINITY),
        };
        geometry.corners().fold(nowhere, |so_far, (x, y)| Self {
            least: (so_far.least.0.min(x), so_far.least.1.min(y)),
            most: (so_far.most.0.max(x), so_far.most.1.max(y)),
        })
    }

    /// Whether two geometries cannot have a point in common.
    fn are_apart(a: &Geometry, b: &Geometry) -> bool {
        let (a, b) = (Self::of(a), Self::of(b));
        let behind =
            |a: &Self, b: &Self| a.least.0 > b.most.0 + NEAR || a.least.1 > b.most.1 + NEAR;
        behind(&a, &b) || behind(&b, &a)
    }
}

/// Whether two geometries lie so far from each other that their boxes tell it.
pub(crate) fn are_apart(a: &Geometry, b: &Geometry) -> bool {
    Bounds::are_apart(a, b)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{intersects, parse};

    /// A comb of so many teeth, upright or lying.
    fn comb(teeth: usize, is_upright: bool) -> Geometry {
        let corners = (0..2 * teeth).map(|n| {
            let (x, y) = (n as f64, if n % 2 == 0 { 0.0 } else { 2.0 * teeth as f64 });
            if is_upright {
                format!("{x} {y}")
            } else {
                format!("{y} {x}")
            }
        });
        let corners: Vec<_> = corners.collect();
        parse(&format!("LINESTRING({})", corners.join(","))).unwrap()
    }

    #[test]
    fn what_crosses_often_costs_more_than_its_pairs() {
        let (a, b) = (comb(20, true), comb(20, false));
        assert!(effort(&a, &b) > 40 * 40 * 40, "{}", effort(&a, &b));
        let far = parse("LINESTRING(1000 1000, 1001 1001)").unwrap();
        assert_eq!(effort(&a, &far), 42);
        assert!(!intersects(&a, &far));
        let point = parse("POINT(1 1)").unwrap();
        assert!(effort(&point, &a) < 4000);
    }

    #[test]
    fn boxes_that_touch_are_not_apart() {
        let near = ["POINT(1 1)", "POLYGON((1 1, 2 1, 2 2, 1 1))"].map(|text| parse(text).unwrap());
        assert!(!are_apart(&near[0], &near[1]));
        assert!(intersects(&near[0], &near[1]));
    }
}
