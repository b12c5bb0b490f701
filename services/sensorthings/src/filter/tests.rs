#![allow(clippy::unwrap_used)]

use super::*;
use crate::fault::{Fault, Result};
use serde_json::{Value as Json, json};
use std::cell::Cell;
use weir_model::Time;

struct One {
    json: Json,
    /// How often something may be done once more for one of many values.
    left: Cell<usize>,
}

impl One {
    fn of(json: Json, left: usize) -> Self {
        let left = Cell::new(left);
        Self { json, left }
    }
}

impl Source for One {
    fn value(&self, path: &[String]) -> Result<Value<'_>> {
        let mut json = &self.json;
        for name in path {
            json = &json[name];
        }
        let is_time = path[0] == "time";
        Ok(match json {
            Json::String(text) if is_time => Value::of_time(text),
            Json::Array(many) => Value::Many(many.iter().map(Value::of_json).collect()),
            json => Value::of_json(json),
        })
    }

    fn now(&self) -> Time {
        Time::from_millis(1_000_000)
    }

    fn visit(&self, visits: usize) -> Result<()> {
        let left = self.left.get().checked_sub(visits);
        self.left.set(left.ok_or_else(|| Fault::bad("too often"))?);
        Ok(())
    }
}

fn is(expression: &str) -> bool {
    let json = json!({
        "name": "Kitchen sink", "number": 7, "text": "12", "truth": true, "none": null,
        "time": "2026-11-20T09:41:12.250Z", "many": ["a", "b"],
        "point": {"type": "Point", "coordinates": [5, 5]},
        "unit": {"symbol": "degC"}, "large": 9_007_199_254_740_993_u64,
        "digits": "9007199254740993", "properties": {"serial-no": "x-1"},
    });
    holds(&parse(expression).unwrap(), &One::of(json, 100)).unwrap()
}

#[test]
fn operators_bind_as_the_specification_says() {
    for held in [
        "number eq 7 and name eq 'Kitchen sink'",
        "false and false or true",
        "true or false and false",
        "not (number gt 8) and truth",
        "not false and true",
        "number add 1 mul 2 eq 9",
        "(number add 1) mul 2 eq 16",
        "number sub 1 sub 1 eq 5",
        "number mod 4 eq 3 and number div 2 eq 3.5",
        "none eq null and number ne null",
        "text gt 3 and text lt '2'",
        "unit/symbol eq 'degC'",
        "properties/serial-no eq 'x-1' and number ge -7",
        "many eq 'b' and not (many eq 'c')",
        "number ge -7 and number le 7.0",
    ] {
        assert!(is(held), "{held}");
    }
    for held in [
        "large eq 9007199254740993 and digits eq 9007199254740993 and large eq digits",
        "large eq '9007199254740993' and large gt number and large lt 1e16",
        "large sub large eq 0 and -1 lt large",
    ] {
        assert!(is(held), "{held}");
    }
    for other in ["9007199254740992", "9007199254740994"] {
        for name in ["large", "digits"] {
            assert!(!is(&format!("{name} eq {other}")), "{name} {other}");
        }
    }
    assert!(!is("none gt 1 or none lt 1 or none ne 1"));
}

#[test]
fn functions_of_texts_and_numbers() {
    for held in [
        "substringof('sink', name)",
        "endswith(name,'sink') and startswith(name,'Kitchen')",
        "length(name) eq 12 and indexof(name,'sink') eq 8",
        "substring(name,8) eq 'sink' and substring(name,0,3) eq 'Kit'",
        "tolower(name) eq 'kitchen sink' and toupper(name) eq 'KITCHEN SINK'",
        "trim('  x ') eq 'x' and concat('a','b''c') eq 'ab''c'",
        "round(2.5) eq 3 and floor(2.9) eq 2 and ceiling(2.1) eq 3",
    ] {
        assert!(is(held), "{held}");
    }
}

#[test]
fn functions_of_times() {
    for held in [
        "year(time) eq 2026 and month(time) eq 11 and day(time) eq 20",
        "hour(time) eq 9 and minute(time) eq 41 and second(time) eq 12",
        "fractionalseconds(time) eq 0.25 and totaloffsetminutes(time) eq 0",
        "date(time) eq 2026-11-20 and time(time) eq duration'PT9H41M12.25S'",
        "time gt 2026-11-20T10:41:12+01:00 and time lt maxdatetime()",
        "time(time) gt 09:41 and time(time) lt 09:41:12.5 and time(time) eq 09:41:12.25",
        "time(time) sub 09:00:00 eq duration'PT41M12.25S' and time(time) le 23:59:59",
        "time gt now() and mindatetime() lt time",
        "time sub duration'P1D' eq 2026-11-19T09:41:12.25Z",
        "time sub 2026-11-20T09:41:12Z eq duration'PT0.25S'",
    ] {
        assert!(is(held), "{held}");
    }
}

