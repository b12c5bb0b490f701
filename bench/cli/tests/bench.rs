//! `weir bench` as a person uses it: a plan of one's own, killed and resumed; load from two agents.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "starts processes and reads their files"
)]

use crate::process;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

/// Delivered by the null server, which is there without being installed.
const PLAN: &str = r#"
target = "null"
delivery = ["sse", "websocket"]
clients = [2, 5]
publishers = 2
rate = 300
rounds = 1
seconds = 0.3
warm_up = 0.1
[payload]
observations = 3
[needs]
lost = 0
"#;

/// Killed when dropped, as a machine that goes.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn plan_in(name: &str) -> (std::path::PathBuf, String, String) {
    let folder = process::folder(name);
    let plan = folder.join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    let out = folder.join("run").display().to_string();
    (folder, plan.display().to_string(), out)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn bench(arguments: &[&str]) -> std::process::Output {
    process::weir_bench(arguments).output().unwrap()
}

fn mean_of<'a>(result: &'a Value, metric: &str) -> Option<&'a Value> {
    let metrics = result["metrics"].as_array().unwrap();
    let found = metrics.iter().find(|of| of["metric"] == metric)?;
    Some(&found["estimate"]["mean"])
}

#[test]
fn a_run_that_was_killed_goes_on_and_is_whole_in_the_end() {
    let (folder, plan, out) = plan_in("bench-resume");
    let run = ["run", plan.as_str(), "--out", out.as_str()];
    let mut command = process::weir_bench(&[]);
    command
        .args(run)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut first = Killed(command.spawn().unwrap());
    // When the second cell is measured, the first is on the disk.
    let said = BufReader::new(first.0.stderr.take().unwrap()).lines();
    let mut said = said.map(Result::unwrap);
    assert!(said.any(|line| line.starts_with("[2/4")));
    drop(first);

    let other = bench(&[&run[..], &["--seed", "2", "--resume"]].concat());
    let refusal = String::from_utf8(other.stderr).unwrap();
    assert!(refusal.contains("seed was \"1\", is \"2\""), "{refusal}");
    let whole = bench(&[&run[..], &["--resume"]].concat());
    let said = String::from_utf8(whole.stderr).unwrap();
    assert!(whole.status.success() && !said.contains("/4,"), "{said}");

    let out = Path::new(&out);
    let run = json(&out.join("run.json"));
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert!(
        results
            .iter()
            .all(|result| mean_of(result, "deliveries").is_some())
    );
    assert!(
        run["goals"]
            .as_array()
            .unwrap()
            .iter()
            .all(|goal| goal["holds"] == true)
    );
    assert!(out.join("samples.parquet").exists() && !out.join("cells.jsonl").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

fn agent(listen: &str) -> (Killed, String) {
    let mut command = process::weir_bench(&["agent", "--listen", listen]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut ready = String::new();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    said.read_line(&mut ready).unwrap();
    let ready: Value = serde_json::from_str(&ready).unwrap();
    (Killed(child), ready["agent"].as_str().unwrap().to_owned())
}

#[test]
fn two_agents_share_a_load_and_every_message_arrives() {
    let (folder, plan, out) = plan_in("bench-agents");
    let (one, two) = (agent("127.0.0.2:0"), agent("127.0.0.3:0"));
    let agents = format!("{},{}", one.1, two.1);
    let only = "delivery=sse;payload=";
    let run = [
        "run",
        plan.as_str(),
        "--out",
        out.as_str(),
        "--agents",
        agents.as_str(),
        "--only",
        only,
    ];
    let ended = bench(&run);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success() && said.contains("within"), "{said}");
    let run = json(&Path::new(&out).join("run.json"));
    assert_eq!(run["agents"].as_array().unwrap().len(), 2);
    for result in run["results"].as_array().unwrap() {
        let delivered = result["metrics"].as_array().unwrap().iter();
        let delivered: Vec<_> = delivered
            .filter(|of| of["metric"] == "publish_to_receive")
            .collect();
        let subscribers = if result["cell"].as_str().unwrap().contains("clients=2;") {
            2
        } else {
            5
        };
        // 300 a second for 0.3 s, from both agents to the subscribers of both.
        assert_eq!(
            delivered[0]["percentiles"]["n"],
            90 * subscribers,
            "{result}"
        );
        assert_eq!(delivered[0]["lost"], 0);
        assert!(mean_of(result, "clock_bound").unwrap().as_f64().unwrap() > 0.0);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_agent_that_others_could_reach_asks_for_a_token() {
    let mut command = process::weir_bench(&["agent", "--listen", "0.0.0.0:0"]);
    let refused = command.env_remove("WEIR_BENCH_TOKEN").output().unwrap();
    let reason = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(reason.contains("WEIR_BENCH_TOKEN"), "{reason}");
}

/// Writes a run whose times are these microseconds, a round each, and whose other figures are as they were.
fn write_with_times(run: &Value, times: [f64; 4], folder: &Path) -> String {
    let mut run = run.clone();
    let metrics = run["results"][0]["metrics"].as_array_mut().unwrap();
    let timed = metrics
        .iter_mut()
        .find(|it| it["metric"] == "publish_to_receive");
    let round =
        |(round, us): (usize, f64)| json!({"round": round, "mean": us, "p50": us, "p99": us});
    timed.unwrap()["rounds"] = times.into_iter().enumerate().map(round).collect();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("run.json"), run.to_string()).unwrap();
    folder.display().to_string()
}

#[test]
fn what_became_worse_beyond_noise_ends_a_comparison_with_1() {
    let (folder, plan, out) = plan_in("bench-compare");
    let only = "clients=2; delivery=sse;";
    let ran = bench(&["run", &plan, "--out", &out, "--only", only]);
    assert!(ran.status.success(), "{ran:?}");
    let run = json(&Path::new(&out).join("run.json"));
    let times = [400.0, 410.0, 420.0, 430.0];
    let write =
        |name: &str, by: f64| write_with_times(&run, times.map(|us| us * by), &folder.join(name));
    let [before, noise, slower, faster] = [
        ("before", 1.0),
        ("noise", 1.01),
        ("slower", 1.5),
        ("faster", 0.7),
    ]
    .map(|(name, by)| write(name, by));
    for (after, code) in [(&noise, 0), (&slower, 1), (&faster, 0)] {
        let compared = bench(&["compare", &before, after]);
        let said = String::from_utf8(compared.stdout).unwrap();
        assert_eq!(compared.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("\nworse:\n"), code == 1, "{said}");
    }
    let three = bench(&["compare", &before, &faster, &slower]);
    assert_eq!(three.status.code(), Some(1));
    let nowhere = bench(&[
        "compare",
        &before,
        &folder.join("nowhere").display().to_string(),
    ]);
    assert_eq!(nowhere.status.code(), Some(2));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_browser_of_a_person_is_refused_where_nothing_reads_it() {
    let folder = process::folder("bench-open");
    let out = folder.join("run");
    let shown = out.display().to_string();
    let arguments = ["run", "services", "--browser", "open", "--out", &shown];
    let refused = bench(&arguments);
    let reason = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        reason.contains("run web-delivery or messaging with it"),
        "{reason}"
    );
    assert!(!out.exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn observers_by_coap_are_all_reached_by_one_change() {
    let folder = process::folder("bench-observers");
    let out = folder.join("run").display().to_string();
    let cell = "test=observers;observers=1000";
    let run = [
        "run", "scaling", "--quick", "--only", cell, "--out", &out, "--json",
    ];
    let ran = bench(&run);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let run = json(&Path::new(&out).join("run.json"));
    let result = &run["results"][0];
    assert_eq!(mean_of(result, "notified").unwrap(), 1000.0, "{said}");
    assert!(mean_of(result, "server_memory_per_observer").is_some());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn ten_thousand_idle_connections_are_held_while_others_hear() {
    let folder = process::folder("bench-idle");
    let out = folder.join("run").display().to_string();
    let cell = "test=idle;delivery=mqtt;connections=10000;";
    let run = [
        "run", "scaling", "--quick", "--only", cell, "--out", &out, "--json",
    ];
    let ran = bench(&run);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("1 measurements, about "), "{said}");
    let run = json(&Path::new(&out).join("run.json"));
    let result = &run["results"][0];
    let connections = mean_of(result, "connections");
    assert_eq!(connections.unwrap_or(&Value::Null), 10_000.0, "{said}");
    assert!(mean_of(result, "server_memory_per_connection").is_some());
    assert!(mean_of(result, "publish_to_receive").is_some(), "{result}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn observers_by_coap_are_told_of_every_message_and_how_late() {
    let folder = process::folder("bench-observe");
    let out = folder.join("run").display().to_string();
    let cell = "link=local;clients=100;publish=1;scheme=observe;";
    let run = [
        "run",
        "notification",
        "--quick",
        "--only",
        cell,
        "--out",
        &out,
    ];
    let ran = bench(&run);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let run = json(&Path::new(&out).join("run.json"));
    let result = &run["results"][0];
    assert_eq!(result["target"], "weir");
    // Three messages in three seconds to a hundred clients, who lose nothing on loopback.
    let metrics = result["metrics"].as_array().unwrap();
    let trips = metrics
        .iter()
        .find(|it| it["metric"] == "publish_to_receive");
    let trips = trips.unwrap();
    assert_eq!(trips["percentiles"]["n"], 300, "{said}");
    assert_eq!(trips["lost"], 0, "{said}");
    // Up to 99.6 %, and the greatest: of the shares above 300 samples say nothing.
    assert_eq!(trips["quantiles"].as_array().unwrap().len(), 62);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A quick run of some cells of `sensor-web`, which measured ours and the server that does nothing in each.
fn sensor_web(name: &str, only: &str, cells: usize) -> Value {
    let folder = process::folder(name);
    let out = folder.join("run").display().to_string();
    let arguments = [
        "run",
        "sensor-web",
        "--quick",
        "--only",
        only,
        "--out",
        &out,
    ];
    let ran = bench(&arguments);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let run = json(&Path::new(&out).join("run.json"));
    std::fs::remove_dir_all(&folder).unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2 * cells, "{said}");
    for result in results {
        let rate = mean_of(result, "observations").and_then(Value::as_f64);
        assert!(rate.is_some_and(|rate| rate > 0.0), "{result}");
        assert!(mean_of(result, "server_cpu").is_some(), "{result}");
        let is_ours = result["target"] == "weir";
        let share = mean_of(result, "observations_of_ceiling");
        assert_eq!(share.is_some(), is_ours, "{result}");
    }
    run
}

/// The goals of a cell that were judged or are undecided: what was measured of them, with the interval of rounds.
fn judged<'a>(run: &'a Value, cell: &str) -> Vec<&'a Value> {
    let goals = run["goals"].as_array().unwrap().iter();
    let of_cell = goals.filter(|it| it["cell"].as_str().unwrap().contains(cell));
    of_cell.filter(|it| it["measured"].is_number()).collect()
}

#[test]
fn what_sos_is_given_it_gives_back_whole_and_timed() {
    let run = sensor_web("bench-sos", "test=short format=swe-text", 2);
    for request in ["request=insert-result", "request=get-observation"] {
        let goals = judged(&run, request);
        assert_eq!(goals.len(), 1, "{request}");
        assert_eq!(goals[0]["estimate"]["n"], 3);
        assert!(goals[0]["asked"].as_str().unwrap().contains("issue 825"));
    }
    let results = run["results"].as_array().unwrap().iter();
    let reads: Vec<_> = results
        .filter(|it| mean_of(it, "answer_bytes").is_some())
        .collect();
    assert_eq!(reads.len(), 2);
    for read in reads {
        assert!(mean_of(read, "server_memory_growth").is_some(), "{read}");
    }
}

#[test]
fn data_arrays_are_measured_on_a_gateway_that_has_them() {
    let only = "service=sensorthings format=data-array";
    let run = sensor_web("bench-data-array", only, 1);
    assert_eq!(judged(&run, "format=data-array").len(), 1);
    let run = sensor_web("bench-latest", "test=latest format=select", 1);
    let goals = judged(&run, "format=select");
    assert!(goals.len() == 1 && goals[0]["metric"] == "answer_time p50, ms");
}
