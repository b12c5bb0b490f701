//! Answers to requests: results and errors (RFC 6120 section 8.3), written for the component's stream.

use crate::limits::SENT_BYTES_MAX;
use crate::names::{COMPONENT, PUBSUB_ERRORS, STANZAS};
use crate::xml::Element;
use weir_hub::{Fault, LogFault};

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// What the requester should do: `cancel`, `modify`, `auth`, `wait`.
    kind: &'static str,
    condition: &'static str,
    /// The condition of XEP-0060, and a feature that it names.
    detail: Option<(&'static str, Option<&'static str>)>,
    text: String,
}

impl Refusal {
    pub(super) fn new(
        kind: &'static str,
        condition: &'static str,
        text: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            condition,
            detail: None,
            text: text.into(),
        }
    }

    /// The refusal with a condition of XEP-0060.
    pub(super) fn with(mut self, condition: &'static str) -> Self {
        self.detail = Some((condition, None));
        self
    }

    /// A feature of XEP-0060 that is not there (section 10).
    // [XEP0060-10-1]
    pub(super) fn unsupported(feature: &'static str) -> Self {
        let mut refusal = Self::new("cancel", "feature-not-implemented", feature);
        refusal.detail = Some(("unsupported", Some(feature)));
        refusal
    }

    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self::new("modify", "bad-request", text)
    }

    // [RFC6120-8.3-1]
    fn element(&self) -> Element {
        let condition = Element::new(STANZAS, self.condition);
        let text = Element::new(STANZAS, "text").text(self.text.clone());
        let error = Element::new(COMPONENT, "error").with("type", self.kind);
        let error = error.child(condition).child(text);
        match self.detail {
            None => error,
            Some((condition, feature)) => {
                let mut detail = Element::new(PUBSUB_ERRORS, condition);
                if let Some(feature) = feature {
                    detail = detail.with("feature", feature);
                }
                error.child(detail)
            }
        }
    }
}

impl From<&Fault> for Refusal {
    fn from(fault: &Fault) -> Self {
        let (kind, condition) = match fault {
            // [XEP0060-6.1-3] [XEP0060-7.1-3]
            Fault::Denied { .. } | Fault::Reserved(_) => ("auth", "forbidden"),
            Fault::Revoked(_) => ("auth", "not-authorized"),
            Fault::Topic(_) | Fault::Incomparable(_) => ("modify", "bad-request"),
            Fault::Undecodable { .. } | Fault::Message(_) => ("modify", "bad-request"),
            Fault::OverLimit { .. } => ("modify", "not-acceptable"),
            Fault::KeyReused(_) | Fault::Contradicted { .. } => ("cancel", "conflict"),
            Fault::Unknown(_) => ("cancel", "item-not-found"),
            Fault::Crowded { .. }
            | Fault::TooFast { .. }
            | Fault::Log(LogFault::Busy)
            | Fault::Short => ("wait", "resource-constraint"),
            Fault::Log(_) | Fault::History(_) | Fault::Stopping => {
                ("wait", "internal-server-error")
            }
        };
        let refusal = Self::new(kind, condition, fault.to_string());
        match fault {
            Fault::Undecodable { .. } | Fault::Message(_) => refusal.with("invalid-payload"),
            Fault::OverLimit { .. } => refusal.with("payload-too-big"),
            _ => refusal,
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::from(&fault)
    }
}

/// Who asked, and by which name of the request: what an answer begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    from: String,
    to: String,
    id: String,
}

impl Asked {
    pub(super) fn of(iq: &Element) -> Self {
        let text = |name| iq.attribute(name).unwrap_or_default().to_owned();
        Self {
            from: text("from"),
            to: text("to"),
            id: text("id"),
        }
    }

    pub(super) fn from(&self) -> &str {
        &self.from
    }

    fn answer(&self, kind: &str) -> Element {
        Element::new(COMPONENT, "iq")
            .with("type", kind)
            .with("from", self.to.clone())
            .with("to", self.from.clone())
            .with("id", self.id.clone())
    }

    /// A result, with or without something in it.
    pub(super) fn result(&self, child: Option<Element>) -> String {
        self.sent(written(&self.answer("result").children(child)))
    }

    /// A result with XML in it that is written already.
    pub(super) fn result_with(&self, inner: &str) -> String {
        let mut text = written(&self.answer("result"));
        text.truncate(text.len() - "/>".len());
        text.push('>');
        text.push_str(inner);
        text.push_str("</iq>");
        self.sent(text)
    }

    /// The result, or where a server would end the stream for its size, an error instead.
    fn sent(&self, result: String) -> String {
        if result.len() > SENT_BYTES_MAX {
            let text = format!("the answer has more than {SENT_BYTES_MAX} bytes: ask for less");
            self.error(&Refusal::new("modify", "not-acceptable", text))
        } else {
            result
        }
    }

    /// An error: without its text where that repeats too much of the request, and nothing where the request's
    /// identifier alone is too much.
    pub(super) fn error(&self, refusal: &Refusal) -> String {
        let short = Refusal {
            text: String::new(),
            ..refusal.clone()
        };
        let answers =
            [refusal, &short].map(|one| written(&self.answer("error").child(one.element())));
        let sent = answers
            .into_iter()
            .find(|answer| answer.len() <= SENT_BYTES_MAX);
        sent.unwrap_or_default()
    }
}

pub(super) fn written(stanza: &Element) -> String {
    let mut text = String::new();
    stanza.write(COMPONENT, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(id: &str) -> Asked {
        let iq = Element::new(COMPONENT, "iq").with("from", "ann@a");
        Asked::of(&iq.with("to", "weir.a").with("id", id))
    }

    #[test]
    fn no_answer_is_larger_than_what_a_server_takes() {
        let long = ">".repeat(SENT_BYTES_MAX);
        let answer = asked("1").result_with(&long);
        assert!(answer.contains("<not-acceptable "), "{answer}");
        let child = Element::new(COMPONENT, "a").text(long.clone());
        assert_eq!(asked("1").result(Some(child)), answer);
        let refused = asked("1").error(&Refusal::bad(long.clone()));
        assert!(
            refused.contains("<bad-request ") && refused.len() < 1000,
            "{refused}"
        );
        assert_eq!(asked(&long).error(&Refusal::bad("")), "");
    }
}
