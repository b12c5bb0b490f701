//! What must be known of the clocks behind a run's times: whose they are, how far apart, in what steps.

use super::markup::escaped;
use weir_bench_model::number::number;
use weir_bench_model::results::{CLOCK_BOUND, Run};

/// How a browser's steps stand in what it says it is, with the unit behind them.
const STEPS: (&str, &str) = ("clock in steps of ", " us");
/// The step of an isolated page of Chromium, microseconds.
const ISOLATED_US: f64 = 5.0;

/// One clock, or the bound between several; then its resolution, and that of each browser.
pub(super) fn caveat(run: &Run) -> String {
    let resolution = resolution(run);
    match bound_us(run) {
        Some(bound) => {
            let whose = match run.agents.is_empty() {
                false => "Load came from several machines",
                true => "What was measured in has a clock of its own",
            };
            format!(
                "{whose}: a latency between two clocks is right to within {} microseconds, the greatest bound of \
                 any cell{resolution}.",
                number(bound)
            )
        }
        None => format!(
            "One clock: whoever sends and whoever receives read the same monotonic clock of one machine, so \
             times have no error of synchronisation{resolution}."
        ),
    }
}

fn bound_us(run: &Run) -> Option<f64> {
    let bounds = run.results.iter().filter_map(|it| it.metric(CLOCK_BOUND));
    bounds.map(|metric| metric.estimate.high).reduce(f64::max)
}

/// What clocks can tell apart, where not all is a nanosecond.
fn resolution(run: &Run) -> String {
    let browsers = browsers(run);
    if browsers.is_empty() {
        return String::new();
    }
    let of = |(name, us): &(&str, f64)| format!(", in <b>{}</b> {us} microseconds", escaped(name));
    "; its resolution is a nanosecond".to_owned() + &browsers.iter().map(of).collect::<String>()
}

/// The browsers that ran, and the steps of their clocks.
fn browsers(run: &Run) -> Vec<(&str, f64)> {
    let all = run.targets.iter();
    let all = all.filter_map(|(name, version)| Some((name.as_str(), steps_us(name, version)?)));
    all.collect()
}

/// What a browser tells of its clock; one that tells nothing is the bench's own, whose pages are isolated.
fn steps_us(name: &str, version: &str) -> Option<f64> {
    let (before, unit) = STEPS;
    let told = version.split_once(before);
    let told = told.and_then(|(_, told)| told.split_once(unit)?.0.parse().ok());
    let runs = name.starts_with("chromium") && !version.starts_with("absent");
    told.or(runs.then_some(ISOLATED_US))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::results::{CellResult, single};

    fn run(targets: &[(&str, &str)], bounds_us: &[f64]) -> Run {
        let bound = |&us: &f64| CellResult {
            metrics: vec![single(CLOCK_BOUND, "us", us)],
            ..CellResult::default()
        };
        let targets = targets.iter();
        Run {
            targets: targets
                .map(|(name, it)| ((*name).into(), (*it).into()))
                .collect(),
            results: bounds_us.iter().map(bound).collect(),
            ..Run::default()
        }
    }

    #[test]
    fn one_clock_is_claimed_where_no_cell_carries_a_bound() {
        let one = caveat(&run(&[("weir", "weir 1")], &[]));
        assert!(
            one.starts_with("One clock") && !one.contains("resolution"),
            "{one}"
        );
        let of_a_phone = run(&[], &[300.0, 450.0]);
        let told = caveat(&of_a_phone);
        assert!(
            told.contains("a clock of its own") && told.contains("within 450 micro"),
            "{told}"
        );
        let agents = vec!["10.0.0.2:7700".to_owned()];
        let told = caveat(&Run {
            agents,
            ..of_a_phone
        });
        assert!(
            told.starts_with("Load came from several machines"),
            "{told}"
        );
    }

    #[test]
    fn each_browser_tells_its_own_steps() {
        let phone = "Firefox: by h2, clock in steps of 100 us, not isolated";
        let told = caveat(&run(
            &[("chromium", "Chrome/156"), ("opened_browser", phone)],
            &[],
        ));
        let steps = "a nanosecond, in <b>chromium</b> 5 microseconds, \
                     in <b>opened_browser</b> 100 microseconds";
        assert!(told.contains(steps), "{told}");
        let absent = caveat(&run(&[("chromium", "absent: no Chromium")], &[]));
        assert!(!absent.contains("resolution"), "{absent}");
    }
}
