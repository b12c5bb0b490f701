//! What paper 001 says, claim by claim, set beside what was measured.
//!
//! The verdict is on the servers that keep nothing, as the paper's did; the gateway's figures stand beside
//! them. What it says of the SOAP stacks is in [`soap`].

mod soap;

use super::cells::{PAYLOAD, STACKS, Setting, Stack, simple};
use super::figures::{in_memory, metric};
use weir_bench_model::cell::LOCAL;
use weir_bench_model::claims::{NOT_MEASURED, all_hold, judged};
use weir_bench_model::number::number;
use weir_bench_model::results::{ClaimResult, Metric, OURS, Run};
use weir_bench_model::statistics::Estimate;

/// A verdict and the number it rests on.
type Verdict = (Option<bool>, String);
/// How a run is asked for it.
type Judge = fn(&Run) -> Verdict;

/// Judges every claim that this experiment can.
pub(super) fn judge(run: &Run) -> Vec<ClaimResult> {
    let claims: [(&str, Judge); 10] = [
        ("karnouskos-rest-rtt-coap-coding", fastest),
        (
            "karnouskos-soap-deserializes-slower",
            soap::deserializes_slower,
        ),
        ("karnouskos-axis2-asymmetry", soap::asymmetry),
        ("karnouskos-axis2-highest-rtt", soap::highest_rtt),
        ("karnouskos-soap-larger", soap::larger),
        ("karnouskos-rest-coap-lighter", soap::lighter),
        ("karnouskos-exi-lightens-soap", soap::exi),
        ("karnouskos-coap-slower-than-rest", coap_slower),
        ("karnouskos-ipv6-without-effect", ipv6),
        ("karnouskos-link-changes-rtt-only", links),
    ];
    let judged = claims.map(|(id, judge)| {
        let (holds, words) = judge(run);
        judged(id, holds, words)
    });
    judged.into()
}

fn of_paper(name: &str) -> Option<&'static Stack> {
    STACKS.iter().find(|stack| stack.published == Some(name))
}

/// The mean over rounds of a metric at one call at a time on this machine, and its interval.
fn at_home(run: &Run, name: &str, server: &str, figure: &str) -> Option<Estimate> {
    let found = metric(run, &simple(of_paper(name)?, PAYLOAD), server, figure)?;
    Some(found.estimate)
}

/// REST and CoAP, each on its server in memory.
fn both(run: &Run, figure: &str) -> Option<[Estimate; 2]> {
    let [rest, coap] = ["REST", "CoAP"].map(|name| of_name(run, name, figure));
    Some([rest?, coap?])
}

/// The stack of the paper's name, on its server in memory.
fn of_name(run: &Run, name: &str, figure: &str) -> Option<Estimate> {
    at_home(run, name, in_memory(run, of_paper(name)?), figure)
}

/// Whether one is less than another, where their intervals do not meet.
fn less(one: &Estimate, other: &Estimate) -> Option<bool> {
    one.is_below(other)
}

/// "REST has the lowest RTT, CoAP the lowest coding time": the first can refute it. The second is no comparison here,
/// where one codec codes for both.
fn fastest(run: &Run) -> Verdict {
    let figures = ["rtt", "serialization", "deserialization"].map(|figure| both(run, figure));
    let [
        Some([rest, coap]),
        Some([rest_out, coap_out]),
        Some([rest_in, coap_in]),
    ] = figures
    else {
        return (None, NOT_MEASURED.into());
    };
    let words = format!(
        "RTT {} us by REST, {} us by CoAP; serialization {} and {} us, deserialization {} and {} us, which \
         is one codec of Protobuf in both",
        number(rest.mean),
        number(coap.mean),
        number(rest_out.mean),
        number(coap_out.mean),
        number(rest_in.mean),
        number(coap_in.mean)
    );
    (all_hold([less(&rest, &coap), None]), words)
}

fn coap_slower(run: &Run) -> Verdict {
    let Some([rest, coap]) = both(run, "rtt") else {
        return (None, NOT_MEASURED.into());
    };
    let ours = ["REST", "CoAP"].map(|name| at_home(run, name, OURS, "rtt"));
    let beside = match ours {
        [Some(rest), Some(coap)] => {
            format!(
                "; by the gateway {} and {} us",
                number(coap.mean),
                number(rest.mean)
            )
        }
        _ => String::new(),
    };
    let holds = less(&rest, &coap).map(|slower| slower && coap.mean > 2.0 * rest.mean);
    let words = format!(
        "CoAP {} us, REST {} us{beside}",
        number(coap.mean),
        number(rest.mean)
    );
    (holds, words)
}

