//! What a number is expected to be from those before it in its page.
//!
//! All arithmetic wraps at 64 bits, so that every page is exact whatever it holds. The decision worth
//! arguing: smoothing is kept as sums of past errors (exponential smoothing of level, slope and
//! curvature in its error-correction form), since the errors are what a decoder reads: no
//! multiplication waits for the number before.

use super::bytes::{unzigzag, zigzag};

/// Fractional bits of a smoothed state.
const SCALE: u32 = 8;
/// Where a smoothed level begins: a half, so that shifting it down rounds.
const HALF: i64 = 1 << (SCALE - 1);

/// Gains of level, slope and curvature, in 256ths.
pub(super) type Gains = [u8; 3];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Predictor {
    /// Nothing is expected: numbers stand for themselves, above the least.
    None,
    /// The one before.
    Last,
    /// At least the one before.
    Rising,
    /// The one before plus the difference to the one before that.
    Line,
    /// A smoothed level, slope and curvature.
    Smooth(Gains),
}

/// Gains that are tried: from steady to nimble.
const GAINS: [Gains; 8] = [
    [12, 0, 0],
    [48, 2, 0],
    [96, 8, 0],
    [128, 24, 2],
    [160, 32, 4],
    [176, 0, 0],
    [208, 64, 8],
    [255, 96, 0],
];

/// How many numbers are looked at in order to choose.
const SAMPLE: usize = 256;
/// Numbers at the beginning of a page that do not count, since a level is not found at once.
const WARM_UP: usize = 24;

struct Smooth {
    level: i64,
    slope: i64,
    curvature: i64,
    gains: [i64; 3],
}

impl Smooth {
    #[inline]
    fn new(gains: Gains) -> Self {
        Self {
            level: HALF,
            slope: 0,
            curvature: 0,
            gains: gains.map(i64::from),
        }
    }

    #[inline]
    fn expected(&self) -> i64 {
        self.level >> SCALE
    }

    #[inline]
    fn learn(&mut self, error: i64) {
        let [level, slope, curvature] = self.gains;
        let step = self.slope.wrapping_add(error.wrapping_mul(level));
        self.level = self.level.wrapping_add(step);
        let step = self.curvature.wrapping_add(error.wrapping_mul(slope));
        self.slope = self.slope.wrapping_add(step);
        self.curvature = self.curvature.wrapping_add(error.wrapping_mul(curvature));
    }
}

/// The errors of all numbers but the first, which is 0; zigzag, where they may be negative.
pub(super) fn errors(numbers: &[i64], predictor: Predictor, codes: &mut [u64]) {
    let codes = codes.iter_mut();
    match predictor {
        Predictor::None => {}
        Predictor::Rising => {
            for (code, pair) in codes.zip(numbers.windows(2)) {
                *code = pair[1].wrapping_sub(pair[0]) as u64;
            }
        }
        Predictor::Last => {
            for (code, pair) in codes.zip(numbers.windows(2)) {
                *code = zigzag(pair[1].wrapping_sub(pair[0]));
            }
        }
        Predictor::Line => {
            let mut step = 0_i64;
            for (code, pair) in codes.zip(numbers.windows(2)) {
                let difference = pair[1].wrapping_sub(pair[0]);
                *code = zigzag(difference.wrapping_sub(step));
                step = difference;
            }
        }
        Predictor::Smooth(gains) => {
            let mut smooth = Smooth::new(gains);
            for (code, &number) in codes.zip(numbers.iter().skip(1)) {
                let error = number.wrapping_sub(smooth.expected());
                smooth.learn(error);
                *code = zigzag(error);
            }
        }
    }
}

/// The numbers from their codes: `base + divisor * y`, in the place of the first and all that follow.
pub(super) fn restore(
    codes: &[u64],
    predictor: Predictor,
    base: i64,
    divisor: i64,
    numbers: &mut [i64],
) {
    if predictor == Predictor::None {
        for (number, &code) in numbers.iter_mut().zip(codes) {
            *number = base.wrapping_add((code as i64).wrapping_mul(divisor));
        }
        return;
    }
    let Some((first, rest)) = numbers.split_first_mut() else {
        return;
    };
    *first = base;
    let rest = rest.iter_mut().zip(codes);
    match predictor {
        Predictor::None => {}
        Predictor::Rising => {
            let mut last = base;
            for (number, &code) in rest {
                last = last.wrapping_add((code as i64).wrapping_mul(divisor));
                *number = last;
            }
        }
        Predictor::Last => {
            let mut last = base;
            for (number, &code) in rest {
                last = last.wrapping_add(unzigzag(code).wrapping_mul(divisor));
                *number = last;
            }
        }
        Predictor::Line => {
            let (mut last, mut step) = (base, 0_i64);
            for (number, &code) in rest {
                step = step.wrapping_add(unzigzag(code).wrapping_mul(divisor));
                last = last.wrapping_add(step);
                *number = last;
            }
        }
        Predictor::Smooth(gains) => {
            let scaled = |y: i64| base.wrapping_add(y.wrapping_mul(divisor));
            // What stands still is not looked at: a multiplication a number counts.
            match (divisor, gains) {
                (1, [_, 0, 0]) => smooth::<1>(rest, gains, |y| base.wrapping_add(y)),
                (1, [_, _, 0]) => smooth::<2>(rest, gains, |y| base.wrapping_add(y)),
                (_, [_, 0, 0]) => smooth::<1>(rest, gains, scaled),
                _ => smooth::<3>(rest, gains, scaled),
            }
        }
    }
}

