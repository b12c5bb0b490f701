//! Numbers and times as text, written fast, and read as people write them.
//!
//! What it deliberately does not do: locales, digits grouping, NaN. The decision worth arguing:
//! integers are written without `.0`, since that is how JSON's other writers and people do it; a
//! reader gets the same double back either way.

use alloc::vec::Vec;
use weir_model::Time;
use weir_model::value::EXACT_INTEGER_MAX;

/// Appends the shortest decimal that reads back as the same double; nothing finite: `null`.
pub(crate) fn write_f64(number: f64, out: &mut Vec<u8>) {
    if number.abs() < EXACT_INTEGER_MAX {
        let whole = number as i64;
        if whole as f64 == number {
            return write_whole(whole, number.is_sign_negative(), out);
        }
    }
    if !number.is_finite() {
        return out.extend_from_slice(b"null");
    }
    let mut buffer = zmij::Buffer::new();
    out.extend_from_slice(buffer.format_finite(number).as_bytes());
}

/// `negative` apart from the number, since zero has both signs.
fn write_whole(whole: i64, negative: bool, out: &mut Vec<u8>) {
    if negative {
        out.push(b'-');
    }
    write_u64(whole.unsigned_abs(), out);
}

const PAIRS: &[u8; 200] = b"00010203040506070809101112131415161718192021222324\
25262728293031323334353637383940414243444546474849\
50515253545556575859606162636465666768697071727374\
75767778798081828384858687888990919293949596979899";

fn pair(number: u64) -> [u8; 2] {
    let at = (number % 100) as usize * 2;
    [PAIRS[at], PAIRS[at + 1]]
}

fn write_u64(mut number: u64, out: &mut Vec<u8>) {
    let mut text = [0; 20];
    let mut at = text.len();
    while number >= 100 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&pair(number));
        number /= 100;
    }
    if number >= 10 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&pair(number));
    } else {
        at -= 1;
        text[at] = b'0' + number as u8;
    }
    out.extend_from_slice(&text[at..]);
}

const NANOS: i64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;

/// Writes RFC 3339 times; remembers the date, which observations of a message mostly share.
#[derive(Default)]
pub(crate) struct TimeWriter {
    day: Option<i64>,
    /// `2026-11-20T` of that day.
    date: [u8; 11],
}

impl TimeWriter {
    /// Appends `2026-11-20T09:41:00.250Z`: no decimals, or three, six or nine, as needed.
    pub(crate) fn write(&mut self, time: Time, out: &mut Vec<u8>) {
        let seconds = time.nanos().div_euclid(NANOS);
        let day = seconds.div_euclid(DAY_SECONDS);
        if self.day != Some(day) {
            return self.write_and_learn(time, day, out);
        }
        let of_day = seconds.rem_euclid(DAY_SECONDS) as u64;
        let mut text = [b':'; 30];
        text[..11].copy_from_slice(&self.date);
        text[11..13].copy_from_slice(&pair(of_day / 3600));
        text[14..16].copy_from_slice(&pair(of_day / 60 % 60));
        text[17..19].copy_from_slice(&pair(of_day % 60));
        let end = write_fraction(time.nanos().rem_euclid(NANOS) as u64, &mut text);
        text[end] = b'Z';
        out.extend_from_slice(&text[..=end]);
    }

    fn write_and_learn(&mut self, time: Time, day: i64, out: &mut Vec<u8>) {
        let start = out.len();
        time.write_rfc3339(out);
        self.date.copy_from_slice(&out[start..start + 11]);
        self.day = Some(day);
    }
}

/// Writes the decimals of a second from byte 19 on; gives the end.
fn write_fraction(nanos: u64, text: &mut [u8; 30]) -> usize {
    let (mut number, end) = match nanos {
        0 => return 19,
        n if n % 1_000_000 == 0 => (n / 1_000_000, 23),
        n if n % 1000 == 0 => (n / 1000, 26),
        n => (n, 29),
    };
    text[19] = b'.';
    for digit in text[20..end].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    end
}

/// Powers of ten that a double holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// A decimal as read: `mantissa` times ten to the `exponent`, where it has at most 19 digits.
#[derive(Clone, Copy, Default)]
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    pub(crate) mantissa: u64,
    pub(crate) exponent: i32,
    /// Whether there were more digits than `mantissa` holds.
    pub(crate) cut: bool,
}

impl Decimal {
    /// The double, where two exact doubles give it by one correctly rounded operation (Clinger 1990);
    /// else the general algorithm must read the text.
    pub(crate) fn exact(self) -> Option<f64> {
        if self.cut || self.mantissa > 1 << 53 {
            return None;
        }
        let whole = self.mantissa as f64;
        let tens = *TENS.get(self.exponent.unsigned_abs() as usize)?;
        let magnitude = if self.exponent < 0 {
            whole / tens
        } else {
            whole * tens
        };
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The whole number of a decimal without point and exponent, where 64 bits hold it, signed or not;
    /// negative zero is none.
    pub(crate) fn whole(self) -> Option<i128> {
        let number = i128::from(self.mantissa);
        let signed = if self.negative { -number } else { number };
        Some(signed).filter(|number| in_64_bits(number) && (*number != 0 || !self.negative))
    }

    /// A number of seconds as nanoseconds, cut below; `None` out of range.
    pub(crate) fn nanos(self) -> Option<i64> {
        let mut nanos = i128::from(self.mantissa);
        for _ in 0..(self.exponent + 9).clamp(0, 40) {
            nanos = nanos.checked_mul(10)?;
        }
        for _ in 0..(-9 - self.exponent).clamp(0, 40) {
            nanos /= 10;
        }
        i64::try_from(if self.negative { -nanos } else { nanos }).ok()
    }
}

/// Says whether a number is an integer that fits, negative zero excepted.
pub(crate) fn as_integer(number: f64) -> Option<i64> {
    let whole = number as i64;
    let exact = whole as f64 == number && number.abs() < 9.1e18;
    (exact && (whole != 0 || number.is_sign_positive())).then_some(whole)
}

/// Whether an integer of 64 bits, signed or not, holds this.
pub(crate) fn in_64_bits(number: &i128) -> bool {
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(number)
}

/// Appends the seconds since the epoch as a decimal, to the nanosecond.
pub(crate) fn write_seconds(time: Time, out: &mut Vec<u8>) {
    let magnitude = time.nanos().unsigned_abs();
    if time.nanos() < 0 {
        out.push(b'-');
    }
    write_u64(magnitude / NANOS as u64, out);
    let mut text = [b'0'; 30];
    let end = write_fraction(magnitude % NANOS as u64, &mut text);
    out.extend_from_slice(&text[19..end]);
}
