//! Numbers as integers: decimals without their point, and doubles in their order.

/// Most decimals that are looked for.
pub(super) const DECIMALS_MAX: u8 = 14;
/// Most decimals that a page may say; the powers of ten up to here are exact doubles.
pub(super) const DECIMALS_READ_MAX: u8 = 18;

pub(super) const POWERS: [f64; DECIMALS_READ_MAX as usize + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

/// Added to a double below 2^51, its lowest bits are the nearest integer.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
const WHOLE_MAX: f64 = 2_251_799_813_685_247.0;

/// The number without its point, and whether it is that exactly.
#[inline]
pub(super) fn scaled(number: f64, power: f64) -> (i64, bool) {
    let large = number * power;
    let rounded = large + ROUNDER;
    let whole = rounded.to_bits().wrapping_sub(ROUNDER.to_bits()) as i64;
    let back = (rounded - ROUNDER) / power;
    let exact = (large.abs() <= WHOLE_MAX) & (back.to_bits() == number.to_bits());
    (whole, exact)
}

/// Numbers without their point; says whether all are that exactly.
pub(super) fn scale(numbers: &[f64], decimals: u8, whole: &mut [i64]) -> bool {
    let power = POWERS[usize::from(decimals)];
    let mut all = true;
    for (whole, &number) in whole.iter_mut().zip(numbers) {
        let (scaled, exact) = scaled(number, power);
        *whole = scaled;
        all &= exact;
    }
    all
}

/// The fewest decimals, at least `from`, that all numbers have but one in `rare`; `None`: they have
/// none.
pub(super) fn decimals(numbers: &[f64], from: u8, rare: usize) -> Option<u8> {
    let mut decimals = from;
    let mut wild = 0;
    for &number in numbers {
        if scaled(number, POWERS[usize::from(decimals)]).1 {
            continue;
        }
        let mut more = decimals + 1..=DECIMALS_MAX;
        match more.find(|&more| scaled(number, POWERS[usize::from(more)]).1) {
            Some(more) => decimals = more,
            None => wild += 1,
        }
        if wild * rare > numbers.len() {
            return None;
        }
    }
    Some(decimals)
}

/// Numbers in their order as integers in theirs, neighbours differing by 1.
#[inline]
pub(super) fn ordered(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// The number in this place of their order.
#[inline]
pub(super) fn unordered(place: i64) -> f64 {
    f64::from_bits((place ^ ((place >> 63) as u64 >> 1) as i64) as u64)
}
