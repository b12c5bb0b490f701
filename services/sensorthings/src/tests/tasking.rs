//! Part 2: tasks are messages that whoever listens gets.

use super::*;

/// A thing whose lamp can be switched.
fn lamp() -> Json {
    json!({
        "name": "Hall", "description": "at the door",
        "TaskingCapabilities": [{
            "name": "Control Light", "description": "on, off and how bright",
            "taskingParameters": {"type": "DataRecord", "field": [
                {"name": "status", "label": "On or off", "type": "Category",
                 "constraint": {"type": "AllowedTokens", "value": ["on", "off"]}},
                {"name": "level", "type": "Quantity", "uom": {"code": "%"}, "optional": true,
                 "constraint": {"type": "AllowedValues", "interval": [[0, 100]]}},
            ]},
            "Actuator": {
                "name": "Lamp", "description": "LED", "encodingType": "text/html", "metadata": "x",
            },
        }],
    })
}

fn posted(house: &House) -> String {
    let thing = house.post("Things", lamp());
    let capability = &house.get(&format!("{thing}/TaskingCapabilities"))["value"][0];
    format!("TaskingCapabilities({})", capability["@iot.id"])
}

// [TASKING-1-1] [TASKING-1-2] [TASKING-2-1] [TASKING-2-2] [TASKING-3-1] [TASKING-3-2]
#[test]
fn a_capability_is_inserted_and_found_by_every_way() {
    let house = house("tasking-deep");
    let path = posted(&house);
    let capability = house.get(&format!("{path}?$expand=Actuator,Thing,Tasks"));
    assert_eq!(capability["Actuator"]["name"], "Lamp");
    assert_eq!(capability["Thing"]["name"], "Hall");
    assert_eq!(capability["Tasks"], json!([]));
    assert_eq!(
        capability["taskingParameters"]["field"][0]["name"],
        "status"
    );
    let found = house.get("Actuators?$expand=TaskingCapabilities($select=name)");
    let known = json!([{"name": "Control Light"}]);
    assert_eq!(found["value"][0]["TaskingCapabilities"], known);
    let task = json!({"taskingParameters": {"status": "on"}});
    let task = house.post(&format!("{path}/Tasks"), task);
    let found = house.get(&task);
    assert_eq!(found["creationTime"], "2026-11-20T12:00:00.000Z");
    assert_eq!(found["taskingParameters"], json!({"status": "on"}));
    let back = house.get(&format!("{task}/TaskingCapability/Actuator"));
    assert_eq!(back["name"], "Lamp");
}

// [TASKING-4-1]
#[test]
fn a_task_is_a_message_at_the_topic_of_its_capability() {
    let house = house("tasking-order");
    let path = posted(&house);
    let id = house.get(&path)["@iot.id"].clone();
    let parameters = json!({"status": "on", "level": 40});
    let body = json!({"taskingParameters": parameters, "TaskingCapability": {"@iot.id": id}});
    house.post("Tasks", body);
    let filters = vec![Filter::parse("hall/control-light/#").unwrap()];
    let Ok(latest) = house
        .hub
        .caller(now(), &house.who)
        .and_then(|caller| caller.latest(&filters))
    else {
        panic!("last values were asked for")
    };
    let level = latest.batch.row(0);
    assert_eq!(
        (level.topic, level.value.number()),
        ("hall/control-light/level", Some(40.0))
    );
    assert_eq!(latest.batch.row(1).value, weir_model::Value::Text("on"));
    assert_eq!(house.get("Tasks?$count=true")["@iot.count"], 1);
}

#[test]
fn tasks_go_to_the_topic_that_a_capability_is_changed_to() {
    let house = house("tasking-topic");
    let path = posted(&house);
    let level_at = |topic: &str| {
        let filters = vec![Filter::parse(&format!("{topic}/#")).unwrap()];
        match house
            .hub
            .caller(now(), &house.who)
            .and_then(|caller| caller.latest(&filters))
        {
            Ok(latest) => latest.batch.row(0).value.number(),
            _ => None,
        }
    };
    let named = json!({"name": "Dimmer", "properties": {"floor": 1}});
    let moved = json!({"properties": {"topic": "lamps/hall"}});
    let unsaid = json!({"properties": {}});
    for (level, change, topic) in [
        (1, named, "hall/control-light"),
        (2, moved, "lamps/hall"),
        (3, json!({"description": "how bright"}), "lamps/hall"),
        (4, unsaid, "hall/dimmer"),
    ] {
        assert_eq!(
            house.status("PATCH", &path, change.clone()),
            200,
            "{change}"
        );
        let task = json!({"taskingParameters": {"status": "on", "level": level}});
        house.post(&format!("{path}/Tasks"), task);
        assert_eq!(level_at(topic), Some(f64::from(level)), "{change}");
    }
    let bad = json!({"properties": {"topic": "lamps/#"}});
    assert_eq!(house.status("PATCH", &path, bad), 400);
}