#[test]
fn functions_of_geometries() {
    let square = "geography'POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))'";
    let holed = "geography'POLYGON ((0 0,10 0,10 10,0 10,0 0),(4 4,6 4,6 6,4 6,4 4))'";
    for held in [
        format!("st_within(point, {square}) and st_contains({square}, point)"),
        format!("st_disjoint(point, {holed}) and geo.distance(point, {holed}) eq 1"),
        "geo.distance(point, geography'POINT (5 8)') eq 3".into(),
        "geo.length(geography'LINESTRING (0 0, 3 4)') eq 5".into(),
        "st_equals(point, geography'POINT Z (5 5 9)')".into(),
        format!("geo.intersects(geography'LINESTRING (-1 5, 11 5)', {square})"),
        format!("st_crosses(geography'LINESTRING (-1 5, 11 5)', {square})"),
        format!("st_touches(geography'POINT (10 5)', {square})"),
        format!("st_touches(geography'POLYGON ((10 0, 20 0, 20 10, 10 10, 10 0))', {square})"),
        format!("st_overlaps(geography'POLYGON ((5 5, 15 5, 15 15, 5 15, 5 5))', {square})"),
        format!("st_equals({square}, geography'POLYGON ((10 0, 10 10, 0 10, 0 0, 10 0))')"),
        format!("st_within({square}, geography'POLYGON ((-1 -1, 11 -1, 11 11, -1 11, -1 -1))')"),
        "st_crosses(geography'LINESTRING (0 0, 2 2)', geography'LINESTRING (0 2, 2 0)')".into(),
        "st_overlaps(geography'LINESTRING (0 0, 2 0)', geography'LINESTRING (1 0, 3 0)')".into(),
        "st_touches(geography'LINESTRING (0 0, 1 0)', geography'LINESTRING (1 0, 1 1)')".into(),
        format!("st_relate(point, {square}, 'T*F**F***')"),
        format!("st_relate(point, {square}, '0FFFFF212')"),
        format!("not st_relate(geography'POINT (10 5)', {square}, 'T********')"),
        format!("not st_contains({square}, geography'POINT (10 5)')"),
        format!("not st_overlaps({square}, {square}) and not st_touches({square}, {square})"),
        format!("not st_within({square}, {holed})"),
    ] {
        assert!(is(&held), "{held}");
    }
}

#[test]
fn what_is_no_expression_is_refused_where_it_goes_wrong() {
    for (bad, at) in [
        ("name eq", 7),
        ("name eq 'x", 8),
        ("name ~ 1", 5),
        ("(name eq 1", 10),
        ("name eq 1 1", 10),
        ("nofunction(name)", 0),
        ("length(name, 1)", 0),
        ("geography'POINT (x)' eq 1", 0),
        ("a//b eq 1", 0),
        ("1-2-3 eq 1", 0),
        ("time(time) gt 24:00:00", 14),
        ("time(time) gt 12:60", 14),
        ("time(time) gt 12:00:00Z", 14),
        ("time(time) gt 9:00", 14),
        ("name eq 1; drop", 9),
    ] {
        let fault = parse(bad).unwrap_err();
        assert_eq!(
            (fault.status, fault.at),
            (400, Some(at)),
            "{bad}: {}",
            fault.message
        );
    }
}

#[test]
fn what_is_done_for_each_of_many_values_is_counted() {
    let numbers: Vec<u32> = (0..1000).collect();
    let counted = |expression: &str, left: usize| {
        let one = One::of(json!({"many": numbers.clone(), "others": ["a", "b"]}), left);
        holds(&parse(expression).unwrap(), &one).map(|held| (held, left - one.left.get()))
    };
    assert_eq!(counted("many gt 999", 1000), Ok((false, 1000)));
    assert_eq!(
        counted("many ge 9", 1000),
        Ok((true, 10)),
        "no more than it takes"
    );
    assert_eq!(counted("length(many) eq 5", 1000), Ok((false, 1000)));
    assert_eq!(counted("concat(others,others) eq 'ba'", 10), Ok((false, 6)));
    assert!(counted("many gt 999", 999).is_err());
    assert!(counted("many add many eq -1", 1_000_000).is_err());
}

#[test]
fn depth_and_terms_are_bounded() {
    let deep = format!("{}true{}", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(parse(&deep).unwrap_err().status, 400);
    let nots = format!("{}true", "not ".repeat(4000));
    assert_eq!(parse(&nots).unwrap_err().status, 400);
    let many = vec!["true"; 501].join(" and ");
    assert_eq!(parse(&many).unwrap_err().status, 400);
    let long = format!("name eq '{}'", "x".repeat(20_000));
    assert_eq!(parse(&long).unwrap_err().status, 400);
}

#[test]
fn geometries_are_compared_as_often_as_they_are_short() {
    let outline = |corners: usize| {
        let all = (0..corners).map(|n| format!("{n} {}", if n % 2 == 0 { 0 } else { 9999 }));
        all.collect::<Vec<_>>().join(",")
    };
    let asks = |function: &str, corners: usize, visits: usize| {
        let long = outline(corners);
        let asked = format!(
            "{function}(geography'LINESTRING({long})',geography'LINESTRING(-1 5,9999 5,-1 6)')"
        );
        let asked = parse(&asked).unwrap();
        let one = One::of(json!({}), visits);
        eval(&asked, &one).map(|found| found == Value::Bool(true))
    };
    assert_eq!(asks("st_intersects", 10, 100), Ok(true));
    for function in [
        "st_intersects",
        "st_disjoint",
        "st_touches",
        "st_crosses",
        "geo.distance",
    ] {
        assert!(asks(function, 1000, 100).is_err(), "{function}");
        assert!(asks(function, 1000, 100_000).is_ok(), "{function}");
    }
}
