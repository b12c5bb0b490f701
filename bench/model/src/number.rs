//! Numbers as a person reads them.

/// A number as a person reads it: thousands apart, three digits that matter.
pub fn number(value: f64) -> String {
    if value.abs() >= 1000.0 {
        return thousands(value.round() as i64);
    }
    let decimals = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

fn thousands(value: i64) -> String {
    let digits = value.abs().to_string();
    let mut text = String::from(if value < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_show_three_digits_that_matter_and_thousands_apart() {
        let shown = [1_234_567.8, -1000.0, 347.2, 34.72, 3.472, 0.0347, 0.0].map(number);
        assert_eq!(
            shown,
            ["1,234,568", "-1,000", "347", "34.7", "3.47", "0.035", "0"]
        );
    }
}
