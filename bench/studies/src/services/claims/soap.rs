//! What the paper says of its SOAP stacks, beside SOAP on Apache CXF.
//!
//! Both codings are those of the bench's client, not those of the Java stack, which the words say.

use super::{Verdict, less, of_name, of_paper};
use crate::services::cells::{PAYLOAD, STACKS, simple};
use crate::services::figures::{in_memory, metric};
use weir_bench_model::claims::{NOT_MEASURED, all_hold};
use weir_bench_model::number::number;
use weir_bench_model::results::{OURS, Run};
use weir_bench_model::statistics::Estimate;

/// SOAP, REST and CoAP, each on its server in memory.
fn three(run: &Run, figure: &str) -> Option<[Estimate; 3]> {
    let [soap, rest, coap] = ["Axis2", "REST", "CoAP"].map(|name| of_name(run, name, figure));
    Some([soap?, rest?, coap?])
}

/// Whether the first is more than so many times each other, where intervals do not meet.
fn times_more([soap, others @ ..]: &[Estimate; 3], factor: f64) -> Option<bool> {
    all_hold(others.map(|other| {
        let more = less(&other, soap)?;
        Some(more && soap.mean > factor * other.mean)
    }))
}

fn said([soap, rest, coap]: &[Estimate; 3], unit: &str) -> String {
    let [soap, rest, coap] = [soap, rest, coap].map(|it| number(it.mean));
    format!("SOAP {soap}, REST {rest}, CoAP {coap} {unit}")
}

pub(super) fn deserializes_slower(run: &Run) -> Verdict {
    let Some(all) = three(run, "deserialization") else {
        return (None, NOT_MEASURED.into());
    };
    (
        times_more(&all, 2.0),
        said(&all, "us, by the codecs of weir"),
    )
}

/// Holds where deserialization takes twice as long and more.
pub(super) fn asymmetry(run: &Run) -> Verdict {
    let both = ["serialization", "deserialization"].map(|figure| of_name(run, "Axis2", figure));
    let [Some(out), Some(back)] = both else {
        return (None, NOT_MEASURED.into());
    };
    let holds = less(&out, &back).map(|slower| slower && back.mean > 2.0 * out.mean);
    let [out, back] = [out, back].map(|it| number(it.mean));
    let words = format!("serialization {out}, deserialization {back} us, by the codec of weir");
    (holds, words)
}

/// The second half, of DPWS, nobody's device in memory can bear out: the first can refute it and no more.
pub(super) fn highest_rtt(run: &Run) -> Verdict {
    let Some(all) = three(run, "rtt") else {
        return (None, NOT_MEASURED.into());
    };
    (
        all_hold([times_more(&all, 1.0), None]),
        said(&all, "us; no device in memory speaks DPWS here"),
    )
}

pub(super) fn larger(run: &Run) -> Verdict {
    let Some(all) = three(run, "application_bytes") else {
        return (None, NOT_MEASURED.into());
    };
    (times_more(&all, 1.0), said(&all, "bytes a call, both ways"))
}

/// Processor time of the server a call, and its memory.
pub(super) fn lighter(run: &Run) -> Verdict {
    let spent = ["Axis2", "REST", "CoAP"].map(|name| cpu_a_call(run, name));
    let ([Some(soap), Some(rest), Some(coap)], Some(memory)) =
        (spent, three(run, "server_memory_peak"))
    else {
        return (None, NOT_MEASURED.into());
    };
    let spent = [soap, rest, coap];
    let shown = |all: &[Estimate; 3], unit: f64| {
        let all = all.map(|it| number(it.mean / unit));
        all.join(", ")
    };
    let words = format!(
        "SOAP, REST, CoAP: {} us of the server's processor a call, {} MiB at most",
        shown(&spent, 1.0),
        shown(&memory, 1_048_576.0)
    );
    let parts = [&spent, &memory].map(|all| times_more(all, 1.0));
    (all_hold(parts), words)
}

/// Microseconds of the server's processor a call, round by round.
fn cpu_a_call(run: &Run, name: &str) -> Option<Estimate> {
    let stack = of_paper(name)?;
    let of = |figure| metric(run, &simple(stack, PAYLOAD), in_memory(run, stack), figure);
    let (cpu, rate) = (of("server_cpu")?, of("message_rate")?);
    let rounds = cpu.rounds.iter().filter_map(|cpu| {
        let rate = rate.rounds.iter().find(|rate| rate.round == cpu.round)?;
        Some(cpu.mean / rate.mean * 1e6)
    });
    Estimate::of(&rounds.collect::<Vec<_>>())
}

/// SOAP in XML and in EXI, both to the gateway. Holds where EXI is smaller.
pub(super) fn exi(run: &Run) -> Verdict {
    let plain = of_paper("Axis2");
    let packed = plain.and_then(|plain| {
        let mut all = STACKS.iter();
        all.find(|it| it.format == "exi" && it.transport == plain.transport)
    });
    let figure = |name: &str| {
        let of = |stack| Some(metric(run, &simple(stack?, PAYLOAD), OURS, name)?.estimate);
        Some([of(plain)?, of(packed)?])
    };
    let all = ["network_bytes", "rtt", "serialization", "deserialization"].map(figure);
    let [Some(bytes), Some(rtt), Some(out), Some(back)] = all else {
        return (None, NOT_MEASURED.into());
    };
    let shown =
        |both: &[Estimate; 2]| format!("{} to {}", number(both[0].mean), number(both[1].mean));
    let words = format!(
        "to the gateway, from XML to EXI: {} bytes a call with IP, RTT {} us, serialization {} us, deserialization \
         {} us",
        shown(&bytes),
        shown(&rtt),
        shown(&out),
        shown(&back)
    );
    (less(&bytes[1], &bytes[0]), words)
}
