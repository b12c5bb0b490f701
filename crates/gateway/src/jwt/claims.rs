//! What a token claims, and whether it holds here and now (RFC 7519 section 4.1).

use serde_json::{Map, Value as Json};
use weir_model::Time;

/// Claims of a token, by name.
pub(crate) type Claims = Map<String, Json>;

/// Longest subject, bytes (OpenID Connect Core 1.0 section 2).
const SUBJECT_BYTES_MAX: usize = 255;
/// The last second of the year 9999: what is later is no number of seconds, but of milliseconds.
const SECONDS_MAX: f64 = 253_402_300_799.0;

/// What must be claimed.
pub(crate) struct Expected<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) audience: &'a str,
    /// How far `nbf` and `iat` may lie ahead, seconds.
    pub(crate) leeway: u32,
    pub(crate) now: Time,
}

/// What a token that holds says.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) subject: String,
    pub(crate) expires: Time,
}

impl Expected<'_> {
    /// Checks all that must be claimed.
    pub(crate) fn check(&self, claims: &Claims) -> Result<Holder, String> {
        if text(claims, "iss") != Some(self.issuer) {
            return Err("`iss` is another's".into());
        }
        self.check_audience(claims)?;
        let expires = date(claims, "exp")?.ok_or("no `exp`")?;
        if expires <= self.now {
            return Err("the token has expired".into());
        }
        let latest = self.now.nanos() + i64::from(self.leeway) * 1_000_000_000;
        for name in ["nbf", "iat"] {
            if date(claims, name)?.is_some_and(|date| date.nanos() > latest) {
                return Err(format!("`{name}` is yet to come"));
            }
        }
        let subject = subject(claims)?.to_owned();
        Ok(Holder { subject, expires })
    }

    /// The audience is one text or a list of texts, one of which is ours (RFC 7519 section 4.1.3).
    fn check_audience(&self, claims: &Claims) -> Result<(), String> {
        let ours = match claims.get("aud") {
            Some(Json::String(audience)) => audience == self.audience,
            Some(Json::Array(all)) => {
                all.iter().all(Json::is_string) && all.iter().any(|it| it == self.audience)
            }
            _ => false,
        };
        match ours {
            true => Ok(()),
            false => Err("`aud` is another's".into()),
        }
    }
}

fn text<'a>(claims: &'a Claims, name: &str) -> Option<&'a str> {
    claims.get(name).and_then(Json::as_str)
}

/// Whose rights and whose rate a token counts for: tokens that name nobody would share them all.
fn subject(claims: &Claims) -> Result<&str, String> {
    let subject = text(claims, "sub").ok_or("no `sub` that is a text")?;
    let is_name = !subject.is_empty() && !subject.contains(char::is_control);
    match is_name && subject.len() <= SUBJECT_BYTES_MAX {
        true => Ok(subject),
        false => Err(format!(
            "`sub` must be 1 to {SUBJECT_BYTES_MAX} bytes without control characters"
        )),
    }
}

