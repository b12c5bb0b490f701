//! What is measured of a coding.

/// A piece of work on a document in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    /// From its bytes to what a program can take.
    Parse,
    /// From what a program holds to its bytes.
    Serialize,
    /// From XML to its bytes, parsing the XML included.
    FromXml,
}

impl Task {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Parse, Self::Serialize, Self::FromXml];

    /// The metric of its time.
    pub(super) fn time(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Serialize => "serialize",
            Self::FromXml => "from_xml",
        }
    }

    /// The metric of its rate, in MB of the document's XML a second.
    pub(super) fn rate(self) -> &'static str {
        match self {
            Self::Parse => "parse_rate",
            Self::Serialize => "serialize_rate",
            Self::FromXml => "from_xml_rate",
        }
    }

    /// The metric of its rate in observations a second.
    pub(super) fn observation_rate(self) -> &'static str {
        match self {
            Self::Parse => "parse_observations",
            Self::Serialize => "serialize_observations",
            Self::FromXml => "from_xml_observations",
        }
    }
}
