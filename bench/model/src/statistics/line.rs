//! A straight line through points, by least squares, and how far it is to be believed.
//!
//! Ordinary least squares of y over x, as in any textbook (Draper and Smith, Applied Regression Analysis, chapter 1):
//! points weigh alike, and what scatters around the line is taken to scatter alike everywhere. A [`Power`] is the
//! line of the logarithms, around which points scatter by a factor. What it deliberately does not do: look for the
//! form that fits best, which a few points would always grant.

use super::student;

/// Probability with which a half-open interval of Student's t leaves nothing out above: both sides make 95 %.
const ONE_SIDED: f64 = 0.975;

/// `y = base + slope * x`, how much of the points' spread it explains, and what it leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Where x is 0.
    pub base: f64,
    /// For each of x.
    pub slope: f64,
    /// Coefficient of determination, 0 to 1.
    pub r2: f64,
    /// Points.
    pub n: usize,
    /// Standard deviation of the points around it, with n - 2 degrees of freedom, in the unit of y.
    pub residual: f64,
    /// Mean of x.
    mean_x: f64,
    /// Sum of the squares by which x differs from its mean.
    xx: f64,
    /// Student's t for 95 % at n - 2 degrees.
    t: f64,
}

impl Line {
    /// Through three points or more; fewer say nothing about a line.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let over = |of: fn(f64, f64) -> f64| {
            let parts = points.iter().map(|(x, y)| of(x - mean_x, y - mean_y));
            parts.sum::<f64>()
        };
        let [xx, xy, yy] = [over(|x, _| x * x), over(|x, y| x * y), over(|_, y| y * y)];
        if points.len() < 3 || xx == 0.0 {
            return None;
        }
        let slope = xy / xx;
        let base = mean_y - slope * mean_x;
        let left = |&(x, y): &(f64, f64)| (y - base - slope * x).powi(2);
        let degrees = count - 2.0;
        Some(Self {
            base,
            slope,
            r2: if yy == 0.0 { 1.0 } else { xy * xy / (xx * yy) },
            n: points.len(),
            residual: (points.iter().map(left).sum::<f64>() / degrees).sqrt(),
            mean_x,
            xx,
            t: student::quantile(ONE_SIDED, degrees),
        })
    }

    /// The line at a place.
    pub fn at(&self, x: f64) -> f64 {
        self.base + self.slope * x
    }

    /// The 95 % confidence interval of the slope.
    pub fn slopes(&self) -> (f64, f64) {
        let half = self.t * self.residual / self.xx.sqrt();
        (self.slope - half, self.slope + half)
    }

    /// The 95 % confidence interval of the line itself at a place: of what points there have in the mean.
    pub fn between(&self, x: f64) -> (f64, f64) {
        let from_middle = (x - self.mean_x).powi(2) / self.xx;
        let half = self.t * self.residual * (1.0 / self.n as f64 + from_middle).sqrt();
        (self.at(x) - half, self.at(x) + half)
    }

    /// Whether y is seen to depend on x at all: its slope's interval does not contain 0.
    pub fn is_seen(&self) -> bool {
        let (low, high) = self.slopes();
        low > 0.0 || high < 0.0
    }
}

/// `y = factor * x ^ exponent`: the [`Line`] of the logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power(Line);

impl Power {
    /// Through three points or more whose x and y are greater than 0; others are passed over.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let positive = points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
        let logarithms: Vec<_> = positive.map(|(x, y)| (x.ln(), y.ln())).collect();
        Line::through(&logarithms).map(Self)
    }

    /// Where x is 1.
    pub fn factor(&self) -> f64 {
        self.0.base.exp()
    }

    /// By how many times as much y grows with x: 1 is in proportion, 0 not at all.
    pub fn exponent(&self) -> f64 {
        self.0.slope
    }

    /// Its 95 % confidence interval.
    pub fn exponents(&self) -> (f64, f64) {
        self.0.slopes()
    }

    /// The factor by which points scatter around it: 1 is not at all.
    pub fn residual(&self) -> f64 {
        self.0.residual.exp()
    }

    /// The line of the logarithms.
    pub fn line(&self) -> &Line {
        &self.0
    }

    /// The curve at a place greater than 0.
    pub fn at(&self, x: f64) -> f64 {
        self.0.at(x.ln()).exp()
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
        assert!(line.residual < 1e-12 && line.is_seen());
        let noisy = [(0.0, 0.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0)];
        // By hand: xx = 5, xy = 4, yy = 5.
        let line = Line::through(&noisy).unwrap();
        assert!((line.slope - 0.8).abs() < 1e-12 && (line.r2 - 0.64).abs() < 1e-12);
    }

    #[test]
    fn what_is_left_and_the_interval_of_the_slope_are_those_computed_by_hand() {
        // Base 0.3, slope 0.8; left are -0.3, 0.9, -0.9, 0.3: squares of 1.8 over two degrees of freedom.
        let noisy = [(0.0, 0.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0)];
        let line = Line::through(&noisy).unwrap();
        assert!((line.residual - 0.9f64.sqrt()).abs() < 1e-12);
        // t(0.975, 2) = 4.3027; the slope's error is sqrt(0.9 / 5) = 0.42426.
        let (low, high) = line.slopes();
        assert!((high - 2.6255).abs() < 1e-3 && (low + 1.0255).abs() < 1e-3);
        assert!(!line.is_seen());
        // At the mean of x, 1.5, only the mean's own error is left: 0.94868 / 2 * 4.3027.
        let (low, high) = line.between(1.5);
        assert!(((high - low) / 2.0 - 2.0410).abs() < 1e-3);
        let (_, far) = line.between(150.0);
        assert!(far - line.at(150.0) > 100.0 * (high - line.at(1.5)));
    }

    #[test]
    fn a_power_is_found_again_and_points_at_nothing_are_passed_over() {
        let exact = [1.0, 10.0, 100.0, 0.0].map(|x: f64| (x, 3.0 * x.powf(0.5)));
        let power = Power::through(&exact).unwrap();
        assert!((power.factor() - 3.0).abs() < 1e-9 && (power.exponent() - 0.5).abs() < 1e-9);
        assert!((power.at(10_000.0) - 300.0).abs() < 1e-6);
        assert!((power.residual() - 1.0).abs() < 1e-9 && power.line().n == 3);
        assert_eq!(Power::through(&[(1.0, 0.0), (2.0, -1.0), (3.0, 1.0)]), None);
    }

    #[test]
    fn what_is_no_line_is_none() {
        assert_eq!(Line::through(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(Line::through(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(Line::through(&[]), None);
    }
}
