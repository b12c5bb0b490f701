//! Bad input: each gets its 4xx, says where, and costs nothing else.

use super::*;
use weir_model::percent;

fn said(response: &Response) -> Json {
    serde_json::from_slice(&response.body).unwrap()
}

impl House {
    fn filtered(&self, set: &str, filter: &str) -> Response {
        let filter = percent::encode(filter, b"");
        self.ask("GET", &format!("{set}?$filter={filter}"), Json::Null)
    }
}

#[test]
fn quotes_in_a_filter_are_text_and_end_nothing() {
    let house = house("quotes");
    house.post("Things", kitchen());
    for harmless in [
        "name eq 'Kitchen'' or ''1'' eq ''1'",
        "name eq '''; DROP TABLE Things; --'",
        "name eq '%27 or 1 eq 1'",
    ] {
        let response = house.filtered("Things", harmless);
        assert_eq!(response.status, 200, "{harmless}");
        assert_eq!(said(&response)["value"], json!([]), "{harmless}");
    }
    for bad in [
        "name eq 'Kitchen",
        "name eq 'Kitchen' or '1",
        "name eq 'a' ; name eq 'b'",
        "name eq \"Kitchen\"",
    ] {
        let response = house.filtered("Things", bad);
        assert_eq!(response.status, 400, "{bad}");
        assert!(said(&response)["at"].is_u64(), "{bad}");
    }
    for bad in ["Things('a'b')", "Things(1 or 1 eq 1)", "Things(1)(2)"] {
        let path = percent::encode(bad, b"()'");
        let status = house.status("GET", &path, Json::Null);
        assert!([400, 404].contains(&status), "{bad}: {status}");
    }
}

#[test]
fn what_nests_too_deep_or_is_too_long_is_refused() {
    let house = house("deep-input");
    let brackets = format!("{}1 eq 1{}", "(".repeat(5000), ")".repeat(5000));
    let nots = "not ".repeat(2000) + "true";
    let terms = vec!["name eq 'a'"; 1000].join(" or ");
    for bad in [brackets, nots, terms, "x".repeat(20_000)] {
        assert_eq!(house.filtered("Things", &bad).status, 400, "{}", &bad[..20]);
    }
    let json = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let call = house.call("POST", "Things", &[], json.into());
    assert_eq!(wait(house.service.call(call)).status, 400);
    let path = "Things(1)/".to_owned() + &"Datastreams(1)/Thing/".repeat(30);
    assert_eq!(house.status("GET", &path, Json::Null), 400);
}

