//! Annex A.2.1.6: every operator, every function, what is cast and what is mixed.

use super::*;

/// How many of a set a filter leaves.
fn left(house: &House, set: &str, filter: &str) -> usize {
    let filter = weir_model::percent::encode(filter, b"");
    let found = house.get(&format!("{set}?$filter={filter}"));
    found["value"].as_array().unwrap().len()
}

fn check(house: &House, set: &str, filters: &[(&str, usize)]) {
    for (filter, expected) in filters {
        assert_eq!(left(house, set, filter), *expected, "{filter}");
    }
}

// [STA-A.2.1.6-1] [STA-A.2.1.6-2]
#[test]
fn every_operator_filters() {
    let house = house("annex-operators");
    house.post("Things", kitchen());
    check(
        &house,
        "Observations",
        &[
            ("result eq 21.5", 1),
            ("result ne 21.5", 2),
            ("result gt 21.5", 1),
            ("result ge 21.5", 2),
            ("result lt 21.5", 1),
            ("result le 21.5", 2),
            ("result gt 20 and result lt 22", 1),
            ("result lt 21 or result gt 21.9", 2),
            ("not (result eq 20)", 2),
            ("result add 2 eq 22", 1),
            ("result sub 2 eq 20", 1),
            ("result mul 2 eq 43", 1),
            ("result div 2 eq 10", 1),
            ("result mod 2 eq 0", 2),
            ("(result sub 20) mul 2 eq 3", 1),
            ("result gt 20 and (result lt 21 or result gt 21.9)", 1),
        ],
    );
    check(
        &house,
        "Datastreams",
        &[
            ("unitOfMeasurement/name eq 'Celsius'", 1),
            ("Thing/properties/floor eq 2", 1),
            ("Thing/Locations/name eq 'House'", 1),
            ("Thing/Locations/name eq 'Flat'", 0),
        ],
    );
}

// [STA-A.2.1.6-1] The example of 18-088 section 9.3.3.5 looks from Things at Observations and their features.
#[test]
fn what_is_filtered_may_be_found_by_its_observations() {
    let house = house("annex-observations");
    house.post("Things", kitchen());
    let all = house.get("Observations?$expand=FeatureOfInterest&$orderby=phenomenonTime&$top=1");
    let first = &all["value"][0];
    let feature = &first["FeatureOfInterest"]["@iot.id"];
    let time = first["phenomenonTime"].as_str().unwrap();
    check(
        &house,
        "Datastreams",
        &[
            ("Observations/result eq 21.5", 1),
            ("Observations/result gt 1000", 0),
        ],
    );
    check(
        &house,
        "Things",
        &[
            (
                &format!("Datastreams/Observations/FeatureOfInterest/id eq {feature}"),
                1,
            ),
            (
                &format!("Datastreams/Observations/phenomenonTime le {time}"),
                1,
            ),
            (
                &format!("Datastreams/Observations/phenomenonTime lt {time}"),
                0,
            ),
        ],
    );
    check(
        &house,
        "FeaturesOfInterest",
        &[("Observations/Datastream/Thing/name eq 'Kitchen'", 1)],
    );
}

// [STA-A.2.1.6-3]
#[test]
fn every_function_of_texts_numbers_and_times_filters() {
    let house = house("annex-functions");
    house.post("Things", kitchen());
    check(
        &house,
        "Things",
        &[
            ("substringof('itch',name)", 1),
            ("substringof('ITCH',name)", 0),
            ("endswith(name,'chen')", 1),
            ("startswith(name,'Kit')", 1),
            ("length(name) eq 7", 1),
            ("indexof(name,'t') eq 2", 1),
            ("substring(name,2) eq 'tchen'", 1),
            ("substring(name,2,2) eq 'tc'", 1),
            ("tolower(name) eq 'kitchen'", 1),
            ("toupper(name) eq 'KITCHEN'", 1),
            ("trim(concat(name,'  ')) eq 'Kitchen'", 1),
            (
                "concat(concat(name,', '),description) eq 'Kitchen, where one cooks'",
                1,
            ),
        ],
    );
    check(
        &house,
        "Observations",
        &[
            ("round(result) eq 22", 2),
            ("floor(result) eq 21", 1),
            ("ceiling(result) eq 22", 2),
            ("year(resultTime) eq 2026", 1),
            ("month(resultTime) eq 11", 1),
            ("day(phenomenonTime) eq 20", 3),
            ("hour(phenomenonTime) eq 10", 3),
            ("minute(phenomenonTime) eq 1", 1),
            ("second(phenomenonTime) eq 0", 3),
            ("fractionalseconds(phenomenonTime) eq 0", 3),
            ("date(phenomenonTime) eq 2026-11-20T00:00:00Z", 3),
            ("time(phenomenonTime) lt duration'PT10H1M'", 1),
            ("totaloffsetminutes(phenomenonTime) eq 0", 3),
            ("resultTime lt now()", 1),
            ("resultTime gt mindatetime()", 1),
            ("resultTime lt maxdatetime()", 1),
            ("phenomenonTime gt now() sub duration'PT1H59M30S'", 2),
        ],
    );
}

// [STA-A.2.1.6-3]
#[test]
fn every_function_of_geometries_filters() {
    let house = house("annex-geometries");
    house.post("Things", kitchen());
    let mut road = kitchen()["Locations"][0].clone();
    road["name"] = "Road".into();
    road["location"] = json!({"type": "LineString", "coordinates": [[20, 44], [21, 45]]});
    house.post("Locations", road);
    check(
        &house,
        "Locations",
        &[
            (
                "geo.distance(location,geography'POINT(20.5 44.8)') lt 0.01",
                1,
            ),
            ("geo.length(location) gt 1.4", 1),
            (
                "geo.intersects(location,geography'POLYGON((20 44.7,21 44.7,21 46,20 44.7))')",
                2,
            ),
            ("st_equals(location,geography'POINT(20.5 44.8)')", 1),
            ("st_disjoint(location,geography'POINT(20.5 44.8)')", 1),
            ("st_touches(location,geography'LINESTRING(20 44,19 44)')", 1),
            (
                "st_within(location,geography'POLYGON((19 43,22 43,22 46,19 46,19 43))')",
                2,
            ),
            (
                "st_overlaps(location,geography'LINESTRING(20.5 44.5,22 46)')",
                1,
            ),
            ("st_crosses(location,geography'LINESTRING(20 45,21 44)')", 1),
            (
                "st_intersects(location,geography'LINESTRING(20 45,21 44)')",
                1,
            ),
            ("st_contains(location,geography'POINT(20.5 44.8)')", 1),
            (
                "st_relate(location,geography'POINT(20.5 44.8)','T*F**FFF*')",
                1,
            ),
        ],
    );
}

// [STA-A.2.1.6-4] [STA-A.2.1.6-5]
#[test]
fn what_is_mixed_is_compared_with_each_type() {
    let house = house("annex-mixed");
    for (second, value) in ["1", "\"1\"", "2.5", "true", "\"text\"", "null", "[1,2]"]
        .into_iter()
        .enumerate()
    {
        let time = format!("2026-11-20T10:00:{second:02}Z");
        house.publish("mixed", &format!(r#"{{"value":{value},"time":"{time}"}}"#));
    }
    check(
        &house,
        "Observations",
        &[
            ("result eq 2.5", 1),
            ("result eq 'text'", 1),
            ("result eq true", 1),
            ("result eq null", 1),
            ("result gt 2", 1),
            ("result lt 2", 2),
            ("startswith(result,'te')", 1),
            ("length(result) eq 3", 1),
            ("substringof('.5',result)", 1),
        ],
    );
}
