//! What is asked.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::cell::number;
use crate::need::Need;

/// A question: the point, what is needed there, and by what to rank.
#[derive(Clone, Debug, Serialize)]
pub struct Question {
    /// The link's name.
    pub link: String,
    /// Clients that take part.
    pub clients: f64,
    /// Messages a second; nothing where that is all the same.
    pub rate: Option<f64>,
    /// What a message carries; nothing where that is all the same.
    pub payload: Option<Payload>,
    /// What must hold.
    pub needs: Vec<Need>,
    /// By what to rank.
    pub by: By,
}

/// What a message carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// So many bytes.
    Bytes(f64),
    /// So many nodes of seven observations each (paper 000).
    Nodes(f64),
    /// A level of the factor `payload` by its name.
    Kind(String),
}

/// By what ways are ranked; less is better of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The chief time of the experiment.
    #[default]
    Latency,
    /// Bytes a message.
    Bytes,
    /// The server's processor time a message.
    Cpu,
    /// The server's greatest memory.
    Memory,
}

/// What is wrong with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionFault(String);

impl fmt::Display for QuestionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for QuestionFault {}

impl Question {
    /// A question from the texts of its parts, as a command line or a query has them.
    pub fn parse<'a>(
        link: &str,
        clients: Option<&str>,
        rate: Option<&str>,
        payload: Option<&str>,
        needs: impl IntoIterator<Item = &'a str>,
        by: Option<&str>,
    ) -> Result<Self, QuestionFault> {
        let positive = |what: &str, text: &str| {
            let value = number(text).filter(|value| *value > 0.0);
            value.ok_or_else(|| QuestionFault(format!("{what} `{text}` is no number above 0")))
        };
        Ok(Self {
            link: link.into(),
            clients: clients.map_or(Ok(1.0), |text| positive("clients", text))?,
            rate: rate.map(|text| positive("rate", text)).transpose()?,
            payload: payload.map(Payload::parse).transpose()?,
            needs: Need::parse_all(needs).map_err(|fault| QuestionFault(fault.to_string()))?,
            by: by.map_or(Ok(By::default()), By::parse)?,
        })
    }
}

impl Payload {
    /// `100`, `100B`, `1kB`; `3nodes`, `nodes=3`; else a kind.
    pub fn parse(text: &str) -> Result<Self, QuestionFault> {
        let text = text.trim();
        if text.is_empty() {
            return Err(QuestionFault("the payload is empty".into()));
        }
        let nodes = ["nodes", "node"]
            .iter()
            .find_map(|end| text.strip_suffix(end));
        if let Some(count) = text
            .strip_prefix("nodes=")
            .or(nodes)
            .and_then(|t| number(t.trim()))
        {
            return Ok(Self::Nodes(count));
        }
        for (unit, scale) in [
            ("kB", 1e3),
            ("MB", 1e6),
            ("KiB", 1024.0),
            ("B", 1.0),
            ("", 1.0),
        ] {
            if let Some(count) = text
                .strip_suffix(unit)
                .and_then(|text| number(text.trim_end()))
            {
                return Ok(Self::Bytes(count * scale));
            }
        }
        Ok(Self::Kind(text.into()))
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes} B"),
            Self::Nodes(nodes) => write!(f, "{nodes} nodes"),
            Self::Kind(kind) => kind.fmt(f),
        }
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Need {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl By {
    /// By its name.
    pub fn parse(text: &str) -> Result<Self, QuestionFault> {
        Ok(match text {
            "latency" => Self::Latency,
            "bytes" => Self::Bytes,
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            other => {
                let sentence = format!("`{other}` is none of latency, bytes, cpu, memory");
                return Err(QuestionFault(sentence));
            }
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Bytes => "bytes",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.clients == 1.0 { "" } else { "s" };
        write!(f, "link {}, {} client{plural}", self.link, self.clients)?;
        if let Some(rate) = self.rate {
            write!(f, ", {rate} messages a second")?;
        }
        if let Some(payload) = &self.payload {
            write!(f, ", {payload}")?;
        }
        for need in &self.needs {
            write!(f, "; {}", need.text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_payload_is_bytes_nodes_or_a_kind() {
        let parsed =
            ["100", "1 kB", "3nodes", "nodes=5", "obs/3"].map(|t| Payload::parse(t).unwrap());
        let kind = Payload::Kind("obs/3".into());
        use Payload::{Bytes, Nodes};
        assert_eq!(
            parsed,
            [Bytes(100.0), Bytes(1000.0), Nodes(3.0), Nodes(5.0), kind]
        );
        assert!(Payload::parse(" ").is_err());
    }

    #[test]
    fn what_is_no_number_is_named() {
        let fault = |clients, rate, by| {
            let parsed = Question::parse("lan", clients, rate, None, [], by);
            parsed.unwrap_err().to_string()
        };
        assert_eq!(
            fault(Some("0"), None, None),
            "clients `0` is no number above 0"
        );
        assert_eq!(
            fault(None, Some("fast"), None),
            "rate `fast` is no number above 0"
        );
        assert!(fault(None, None, Some("price")).starts_with("`price` is none of"));
    }
}