#[test]
fn a_task_that_is_not_as_described_is_sent_to_nobody() {
    let house = house("tasking-bad");
    let path = posted(&house);
    for bad in [
        json!({}),
        json!({"status": "dim"}),
        json!({"status": "on", "level": 200}),
        json!({"status": "on", "volume": 1}),
        json!("on"),
    ] {
        let body = json!({"taskingParameters": bad});
        let status = house.status("POST", &format!("{path}/Tasks"), body);
        assert_eq!(status, 400, "{bad}");
    }
    let alone = json!({"taskingParameters": {"status": "on"}});
    assert_eq!(house.status("POST", "Tasks", alone), 400);
    let mut optional = lamp();
    let fields = &mut optional["TaskingCapabilities"][0]["taskingParameters"]["field"];
    fields[0]["optional"] = true.into();
    optional["TaskingCapabilities"][0]["Tasks"] = json!([{"taskingParameters": {}}]);
    assert_eq!(house.status("POST", "Things", optional), 400);
    assert_eq!(house.get("Tasks")["value"], json!([]));
    assert_eq!(house.get("Datastreams")["value"], json!([]));
    for (name, field, status) in [
        ("taskingParameters", json!({"type": "Text"}), 400),
        (
            "taskingParameters",
            json!({"type": "DataRecord", "field": [
            {"name": "value", "type": "Count"}, {"name": "b", "type": "Count"}]}),
            400,
        ),
        (
            "taskingParameters",
            json!({"type": "DataRecord", "field": [
            {"name": "a", "type": "DataArray"}]}),
            501,
        ),
        ("properties", json!({"topic": "a/#"}), 400),
    ] {
        let mut bad = lamp();
        bad["TaskingCapabilities"][0][name] = field;
        assert_eq!(house.status("POST", "Things", bad), status);
    }
    assert_eq!(house.get("Things?$count=true")["@iot.count"], 1);
}

#[test]
fn tasks_stay_as_they_were_sent_and_go_with_what_they_are_of() {
    let house = house("tasking-delete");
    let path = posted(&house);
    let task = json!({"taskingParameters": {"status": "off"}});
    let task = house.post(&format!("{path}/Tasks"), task);
    let changed = json!({"taskingParameters": {"status": "on"}});
    assert_eq!(house.status("PATCH", &task, changed), 405);
    assert_eq!(house.status("PATCH", &path, json!({"name": "Light"})), 200);
    assert_eq!(house.get(&path)["name"], "Light");
    let thing = house.get(&format!("{path}/Thing"))["@iot.id"].clone();
    assert_eq!(
        house.status("DELETE", &format!("Things({thing})"), Json::Null),
        200
    );
    for set in ["TaskingCapabilities", "Tasks"] {
        assert_eq!(house.get(set)["value"], json!([]), "{set}");
    }
    assert_eq!(names(&house.get("Actuators")), ["Lamp"]);
}

#[test]
fn who_may_not_publish_there_may_not_task() {
    let mut house = house("tasking-grants");
    let path = posted(&house);
    let rules = [
        (Verb::Read, "v1.1/#"),
        (Verb::Change, "v1.1/#"),
        (Verb::Publish, "elsewhere/#"),
    ];
    let rules = rules.map(|(verb, filter)| (verb, Filter::parse(filter).unwrap()));
    house.who = Principal {
        name: "guest".into(),
        grants: Arc::new(Grants::new(rules.to_vec())),
        standing: Default::default(),
    };
    let task = json!({"taskingParameters": {"status": "on"}});
    assert_eq!(house.status("POST", &format!("{path}/Tasks"), task), 403);
    assert_eq!(house.get("Tasks")["value"], json!([]));
}