#[test]
fn bad_json_says_at_which_byte() {
    let house = house("json");
    for (body, at) in [
        (r#"{"name": "x", "description": }"#, 29),
        ("{\n\"name\": nope}", 11),
        ("[1,]", 3),
    ] {
        for url in ["Things", "CreateObservations"] {
            let call = house.call("POST", url, &[], body.into());
            let response = wait(house.service.call(call));
            assert_eq!(response.status, 400, "{body}");
            assert_eq!(said(&response)["at"], at, "{body}");
        }
    }
    for body in ["", "{", "\u{0}"] {
        let call = house.call("POST", "Things", &[], body.into());
        assert_eq!(wait(house.service.call(call)).status, 400, "{body}");
    }
}

#[test]
fn spans_that_end_before_they_begin_are_not_stored() {
    let house = house("spans");
    house.post("Things", kitchen());
    let none = "phenomenonTime gt 2026-11-20T11:00:00Z and phenomenonTime lt 2026-11-20T10:00:00Z";
    let response = house.filtered("Observations", none);
    assert_eq!(response.status, 200);
    assert_eq!(said(&response)["value"], json!([]));
    for (name, span) in [
        (
            "phenomenonTime",
            "2026-11-20T11:00:00Z/2026-11-20T10:00:00Z",
        ),
        ("validTime", "2026-11-20T11:00:00Z/2026-11-20T10:00:00Z"),
        ("validTime", "2026-11-20T11:00:00Z"),
        ("resultTime", "now"),
        ("resultTime", "2026-11-20T10:00:00Z/2026-11-20T11:00:00Z"),
    ] {
        let body = json!({"result": 1, name: span, "Datastream": {"@iot.id": 1}});
        let status = house.status("POST", "Observations", body);
        assert_eq!(status, 400, "{name} {span}");
    }
}

#[test]
fn numbers_beyond_all_bounds_are_cut_or_refused() {
    let house = house("bounds");
    house.post("Things", kitchen());
    let all = house.get("Observations?$top=999999999999");
    assert_eq!(results(&all).len(), 3);
    let none = house.get("Observations?$skip=999999999999");
    assert_eq!(none["value"], json!([]));
    for bad in [
        "$top=99999999999999999999999",
        "$top=-1",
        "$skip=1e3",
        "$count=2",
    ] {
        let status = house.status("GET", &format!("Things?{bad}"), Json::Null);
        assert_eq!(status, 400, "{bad}");
    }
    for id in ["99999999999999999999999999", "18446744073709551615", "1@9"] {
        let url = format!("Observations('{id}')");
        assert_eq!(house.status("GET", &url, Json::Null), 404, "{id}");
    }
    for token in ["x", "1", "9223372036854775807.18446744073709551616"] {
        let url = format!("Observations?$skiptoken={token}");
        assert_eq!(house.status("GET", &url, Json::Null), 400, "{token}");
    }
    for token in ["x", "1", "0.1", "-1.1", "99999999999999999999999.1"] {
        let url = format!("Things?$skiptoken={token}");
        assert_eq!(house.status("GET", &url, Json::Null), 400, "{token}");
    }
}

#[test]
fn a_filter_that_would_look_at_too_much_is_refused() {
    let house = house("all");
    house.post("Things", kitchen());
    assert_eq!(house.filtered("Things", "colour eq 'red'").status, 400);
    let filter = "Observations/result ge 21.5 and name ne 'x'";
    assert_eq!(house.filtered("Datastreams", filter).status, 200);
    let begin = now().nanos() / 1_000_000;
    for part in 0..6_i64 {
        let row = |number: i64| {
            let time = Time::from_millis(begin + part * 20_000 + number);
            format!(r#"{{"value":{number},"time":"{time}"}}"#)
        };
        let rows: Vec<String> = (0..20_000).map(row).collect();
        house.publish(
            "kitchen/noise",
            &format!(r#"{{"observations":[{}]}}"#, rows.join(",")),
        );
    }
    let response = house.filtered("Datastreams", filter);
    let text = String::from_utf8_lossy(&response.body).into_owned();
    assert_eq!(response.status, 400, "{text}");
    assert!(text.contains("over the limit"), "{text}");
}

/// The limit is made small, since to reach it as it is takes two million observations.
#[test]
fn a_request_for_few_that_looks_at_all_is_refused() {
    let mut house = house("scans");
    let rows = |minute: i64| {
        let time = now().plus_nanos(minute * 60_000_000_000);
        format!(r#"{{"value":{minute},"time":"{time}"}}"#)
    };
    let rows: Vec<String> = (0..20).map(rows).collect();
    house.publish(
        "a/b",
        &format!(r#"{{"observations":[{}]}}"#, rows.join(",")),
    );
    let limit = |house: &mut House, scans: usize| {
        Arc::get_mut(&mut house.service.inner).unwrap().scanned_max = scans;
    };
    for (scans, filter, status) in [
        (20, "result eq 100", 200),
        (19, "result eq 100", 400),
        (
            10,
            "result eq 100 and phenomenonTime gt 2026-11-20T12:15:00Z",
            200,
        ),
    ] {
        limit(&mut house, scans);
        let response = house.filtered("Observations", filter);
        assert_eq!(response.status, status, "{scans} {filter}");
        if status == 400 {
            let text = String::from_utf8_lossy(&response.body).into_owned();
            assert!(text.contains("would be looked at"), "{text}");
        }
    }
    limit(&mut house, 19);
    assert_eq!(
        house.status("GET", "Observations?$orderby=result", Json::Null),
        400
    );
}

/// Each level of the path multiplies what is found by the datastreams of the thing.
#[test]
fn a_path_that_goes_to_and_fro_is_refused_in_time() {
    let house = house("to-and-fro");
    let thing = house.post("Things", kitchen());
    for number in 1..20 {
        let mut datastream = kitchen()["Datastreams"][0].take();
        datastream["name"] = number.to_string().into();
        datastream["Observations"] = json!([]);
        house.post(&format!("{thing}/Datastreams"), datastream);
    }
    let path = |times: usize| format!("Datastreams/{}", "Thing/Datastreams/".repeat(times));
    let asked = |times: usize| house.filtered("Things", &(path(times) + "name eq 'x'"));
    assert_eq!(asked(2).status, 200);
    for times in [3, 8] {
        let response = asked(times);
        let text = String::from_utf8_lossy(&response.body).into_owned();
        assert_eq!(response.status, 400, "{times} {text}");
        assert!(text.contains("over the limit"), "{text}");
    }
    for option in ["$filter", "$orderby"] {
        let url = format!("Things?{option}={}name", path(16));
        let response = house.ask("GET", &url, Json::Null);
        assert_eq!(response.status, 400, "{option}");
        assert!(said(&response)["at"].is_u64(), "{option}");
    }
    // Where nothing is found at the end of all ways, they are gone all the same.
    let response = house.filtered(
        "Things",
        &(path(8) + "Thing/TaskingCapabilities/name eq 'x'"),
    );
    assert_eq!(response.status, 400);
}

/// A thing that is expanded by each of its datastreams is written as often.
#[test]
fn an_answer_has_a_limit_in_bytes() {
    let house = house("answer-bytes");
    let mut thing = kitchen();
    thing["properties"] = json!({"plan": "x".repeat(200 << 10)});
    let of = |number: usize| {
        let mut datastream = kitchen()["Datastreams"][0].take();
        datastream["name"] = number.to_string().into();
        datastream["Observations"] = json!([]);
        datastream
    };
    thing["Datastreams"] = (0..400).map(of).collect();
    house.post("Things", thing);
    let asked = |most: usize, options: &str| {
        let url = format!("Datastreams?$top={most}&$expand=Thing{options}");
        house.ask("GET", &url, Json::Null)
    };
    assert_eq!(asked(300, "").status, 200);
    assert_eq!(asked(400, "($select=name)").status, 200);
    for options in [
        "",
        "&$resultFormat=CSV",
        "($expand=Datastreams($select=name;$expand=Thing))",
    ] {
        let response = asked(400, options);
        let text = said(&response)["message"].to_string();
        assert_eq!(response.status, 413, "{options} {text}");
    }
}
