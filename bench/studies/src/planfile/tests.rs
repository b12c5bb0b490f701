//! Plans as people write them, with their faults.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use super::*;

/// A plan in a folder of its own, beside a message.
fn read(name: &str, text: &str) -> Result<PlanFile, String> {
    let folder: PathBuf = std::env::temp_dir().join(format!("weir-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mine.json"), r#"{"value": 3.5}"#).unwrap();
    let path = folder.join("plan.toml");
    std::fs::write(&path, text).unwrap();
    let read = PlanFile::read(&path);
    std::fs::remove_dir_all(&folder).unwrap();
    read.map_err(|e| e.split("plan.toml:").nth(1).unwrap_or(&e).to_owned())
}

fn fault(text: &str) -> String {
    read("plan-fault", text).err().unwrap()
}

#[test]
fn every_combination_of_levels_is_a_cell_of_those_who_can_take_part() {
    let plan = read(
        "plan",
        r#"
        target = ["weir", "weir_mqtt", "mqtt://127.0.0.1:1", "coap://127.0.0.1/live/x"]
        delivery = ["sse", "mqtt"]
        rate = [10, "max"]
        clients = 5
        link = ["local", "3g"]
        rounds = 2
        [payload]
        file = "mine.json"
        "#,
    )
    .unwrap();
    let names = plan.names();
    assert_eq!(names.len(), 8);
    assert_eq!(
        names[0],
        "link=local;delivery=sse;payload=23;clients=5;rate=10"
    );
    let who = |cell: &Cell| cell.contenders.iter().map(|c| c.target).collect::<Vec<_>>();
    let coap = "coap://127.0.0.1/live/x";
    assert_eq!(who(&plan.cells[0]), ["weir", coap]);
    assert_eq!(
        who(&plan.cells[2]),
        ["weir_mqtt", "mqtt://127.0.0.1:1", coap]
    );
}

#[test]
fn a_plan_that_names_only_a_target_measures_publishing() {
    let plan = read("plan-least", "target = \"weir\"\n[needs]\nlost = 0\n").unwrap();
    assert_eq!(plan.names(), ["link=local;payload=113;clients=0;rate=100"]);
}

#[test]
fn faults_name_the_line_and_the_key() {
    assert!(fault("target = \"weir\"\nrates = 5\n").starts_with("2: unknown field `rates`"));
    assert!(fault("target = \"wier\"\n").starts_with("1: target: no \"wier\"; there is weir,"));
    assert!(
        fault("target = \"weir\"\n\ndelivery = \"smoke\"").starts_with("3: delivery: no \"smoke\"")
    );
    assert!(fault("rounds = 0\ntarget = \"weir\"\n").starts_with("1: rounds: from 1 to "));
    let fast = "target = \"weir\"\nrate = \"fast\"\n";
    assert!(fault(fast).starts_with("2: rate: above 0"));
    assert!(fault("target = \"https://h\"\n").contains("https is not"));
    let missing = "target = \"weir\"\n[payload]\nfile = \"no.json\"\n";
    assert!(fault(missing).starts_with("3: file: "));
    let mqtt = "target = \"mosquitto\"\ndelivery = \"sse\"\n";
    assert!(fault(mqtt).starts_with("1: target: mosquitto has none"));
    assert!(fault("target = [").starts_with("1: "));
}