/// A NumericDate (RFC 7519 section 2): seconds since 1970, with a fraction or without.
fn date(claims: &Claims, name: &str) -> Result<Option<Time>, String> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    let seconds = value.as_f64();
    match seconds.filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds)) {
        Some(seconds) => {
            // The whole seconds by themselves: a double has no nanoseconds of today.
            let nanos = (seconds.trunc() as i64).saturating_mul(1_000_000_000);
            let part = (seconds.fract() * 1e9) as i64;
            Ok(Some(Time::from_nanos(nanos.saturating_add(part))))
        }
        None => Err(format!("`{name}` is no number of seconds since 1970")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NOW: i64 = 1_800_000_000;

    /// What is said of a right token with some of its claims replaced; null takes one out.
    fn checked(changes: &str) -> Result<Holder, String> {
        let right = r#"{"iss":"https://a","aud":"weir","sub":"ann","exp":1800000060}"#;
        let mut claims: Claims = serde_json::from_str(right).unwrap();
        let changes: Claims = serde_json::from_str(changes).unwrap();
        for (name, value) in changes {
            match value {
                Json::Null => claims.remove(&name),
                value => claims.insert(name, value),
            };
        }
        let expected = Expected {
            issuer: "https://a",
            audience: "weir",
            leeway: 5,
            now: Time::from_millis(NOW * 1000),
        };
        expected.check(&claims)
    }

    fn all_refused(changes: &[&str], reason: &str) {
        for change in changes {
            let refused = checked(change).unwrap_err();
            assert!(refused.contains(reason), "{change}: {refused}");
        }
    }

    #[test]
    fn what_is_claimed_rightly_is_taken() {
        for right in [
            "{}",
            r#"{"aud":["other","weir"]}"#,
            r#"{"exp":1800000000.5}"#,
            r#"{"nbf":1800000005,"iat":1800000005}"#,
            r#"{"nbf":0,"iat":1.5}"#,
            r#"{"exp":253402300799}"#,
        ] {
            assert_eq!(checked(right).unwrap().subject, "ann", "{right}");
        }
        let holder = checked(r#"{"exp":1800000000.25}"#).unwrap();
        assert_eq!(
            holder.expires,
            Time::from_millis(1000 * NOW + 250),
            "it ends then, not before"
        );
    }

    #[test]
    fn a_token_ends_with_the_second_that_it_says() {
        all_refused(
            &[
                r#"{"exp":1800000000}"#,
                r#"{"exp":1799999999}"#,
                r#"{"exp":1799999999.9}"#,
                r#"{"exp":0}"#,
            ],
            "expired",
        );
        all_refused(&[r#"{"exp":null}"#], "no `exp`");
    }

    #[test]
    fn a_token_from_the_future_waits_for_it() {
        let late = [r#"{"nbf":1800000006}"#, r#"{"nbf":1800000005.5}"#];
        all_refused(&late, "`nbf` is yet to come");
        all_refused(&[r#"{"iat":1800000006}"#], "`iat` is yet to come");
    }

    #[test]
    fn a_date_is_a_number_of_seconds() {
        for name in ["exp", "nbf", "iat"] {
            for wrong in [
                "\"1800000060\"",
                "-1",
                "-1e300",
                "1e300",
                "253402300800",
                "1800000060000",
                "true",
                "[1800000060]",
                "{}",
            ] {
                let change = format!(r#"{{"{name}":{wrong}}}"#);
                all_refused(&[&change], "no number of seconds");
            }
        }
    }

    #[test]
    fn issuer_and_audience_are_what_the_policy_says_to_the_letter() {
        all_refused(
            &[
                r#"{"iss":"https://a/"}"#,
                r#"{"iss":"HTTPS://a"}"#,
                r#"{"iss":["https://a"]}"#,
                r#"{"iss":null}"#,
                r#"{"iss":7}"#,
            ],
            "`iss`",
        );
        all_refused(
            &[
                r#"{"aud":"Weir"}"#,
                r#"{"aud":"weir2"}"#,
                r#"{"aud":[]}"#,
                r#"{"aud":["other"]}"#,
                r#"{"aud":["weir",7]}"#,
                r#"{"aud":[["weir"]]}"#,
                r#"{"aud":{"weir":1}}"#,
                r#"{"aud":true}"#,
                r#"{"aud":null}"#,
            ],
            "`aud`",
        );
    }

    #[test]
    fn a_token_names_its_subject() {
        let long = format!(r#"{{"sub":"{}"}}"#, "x".repeat(256));
        all_refused(
            &[
                r#"{"sub":null}"#,
                r#"{"sub":""}"#,
                r#"{"sub":7}"#,
                r#"{"sub":["ann"]}"#,
                r#"{"sub":"ann\n"}"#,
                r#"{"sub":"\u0000"}"#,
                &long,
            ],
            "`sub`",
        );
    }
}
