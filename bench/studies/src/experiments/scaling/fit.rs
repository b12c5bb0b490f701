//! What is laid through a curve's points: a line, or a power where what grows shares its costs.
//!
//! Which of them is said beside the curve, by what the gateway does there, and not chosen by what fits better.

use weir_bench_model::number::number;
use weir_bench_model::statistics::line::{Line, Power};

/// The form that is to be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Each costs as much as the one before.
    Line,
    /// The more there are, the less (or the more) one costs.
    Power,
}

/// What was found.
pub(super) enum Fit {
    Line(Line),
    Power(Power),
}

impl Fit {
    /// Through points; fewer than three say nothing.
    pub(super) fn through(form: Form, points: &[(f64, f64)]) -> Option<Self> {
        match form {
            Form::Line => Line::through(points).map(Self::Line),
            Form::Power => Power::through(points).map(Self::Power),
        }
    }

    /// It at a place.
    pub(super) fn at(&self, x: f64) -> f64 {
        match self {
            Self::Line(line) => line.at(x),
            Self::Power(power) => power.at(x),
        }
    }

    /// The curve in words: `y = a + b x`, of a line for each thousand.
    pub(super) fn formula(&self) -> String {
        match self {
            Self::Line(line) => {
                let each = line.slope * 1000.0;
                let sign = if each < 0.0 { "-" } else { "+" };
                let (base, each) = (digits(line.base), digits(each.abs()));
                format!("{base} {sign} {each} a thousand")
            }
            Self::Power(power) => {
                let (factor, exponent) = (digits(power.factor()), power.exponent());
                format!("{factor} x^{exponent:.3}")
            }
        }
    }

    /// The 95 % interval of what it costs more, for each thousand; of a power that of the exponent.
    pub(super) fn interval(&self) -> String {
        match self {
            Self::Line(line) => {
                let (low, high) = line.slopes();
                let seen = if line.is_seen() { "" } else { ": none seen" };
                let [low, high] = [low, high].map(|slope| digits(slope * 1000.0));
                format!("{low} to {high}{seen}")
            }
            Self::Power(power) => {
                let (low, high) = power.exponents();
                format!("exponent {low:.3} to {high:.3}")
            }
        }
    }

    /// How far points lie from it: their standard deviation, of a power the factor.
    pub(super) fn residual(&self) -> String {
        match self {
            Self::Line(line) => digits(line.residual),
            Self::Power(power) => format!("a factor of {:.3}", power.residual()),
        }
    }

    /// The share of the spread that it explains, and of how many points.
    pub(super) fn explains(&self) -> (f64, usize) {
        let line = match self {
            Self::Line(line) => line,
            Self::Power(power) => power.line(),
        };
        (line.r2, line.n)
    }
}

/// A number with three digits that matter, however small it is.
pub(super) fn digits(value: f64) -> String {
    match value.abs() {
        size if size > 0.0 && size < 0.01 => format!("{value:.2e}"),
        _ => number(value),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_line_says_what_a_thousand_cost_and_within_what() {
        let points = [
            (0.0, 100.0),
            (1000.0, 206.0),
            (2000.0, 295.0),
            (3000.0, 400.0),
        ];
        let fit = Fit::through(Form::Line, &points).unwrap();
        assert_eq!(fit.formula(), "102 + 98.9 a thousand");
        // By hand: left are -1.9, 5.2, -4.7 and 1.4; t(0.975, 2) * sqrt(54.7 / 2) / sqrt(5e6) = 0.01006.
        assert_eq!(fit.interval(), "88.8 to 109");
        assert_eq!(fit.explains().1, 4);
        let flat = [(0.0, 1.0), (1000.0, 2.0), (2000.0, 1.0), (3000.0, 2.0)];
        let fit = Fit::through(Form::Line, &flat).unwrap();
        assert!(
            fit.interval().ends_with(": none seen"),
            "{}",
            fit.interval()
        );
    }

    #[test]
    fn a_power_says_its_exponent_and_by_what_factor_points_lie_off() {
        let points = [1.0, 10.0, 100.0].map(|x: f64| (x, 2.0 * x.powf(0.5)));
        let fit = Fit::through(Form::Power, &points).unwrap();
        assert_eq!(fit.formula(), "2.00 x^0.500");
        assert_eq!(fit.residual(), "a factor of 1.000");
        assert!((fit.at(10_000.0) - 200.0).abs() < 1e-6);
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        let shown = [0.000_012_3, 0.5, 12.34, 0.0].map(digits);
        assert_eq!(shown, ["1.23e-5", "0.500", "12.3", "0"]);
    }
}
