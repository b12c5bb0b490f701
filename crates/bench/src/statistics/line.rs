//! A straight line through points, by least squares.

/// `y = base + slope * x`, and how much of the points' spread it explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// Where x is 0.
    pub(crate) base: f64,
    /// For each of x.
    pub(crate) slope: f64,
    /// Coefficient of determination, 0 to 1.
    pub(crate) r2: f64,
}

impl Line {
    /// Through three points or more; fewer say nothing about a line.
    pub(crate) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let over = |of: fn(f64, f64) -> f64| {
            let parts = points.iter().map(|(x, y)| of(x - mean_x, y - mean_y));
            parts.sum::<f64>()
        };
        let [xx, xy, yy] = [over(|x, _| x * x), over(|x, y| x * y), over(|_, y| y * y)];
        if points.len() < 3 || xx == 0.0 {
            return None;
        }
        let slope = xy / xx;
        let r2 = if yy == 0.0 { 1.0 } else { xy * xy / (xx * yy) };
        let base = mean_y - slope * mean_x;
        Some(Self { base, slope, r2 })
    }

    /// The line at a place.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.base + self.slope * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again_and_noise_lowers_what_it_explains() {
        let exact: Vec<_> = [0.0, 1.0, 5.0, 9.0].map(|x| (x, 3.0 + 2.0 * x)).into();
        let line = Line::through(&exact).unwrap();
        assert!((line.base - 3.0).abs() < 1e-12 && (line.slope - 2.0).abs() < 1e-12);
        assert!((line.r2 - 1.0).abs() < 1e-12 && (line.at(100.0) - 203.0).abs() < 1e-9);
        let noisy = [(0.0, 0.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0)];
        // By hand: xx = 5, xy = 4, yy = 5.
        let line = Line::through(&noisy).unwrap();
        assert!((line.slope - 0.8).abs() < 1e-12 && (line.r2 - 0.64).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_line_is_none() {
        assert_eq!(Line::through(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(Line::through(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(Line::through(&[]), None);
    }
}
