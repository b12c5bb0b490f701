//! Of which dimension inside, border and outside of two geometries have what in common: the nine intersections
//! (OGC 06-103r4 section 6.1.15.2), and patterns of them.
//!
//! The plane is cut by all lines and rings; each corner, each piece between two corners and each side of a piece is
//! looked at by one point of it. Every face is at a side of some piece, so nothing is missed but what is narrower
//! than [`ASIDE`].

use super::relate::{NEAR, Place, between, cuts, middle, place};
use super::{Geometry, Point};

/// How far beside a piece its sides are looked at, at most, degrees.
const ASIDE: f64 = 1e-7;

/// The dimensions, by row what `a` has inside, at its border and outside, by column what `b` has; none where
/// there is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matrix([[Option<u8>; 3]; 3]);

impl Matrix {
    /// That of two geometries.
    pub fn of(a: &Geometry, b: &Geometry) -> Self {
        let mut matrix = Self::default();
        let mut look = |point: Point, dimension: u8| {
            let (row, column) = (place(point, a), place(point, b));
            // A side is of a face, which is at no border.
            let is_face = row != Place::Border && column != Place::Border;
            if dimension < 2 || is_face {
                let cell = &mut matrix.0[row as usize][column as usize];
                *cell = (*cell).max(Some(dimension));
            }
        };
        for (one, other) in [(a, b), (b, a)] {
            one.points.iter().for_each(|&point| look(point, 0));
            for (from, to) in cuts(one, other) {
                look(from, 0);
                look(to, 0);
                if between(from, to) > NEAR {
                    look(middle(from, to), 1);
                    sides(from, to).into_iter().for_each(|side| look(side, 2));
                }
            }
        }
        matrix.0[Place::Outside as usize][Place::Outside as usize] = Some(2);
        matrix
    }

    /// Whether it is of a pattern: `T` something, `F` nothing, `*` either, a digit something of this dimension.
    /// `None` of what is no pattern.
    pub fn is(&self, pattern: &str) -> Option<bool> {
        let cells = self.0.as_flattened();
        let holds = |(cell, sign): (&Option<u8>, u8)| match sign {
            b'*' => Some(true),
            b'T' | b't' => Some(cell.is_some()),
            b'F' | b'f' => Some(cell.is_none()),
            b'0'..=b'2' => Some(*cell == Some(sign - b'0')),
            _ => None,
        };
        if pattern.len() != cells.len() {
            return None;
        }
        let mut all = cells.iter().zip(pattern.bytes()).map(holds);
        all.try_fold(true, |so_far, holds| Some(so_far && holds?))
    }
}

/// A point at each side of a piece.
fn sides(from: Point, to: Point) -> [Point; 2] {
    let length = between(from, to);
    let aside = (length / 1000.0).clamp(4.0 * NEAR, ASIDE);
    let (dx, dy) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
    let (x, y) = middle(from, to);
    [
        (x - dy * aside, y + dx * aside),
        (x + dy * aside, y - dx * aside),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse;

    fn matrix(a: &str, b: &str) -> String {
        let Matrix(cells) = Matrix::of(&parse(a).unwrap(), &parse(b).unwrap());
        let sign = |cell: &Option<u8>| cell.map_or("F".into(), |dimension| dimension.to_string());
        cells.as_flattened().iter().map(sign).collect()
    }

    const SQUARE: &str = "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))";
    const HOLED: &str = "POLYGON ((0 0,10 0,10 10,0 10,0 0),(4 4,6 4,6 6,4 6,4 4))";
    const HOLE: &str = "POLYGON ((4 4, 6 4, 6 6, 4 6, 4 4))";

    /// As the definition has it; the first five are its figures.
    #[test]
    fn two_geometries_have_the_nine_intersections_that_they_have() {
        for (a, b, expected) in [
            (SQUARE, SQUARE, "2FFF1FFF2"),
            (
                SQUARE,
                "POLYGON ((5 5, 15 5, 15 15, 5 15, 5 5))",
                "212101212",
            ),
            (
                SQUARE,
                "POLYGON ((10 0, 20 0, 20 10, 10 10, 10 0))",
                "FF2F11212",
            ),
            (
                SQUARE,
                "POLYGON ((20 0, 30 0, 30 10, 20 10, 20 0))",
                "FF2FF1212",
            ),
            (SQUARE, HOLE, "212FF1FF2"),
            (HOLE, HOLED, "FF2F1F212"),
            ("POINT (5 5)", SQUARE, "0FFFFF212"),
            ("POINT (10 5)", SQUARE, "F0FFFF212"),
            ("POINT (1 1)", "POINT (1 1)", "0FFFFFFF2"),
            ("POINT (1 1)", "POINT (2 2)", "FF0FFF0F2"),
            ("LINESTRING (-1 5, 11 5)", SQUARE, "101FF0212"),
            ("LINESTRING (2 5, 8 5)", SQUARE, "1FF0FF212"),
            ("LINESTRING (0 0, 10 0)", SQUARE, "F1FF0F212"),
            (
                "LINESTRING (0 0, 2 2)",
                "LINESTRING (0 2, 2 0)",
                "0F1FF0102",
            ),
            (
                "LINESTRING (0 0, 2 0)",
                "LINESTRING (1 0, 3 0)",
                "1010F0102",
            ),
            (
                "LINESTRING (0 0, 1 0)",
                "LINESTRING (1 0, 1 1)",
                "FF1F00102",
            ),
            ("POINT (0 0)", "LINESTRING (0 0, 1 0)", "F0FFFF102"),
        ] {
            assert_eq!(matrix(a, b), expected, "{a} and {b}");
            let turned: String = [0, 3, 6, 1, 4, 7, 2, 5, 8]
                .map(|at| &expected[at..=at])
                .concat();
            assert_eq!(matrix(b, a), turned, "{b} and {a}");
        }
    }

    #[test]
    fn a_pattern_has_nine_signs_that_are_known() {
        let matrix = Matrix::of(&parse(SQUARE).unwrap(), &parse("POINT (5 5)").unwrap());
        for (pattern, holds) in [
            ("T*****FF*", Some(true)),
            ("0********", Some(true)),
            ("2********", Some(false)),
            ("t*f**f***", Some(false)),
            ("T*****FF", None),
            ("T*****FFX", None),
            ("", None),
        ] {
            assert_eq!(matrix.is(pattern), holds, "{pattern}");
        }
    }
}
