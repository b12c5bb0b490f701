//! Student's t distribution (Biometrika 6, 1908), of any number of degrees, by its incomplete beta function.

/// Probability that Student's t of so many degrees is at least as far from 0.
pub fn two_sided(t: f64, degrees: f64) -> f64 {
    let x = degrees / (degrees + t * t);
    incomplete_beta(degrees / 2.0, 0.5, x).clamp(0.0, 1.0)
}

/// The t below which it lies with a probability above one half, by bisection.
pub fn quantile(probability: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        match 1.0 - two_sided(middle, degrees) / 2.0 < probability {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

/// The regularized incomplete beta function, by its continued fraction (DLMF 8.17.22) and its symmetry
/// (DLMF 8.17.4).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    front.exp() / a / fraction(a, b, x)
}

/// The continued fraction's denominator, from its far end, where it does not matter, to its front.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut value = 1.0;
    for m in (1..=200).rev() {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let k = m - 1.0;
        let odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
        value = 1.0 + even / value;
        value = 1.0 + odd / value;
    }
    value
}

/// The logarithm of the gamma function: Stirling's series (DLMF 5.11.1) where it is good, and below by
/// the recurrence.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 5e-4 * expected.abs().max(1.0)
    }

    #[test]
    fn quantiles_are_those_of_students_table() {
        for (degrees, expected) in [(1.0, 12.706), (2.0, 4.303), (5.0, 2.571), (30.0, 2.042)] {
            let found = quantile(0.975, degrees);
            assert!(near(found, expected), "{found} for {degrees} degrees");
        }
    }

    #[test]
    fn the_gamma_function_is_a_factorial() {
        assert!(near(ln_gamma(6.0), 120f64.ln()));
        assert!(near(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln()));
    }
}
