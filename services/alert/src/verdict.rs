//! What an address says of a message.

/// What becomes of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Taken,
    /// Not now; why.
    Later(String),
    /// Not ever; why.
    Never(String),
}

impl Verdict {
    /// What a status of HTTP says (RFC 9110 section 15): some pass (RFC 6585 section 4, RFC 8470 section 5.2).
    pub(crate) fn of_http(status: u16, answer: &[u8]) -> Self {
        let answer = String::from_utf8_lossy(answer);
        let first: String = answer
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect();
        let reason = if first.is_empty() {
            format!("it answers {status}")
        } else {
            format!("it answers {status}: {first}")
        };
        match status {
            200..=299 => Self::Taken,
            408 | 425 | 429 | 500..=599 => Self::Later(reason),
            _ => Self::Never(reason),
        }
    }

    /// What a reply of SMTP says that is none of success (RFC 5321 section 4.2.1): one of 4yz passes, and so does
    /// a refused login (RFC 4954 section 6), once somebody has put it right.
    pub(crate) fn of_smtp(code: u16, reply: &str) -> Self {
        let reason = format!("it answers {code}: {}", reply.trim());
        match code {
            500..=529 | 540..=599 => Self::Never(reason),
            _ => Self::Later(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_tried_again_and_what_may_not_is_not() {
        let later = |verdict| matches!(verdict, Verdict::Later(_));
        let never = |verdict| matches!(verdict, Verdict::Never(_));
        assert_eq!(Verdict::of_http(204, b""), Verdict::Taken);
        assert!(later(Verdict::of_http(503, b"busy")) && later(Verdict::of_http(429, b"")));
        assert!(never(Verdict::of_http(404, b"")) && never(Verdict::of_http(302, b"")));
        assert!(later(Verdict::of_smtp(451, "")) && later(Verdict::of_smtp(535, "")));
        assert!(never(Verdict::of_smtp(550, "no such user")));
    }
}
