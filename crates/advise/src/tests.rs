#![allow(clippy::unwrap_used)]

use crate::*;

const HEAD: &str =
    "experiment,target,cell,metric,unit,n,mean,p50,p90,p99,p999,max,ci_low,ci_high,lost,status\n";

fn source(origin: Origin) -> Source {
    Source {
        name: "run".into(),
        command: "weir bench run x".into(),
        started: "2026-01-01T00:00:00Z".into(),
        machine: "a machine".into(),
        origin,
    }
}

/// A cell with a round trip of so many microseconds, known to so many, and bytes.
fn cell(target: &str, cell: &str, rtt: f64, half: f64, bytes: f64) -> String {
    let (low, high) = (rtt - half, rtt + half);
    let p99 = rtt * 2.0;
    format!(
        "x,{target},{cell},rtt,us,10000,{rtt},{rtt},{rtt},{p99},{p99},{p99},{low},{high},0,ok\n\
         x,{target},{cell},transport_bytes,bytes,5,{bytes},,,,,,{bytes},{bytes},0,ok\n"
    )
}

fn library(rows: &[String]) -> Library {
    let mut library = Library::default();
    let table = format!("{HEAD}{}", rows.concat());
    library.add(source(Origin::Own), &table).unwrap();
    library
}

fn ask(link: &str, payload: Option<&str>, needs: &[&str]) -> Question {
    Question::parse(link, None, None, payload, needs.iter().copied(), None).unwrap()
}

fn ranked(answer: &Answer) -> Vec<(usize, bool, &str)> {
    let ways = answer.sections.iter().flat_map(|section| &section.ranked);
    ways.map(|way| (way.rank, way.front, way.factors.level("protocol").unwrap()))
        .collect()
}

#[test]
fn the_nearest_cells_of_each_way_are_ranked() {
    let library = library(&[
        cell("weir", "protocol=a;payload=100", 100.0, 5.0, 300.0),
        cell("weir", "protocol=b;payload=100", 104.0, 5.0, 200.0),
        cell("weir", "protocol=c;payload=100", 300.0, 5.0, 400.0),
    ]);
    let answer = advise(&library, &[], ask("local", Some("100"), &[]));
    assert_eq!(
        ranked(&answer),
        [(1, true, "a"), (1, true, "b"), (3, false, "c")]
    );
    assert!(answer.refusal.is_none());
    assert!(answer.sections[0].ranked[0].doubts.is_empty());
    let said = to_text(&answer, false);
    assert!(said.contains("the first 2 cannot be told apart"));
    assert!(said.contains("`a (weir)` and `b (weir)` cannot be told apart by latency, of 3.\n"));
}

#[test]
fn a_point_between_two_cells_is_answered_from_both_and_said_so() {
    let library = library(&[
        cell("weir", "protocol=a;payload=100", 100.0, 5.0, 300.0),
        cell("weir", "protocol=a;payload=300", 200.0, 9.0, 500.0),
    ]);
    let answer = advise(&library, &[], ask("local", Some("200"), &["p99<300us"]));
    // Half way the mean would do; the worse neighbour's p99 of 400 us does not.
    let way = &answer.sections[0].failing[0];
    assert_eq!(way.figures.latency.mean.value, 150.0);
    assert_eq!(way.figures.latency.mean.low, Some(95.0));
    assert_eq!(way.figures.latency.mean.high, Some(209.0));
    assert!(!way.exact);
    assert_eq!(way.doubts, ["between payload 100 and 300"]);
    assert_eq!(way.cells.len(), 2);
}

#[test]
fn nothing_is_extrapolated_and_the_missing_run_is_named() {
    let library = library(&[cell("weir", "protocol=a;payload=100", 100.0, 5.0, 300.0)]);
    let offer = offers_of(
        "x",
        [
            "protocol=a;payload=100;link=3g",
            "protocol=a;payload=1000;link=3g",
        ],
    );
    let answer = advise(&library, &[offer], ask("3g", Some("500"), &[]));
    let refusal = answer.refusal.unwrap();
    assert_eq!(
        refusal.why,
        "nothing was measured over `3g`, but over local"
    );
    let command = "weir bench run x --only 'link=3g;' --out runs/x";
    assert_eq!(refusal.runs[0].command, command);
    assert_eq!(answer.elsewhere, ["x: clients 1; link local; payload 100"]);
    let beyond = advise(&library, &[], ask("local", Some("101"), &[]));
    let plan = to_text(&beyond, false);
    assert!(plan.contains("No answer: nothing was measured there."));
    assert!(plan.contains("  link = [\"local\"]\n") && plan.contains("like it: 101 B\n"));
    assert!(beyond.refusal.unwrap().runs.is_empty());
}