/// The numbers by so many of level, slope and curvature, of which the others stay 0.
#[inline]
fn smooth<'a, const STATES: usize>(
    numbers: impl Iterator<Item = (&'a mut i64, &'a u64)>,
    gains: Gains,
    scaled: impl Fn(i64) -> i64,
) {
    let mut smooth = Smooth::new(gains);
    if STATES < 3 {
        smooth.gains[2] = 0;
    }
    if STATES < 2 {
        smooth.gains[1] = 0;
    }
    for (number, &code) in numbers {
        let error = unzigzag(code);
        *number = scaled(smooth.expected().wrapping_add(error));
        smooth.learn(error);
    }
}

/// The predictor that the first numbers of a page speak for.
pub(super) fn choose(numbers: &[i64]) -> Predictor {
    let sample = &numbers[..numbers.len().min(SAMPLE)];
    let (least, most) = numbers
        .iter()
        .fold((i64::MAX, i64::MIN), |(least, most), &number| {
            (least.min(number), most.max(number))
        });
    let width = bits(most.wrapping_sub(least) as u64);
    let counted = sample.len() - WARM_UP.min(sample.len() / 4).max(1);
    let mut best = (width * counted as u64 * TENTHS, Predictor::None);
    let mut offer = |predictor, cost| {
        if cost < best.0 {
            best = (cost, predictor);
        }
    };
    let (last, line) = cost_of_differences(sample);
    if last > counted as u64 * TENTHS && numbers.is_sorted() {
        // No sign: a bit less of each.
        offer(Predictor::Rising, last - counted as u64 * TENTHS);
    }
    offer(Predictor::Last, last);
    offer(Predictor::Line, line);
    // Where hardly anything differs there is nothing to smooth, and where little is there, to learn.
    if sample.len() >= 4 * WARM_UP && last > counted as u64 * TENTHS * 2 {
        let costs = cost_of_smoothing(sample);
        for (gains, cost) in GAINS.into_iter().zip(costs) {
            offer(Predictor::Smooth(gains), cost);
        }
    }
    best.1
}

/// Costs are in tenths of a bit.
const TENTHS: u64 = 10;
/// What a number costs in a Rice code beside the length of its error in bits, about.
const RICE_TENTHS: u64 = 13;
/// What an error costs in a list of exceptions beside its length in bits, about.
const EXCEPTION_TENTHS: u64 = 100;

#[inline]
fn bits(number: u64) -> u64 {
    u64::from(64 - number.leading_zeros())
}

#[derive(Clone, Copy, Default)]
struct Cost {
    bits: u64,
    count: u64,
    errors: u64,
}

impl Cost {
    #[inline]
    fn add(&mut self, error: i64) {
        self.bits += bits(zigzag(error));
        self.count += 1;
        self.errors += u64::from(error != 0);
    }

    fn sum(&self) -> u64 {
        let bits = self.bits * TENTHS;
        (bits + self.count * RICE_TENTHS).min(bits + self.errors * EXCEPTION_TENTHS)
    }
}

fn cost_of_differences(sample: &[i64]) -> (u64, u64) {
    let skipped = WARM_UP.min(sample.len() / 4).max(1);
    let (mut last, mut line) = (Cost::default(), Cost::default());
    let mut before = 0_i64;
    for pair in sample[skipped - 1..].windows(2) {
        let difference = pair[1].wrapping_sub(pair[0]);
        last.add(difference);
        line.add(difference.wrapping_sub(before));
        before = difference;
    }
    (last.sum(), line.sum())
}

fn cost_of_smoothing(sample: &[i64]) -> [u64; GAINS.len()] {
    let mut states = GAINS.map(Smooth::new);
    let mut costs = [Cost::default(); GAINS.len()];
    for (index, &number) in sample.iter().enumerate().skip(1) {
        for (smooth, cost) in states.iter_mut().zip(&mut costs) {
            let error = number.wrapping_sub(smooth.expected());
            smooth.learn(error);
            if index >= WARM_UP {
                cost.add(error);
            }
        }
    }
    costs.map(|cost| cost.sum())
}