/// Holds where no mean changes by a tenth; falls where one does and the intervals do not meet. Noise that
/// hides a tenth says nothing.
fn ipv6(run: &Run) -> Verdict {
    let mut said = Vec::new();
    let mut verdicts = Vec::new();
    for stack in STACKS.iter().filter(|stack| stack.published.is_some()) {
        let mut servers = vec![in_memory(run, stack), OURS];
        servers.dedup();
        for server in servers {
            let ipv4 = simple(stack, PAYLOAD);
            let ipv6 = Setting {
                family: "ipv6",
                ..ipv4
            };
            let found = [ipv4, ipv6].map(|setting| metric(run, &setting, server, "rtt"));
            let [Some(four), Some(six)] = found else {
                continue;
            };
            let (four, six) = (four.estimate, six.estimate);
            let change = six.mean / four.mean - 1.0;
            verdicts.push(match (change.abs() < 0.1, less(&four, &six)) {
                (true, _) => Some(true),
                (false, Some(_)) => Some(false),
                (false, None) => None,
            });
            let percent = change * 100.0;
            said.push(format!("{} on {server} {percent:+.1} %", stack.protocol));
        }
    }
    let holds = match &verdicts[..] {
        [] => return (None, NOT_MEASURED.into()),
        all if all.contains(&Some(false)) => Some(false),
        all if all.contains(&None) => None,
        _ => Some(true),
    };
    (holds, said.join(", "))
}

/// Times as long as here that a round trip takes at least over a link, and that coding takes at least and at most.
const CHANGED: f64 = 1.5;
const SAME: [f64; 2] = [0.67, 1.5];

/// Holds where the RTT changes with the link, and coding by less than half.
fn links(run: &Run) -> Verdict {
    let (mut said, mut verdicts) = (Vec::new(), Vec::new());
    for stack in STACKS.iter().filter(|stack| stack.published.is_some()) {
        let server = in_memory(run, stack);
        for link in ["lan", "wifi", "3g"] {
            let Some(change) = over(run, stack, server, link) else {
                continue;
            };
            let (protocol, words) = (stack.protocol, times_of(&change));
            let beside = (server != OURS)
                .then(|| over(run, stack, OURS, link))
                .flatten();
            let beside = beside.map_or(String::new(), |ours| {
                format!(" (by the gateway: {})", times_of(&ours))
            });
            said.push(format!(
                "{protocol} on {server} over {link} against {LOCAL}: {words}{beside}"
            ));
            // What keeps nothing is judged; of DPWS nothing here does.
            if server != OURS {
                verdicts.push(changes_only_the_way(&change));
            }
        }
    }
    if said.is_empty() {
        return (None, NOT_MEASURED.into());
    }
    said.push("a client that has waited for a link codes with cold caches".into());
    let holds = match verdicts.is_empty() {
        true => None,
        false => all_hold(verdicts),
    };
    (holds, said.join("; "))
}

/// RTT, serialization and deserialization by the medians of rounds: here, and over a link.
type Change = [[Estimate; 2]; 3];

fn over(run: &Run, stack: &'static Stack, server: &str, link: &'static str) -> Option<Change> {
    let home = simple(stack, PAYLOAD);
    let of = |figure| {
        let at = |setting| medians(metric(run, &setting, server, figure)?);
        Some([at(home)?, at(Setting { link, ..home })?])
    };
    let [rtt, out, back] = ["rtt", "serialization", "deserialization"].map(of);
    Some([rtt?, out?, back?])
}

fn medians(metric: &Metric) -> Option<Estimate> {
    let medians: Vec<f64> = metric.rounds.iter().map(|round| round.p50).collect();
    Estimate::of(&medians)
}

fn changes_only_the_way([rtt, coding @ ..]: &Change) -> Option<bool> {
    let longer = less(&rtt[0].times(CHANGED), &rtt[1]);
    let same = coding.iter().flat_map(|[home, away]| {
        let [least, most] = SAME.map(|times| home.times(times));
        [less(&least, away), less(away, &most)]
    });
    all_hold(same.chain([longer]))
}

fn times_of(change: &Change) -> String {
    let [rtt, out, back] = change
        .each_ref()
        .map(|[home, away]| number(away.mean / home.mean));
    format!("RTT x {rtt}, serialization x {out}, deserialization x {back}")
}

#[cfg(test)]
mod tests;