#[test]
fn a_need_that_was_not_met_keeps_a_way_out_of_the_ranking() {
    let library = library(&[
        cell("weir", "protocol=a;payload=100", 100.0, 5.0, 300.0),
        cell("weir", "protocol=b;payload=100", 500.0, 5.0, 200.0),
    ]);
    let answer = advise(
        &library,
        &[],
        ask("local", Some("100"), &["p99<300us", "loss<0.1%"]),
    );
    assert_eq!(ranked(&answer), [(1, true, "a")]);
    let failing = &answer.sections[0].failing[0].needs[0];
    assert_eq!(
        (failing.holds, failing.measured.as_str()),
        (Some(false), "1.00 ms")
    );
    let unknown = advise(&library, &[], ask("local", Some("100"), &["t_render<1ms"]));
    assert_eq!(unknown.sections[0].unjudged.len(), 2);
    assert!(unknown.refusal.unwrap().why.contains("was not measured"));
}

#[test]
fn no_loss_among_few_is_not_surely_little() {
    let few = cell("weir", "protocol=a", 100.0, 5.0, 300.0).replace(",10000,", ",100,");
    let answer = advise(&library(&[few]), &[], ask("local", None, &["loss<0.1%"]));
    let way = &answer.sections[0].ranked[0];
    assert_eq!(way.doubts, ["loss<0.1%: 0 % (within noise of the bound)"]);
}

#[test]
fn a_figure_without_an_interval_never_beats_another_narrowly() {
    let library = library(&[
        cell("weir", "protocol=a", 100.0, 0.0, 300.0),
        cell("weir", "protocol=b", 140.0, 1.0, 300.0),
    ]);
    let answer = advise(&library, &[], ask("local", None, &[]));
    assert_eq!(ranked(&answer)[1].0, 1);
    assert_eq!(
        answer.sections[0].ranked[0].doubts,
        ["one round: no interval"]
    );
}

#[test]
fn what_was_not_asked_is_compared_at_one_level_for_all() {
    let library = library(&[
        cell("weir", "protocol=a;payload=10", 10.0, 1.0, 30.0),
        cell("weir", "protocol=a;payload=100", 100.0, 1.0, 300.0),
        cell("weir", "protocol=b;payload=100", 90.0, 1.0, 300.0),
    ]);
    let answer = advise(&library, &[], ask("local", None, &[]));
    assert_eq!(
        answer.sections[0].compared_at,
        ["payload not asked: compared at 100"]
    );
    assert_eq!(ranked(&answer).len(), 2);
}

#[test]
fn a_rate_that_does_not_vary_must_have_been_reached() {
    let library = library(&[cell("weir", "protocol=a", 1000.0, 1.0, 30.0)]);
    let asked = |rate| Question::parse("local", None, Some(rate), None, [], None).unwrap();
    let within = advise(&library, &[], asked("900"));
    let doubts = &within.sections[0].ranked[0].doubts;
    assert_eq!(
        doubts,
        &["rate not varied: measured as fast as it went, 1000/s"]
    );
    assert!(advise(&library, &[], asked("1100")).refusal.is_some());
}

#[test]
fn what_formats_cost_is_no_answer_to_who_asks_of_a_link() {
    let parse = cell("weir", "format=json", 10.0, 1.0, 30.0).replace(",rtt,", ",parse,");
    let library = library(&[parse]);
    assert!(
        advise(&library, &[], ask("local", None, &[]))
            .refusal
            .is_none()
    );
    let far = advise(&library, &[], ask("3g", None, &[]));
    assert!(far.refusal.is_some());
    assert_eq!(far.sections.len(), 1);
}

#[test]
fn own_results_replace_the_reference_cell_by_cell() {
    let mut library = Library::default();
    let old = format!("{HEAD}{}", cell("weir", "protocol=a", 100.0, 5.0, 300.0));
    library.add(source(Origin::Reference), &old).unwrap();
    let new = format!("{HEAD}{}", cell("weir", "protocol=a", 70.0, 5.0, 300.0));
    library.add(source(Origin::Own), &new).unwrap();
    let answer = advise(&library, &[], ask("local", None, &[]));
    assert_eq!(
        answer.sections[0].ranked[0].figures.latency.mean.value,
        70.0
    );
    assert!(!answer.rests_on_reference());
}

#[test]
fn a_browser_is_believed_only_where_one_was_there() {
    let ways = [
        "delivery=sse;protocol=s",
        "protocol=coap-con",
        "place=browser;protocol=p",
        "ends=native-browser;protocol=amqp10",
        "ends=native-native;protocol=mqtt",
        "delivery=websocket;cpu=1",
    ];
    let library = library(&ways.map(|way| cell("weir", way, 100.0, 5.0, 300.0)));
    let answer = advise(&library, &[], ask("local", None, &["browser"]));
    let section = &answer.sections[0];
    assert_eq!(section.ranked.len(), 4);
    let sure = section.ranked.iter().filter(|way| way.doubts.is_empty());
    assert_eq!(sure.count(), 3);
    let failing = section.failing.iter();
    let mut reasons: Vec<_> = failing.map(|way| &*way.needs[0].measured).collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        [
            "measured with ends=native-native",
            "no browser speaks coap-con"
        ]
    );
}

#[test]
fn every_shipped_reference_reads_and_answers_what_it_holds() {
    let library = reference().unwrap();
    assert!(!library.is_empty());
    assert!(!offers().is_empty());
    let answer = advise(&library, &offers(), ask("local", Some("100"), &[]));
    assert!(answer.refusal.is_none());
    assert!(answer.rests_on_reference());
}
