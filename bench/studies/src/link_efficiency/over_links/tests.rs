//! Verdicts of made-up round trips.
#![allow(clippy::unwrap_used)]

use super::*;
use weir_bench_lab::merge::merge;
use weir_bench_lab::sample::Sample;
use weir_bench_model::results::CellResult;

/// The paper's servers on a link behind the modem: round trips in microseconds, and one efficiency, in two rounds.
fn on(link: &'static str, times: [f64; 4], eta: f64) -> Vec<CellResult> {
    in_rounds(link, times, eta, &[1.0, 1.0])
}

/// The same, round by round so many times as long.
fn in_rounds(link: &'static str, times: [f64; 4], eta: f64, rounds: &[f64]) -> Vec<CellResult> {
    let result = |(of, time): (&Of, f64)| {
        let cell = of.on((link, true), PAYLOAD).name();
        let round = |(round, longer): (usize, &f64)| {
            let mut sample = Sample::default();
            sample.put("rtt", "us", time * longer);
            sample.put("eta", "1", eta);
            (round, Ok(sample))
        };
        let rounds: Vec<_> = rounds.iter().enumerate().map(round).collect();
        merge(&cell, of.server, &rounds)
    };
    PAPER.iter().zip(times).map(result).collect()
}

fn verdict(judge: fn(&Figures<'_>) -> Judged, results: &[Vec<CellResult>]) -> Option<bool> {
    judge(&Figures(&results.concat())).0
}

const LAN: [f64; 4] = [30e3, 33e3, 34e3, 40e3];

#[test]
fn the_order_of_the_paper_holds_on_its_lan() {
    let lan = [on(WLAN, LAN, 0.3)];
    assert_eq!(verdict(like_each_other, &lan), Some(true));
    assert_eq!(verdict(lowest_time, &lan), Some(true));
    assert_eq!(verdict(slowest_is_qos1, &lan), Some(true));
    let slow = [on(WLAN, [50e3, 33e3, 34e3, 40e3], 0.3)];
    assert_eq!(verdict(like_each_other, &slow), Some(false));
    assert_eq!(verdict(lowest_time, &slow), Some(false));
    assert_eq!(verdict(slowest_is_qos1, &slow), Some(false));
}

#[test]
fn one_round_and_intervals_that_meet_say_nothing() {
    for rounds in [&[1.0][..], &[0.8, 1.2]] {
        let lan = || in_rounds(WLAN, LAN, 0.3, rounds);
        let all = [lan(), in_rounds(ISP, LAN.map(|t| 2.5 * t), 0.3, rounds)];
        for judge in [
            like_each_other,
            lowest_time,
            slowest_is_qos1,
            lan_to_internet,
        ] {
            assert_eq!(verdict(judge, &all), None, "{rounds:?}");
        }
        let alike = [
            in_rounds(ISP, LAN, 0.3, rounds),
            in_rounds(CELLULAR, LAN, 0.3, rounds),
        ];
        assert_eq!(verdict(on_cellular, &alike), None, "{rounds:?}");
    }
}

#[test]
fn the_internet_takes_two_to_three_times_as_long_at_the_same_efficiency() {
    let internet = |times: f64, eta| [on(WLAN, LAN, 0.3), on(ISP, LAN.map(|t| t * times), eta)];
    assert_eq!(verdict(lan_to_internet, &internet(2.5, 0.31)), Some(true));
    assert_eq!(verdict(lan_to_internet, &internet(2.5, 0.2)), Some(false));
    assert_eq!(verdict(lan_to_internet, &internet(8.0, 0.3)), Some(false));
    assert_eq!(verdict(lan_to_internet, &[on(WLAN, LAN, 0.3)]), None);
}

#[test]
fn a_phone_that_slows_all_alike_reverses_nothing() {
    let phone = |times: [f64; 4]| [on(ISP, LAN, 0.3), on(CELLULAR, times, 0.3)];
    assert_eq!(
        verdict(on_cellular, &phone(LAN.map(|t| 2.0 * t))),
        Some(false)
    );
    let reversed = [60e3, 66e3, 35e3, 41e3];
    assert_eq!(verdict(on_cellular, &phone(reversed)), Some(true));
    assert_eq!(verdict(on_cellular, &[]), None);
}
