//! What a client says beside its messages: `{"weir":{"pace":"5.2ms"}}`, `{"weir":{"clock":17}}`.
//!
//! `clock` is for a page that measures: it is answered at once with the gateway's own time, so that four
//! stamps around both ways bound the difference of the two clocks (RFC 5905 section 8).

use crate::pace;
use weir_model::Time;
use weir_service::{Pace, Response};

/// What every control line and frame begins with.
pub(crate) const BEGIN: &[u8] = b"{\"weir\":";

/// Acts on a control; the answer has no body where nothing is said back.
pub(crate) fn take(text: &[u8], now: Time, pace: &Pace) -> Response {
    match read(text, now, pace) {
        Ok(None) => Response::with_body(204, "application/json", ""),
        Ok(Some(answer)) => Response::with_body(200, "application/json", answer),
        Err(fault) => {
            let message = serde_json::json!({"weir": {"error": fault, "status": 400}});
            Response::with_body(400, "application/json", message.to_string())
        }
    }
}

fn read(text: &[u8], now: Time, pace: &Pace) -> Result<Option<String>, String> {
    let whole = weir_hub::json::read(text).map_err(|error| format!("a control: {error}"))?;
    let said = &whole["weir"];
    if let Some(cost) = said.get("pace") {
        let text = cost.as_str().ok_or("pace: a duration such as \"5.2ms\"")?;
        let cost = pace::cost(text).map_err(|error| format!("pace: {error}"))?;
        pace.set(pace::period(cost));
        return Ok(None);
    }
    match said.get("clock").and_then(serde_json::Value::as_f64) {
        Some(asked) => {
            let here = now.nanos() / 1000;
            Ok(Some(format!(
                r#"{{"weir":{{"clock":{asked},"here":{here}}}}}"#
            )))
        }
        None => Err("a control says pace or clock".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn said(text: &str, pace: &Pace) -> (u16, String) {
        let answer = take(text.as_bytes(), Time::from_nanos(1_500_000), pace);
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        (answer.status, body)
    }

    #[test]
    fn a_page_sets_its_pace_and_takes_it_back() {
        let pace = Pace::default();
        let answer = said(r#"{"weir":{"pace":"5ms"}}"#, &pace);
        assert_eq!(answer, (204, String::new()));
        assert_eq!(pace.period(), Some(Duration::from_millis(10)));
        said(r#"{"weir":{"pace":"0"}}"#, &pace);
        assert_eq!(pace.period(), None);
    }

    #[test]
    fn a_page_that_asks_is_told_the_gateways_time() {
        let answer = said(r#"{"weir":{"clock":12.5}}"#, &Pace::default());
        assert_eq!(answer.1, r#"{"weir":{"clock":12.5,"here":1500}}"#);
    }

    #[test]
    fn what_is_no_control_is_refused_in_words() {
        for bad in [
            r#"{"weir":{}}"#,
            r#"{"weir":"#,
            r#"{"weir":{"pace":5}}"#,
            r#"{"weir":{"pace":"soon"}}"#,
        ] {
            let (status, body) = said(bad, &Pace::default());
            assert_eq!(status, 400, "{bad}: {body}");
        }
    }
}
