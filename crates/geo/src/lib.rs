//! Geometries in the plane of degrees: WKT (OGC 06-103r4 section 7) and GeoJSON (RFC 7946), and how two of
//! them lie to each other.
//!
//! Points, lines and polygons with holes, and collections of each. Distances and lengths are degrees, as
//! the coordinates are. Deliberately no curves and no knowledge of reference systems: whoever reads coordinates turns
//! them into degrees of WGS 84. Filters of SensorThings and of the Sensor Observation Service share it.
//!
//! It touches nothing but memory.
//!
//! ```
//! use weir_geo::{contains, distance, parse};
//!
//! let square = parse("POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))").unwrap();
//! let (inside, outside) = (parse("POINT(1 1)").unwrap(), parse("POINT(5 2)").unwrap());
//! assert!(contains(&square, &inside));
//! assert!(!contains(&square, &outside));
//! assert_eq!(distance(&square, &outside), 3.0);
//! ```
#![forbid(unsafe_code)]

mod effort;
mod matrix;
mod read;
mod relate;

pub use effort::effort;
pub use matrix::Matrix;
pub use read::{of_json, parse, system};
pub use relate::{contains, crosses, distance, equals, intersects, length, overlaps, touches};

/// Degrees east and north.
pub type Point = (f64, f64);

/// A geometry as its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// Points by themselves.
    pub points: Vec<Point>,
    /// Lines.
    pub lines: Vec<Vec<Point>>,
    /// Rings of each polygon, the outer one first.
    pub polygons: Vec<Vec<Vec<Point>>>,
}

impl Geometry {
    /// 0 of points, 1 of lines, 2 of polygons.
    pub fn dimension(&self) -> usize {
        match (self.polygons.is_empty(), self.lines.is_empty()) {
            (false, _) => 2,
            (true, false) => 1,
            (true, true) => 0,
        }
    }

    /// Every straight piece: of lines, and of the rings of polygons.
    pub fn segments(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        let rings = self.polygons.iter().flatten();
        let chains = self.lines.iter().chain(rings);
        chains.flat_map(|chain| chain.windows(2).map(|pair| (pair[0], pair[1])))
    }

    /// Every corner.
    pub fn corners(&self) -> impl Iterator<Item = Point> + '_ {
        let chains = self.lines.iter().chain(self.polygons.iter().flatten());
        self.points.iter().chain(chains.flatten()).copied()
    }
}
