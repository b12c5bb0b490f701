//! What a client can do with a datastream through a transport, as data that descriptions are made of.
//!
//! What it deliberately does not do: send anything, or write a description: services do, in the words of
//! the W3C, of OpenAPI and of AsyncAPI. The decision worth arguing: a binding says its ways itself, by
//! templates, so that no description knows a protocol by its name.

/// What is done with a datastream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Its last value is read.
    Read,
    /// Its messages are received as they come.
    Observe,
    /// A message is published to it.
    Publish,
}

/// Where a client puts its credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// `Authorization` of HTTP (RFC 9110 section 11.6.2).
    Field,
    /// A token in a pair of the query, of this name.
    Query(&'static str),
    /// Name and password of a login; a token stands for the password.
    Login,
    /// With the server that the client is at, which is somebody else's and vouches for it.
    Elsewhere,
    /// Nowhere: nobody is asked who they are.
    Nowhere,
}

/// A way to use a datastream.
///
/// In templates `{path}` stands for the topic in a URL, `{topic}` for the topic as it is, and `{format}`
/// for the name of the message's format.
#[derive(Debug)]
pub struct Way {
    /// The transports it goes through, by their names in the ready line, each with the scheme of its URLs,
    /// as it is and where a proxy puts TLS before it.
    pub schemes: &'static [(&'static str, [&'static str; 2])],
    /// What is done.
    pub operations: &'static [Operation],
    /// Template of the URL, behind the authority or what stands in its place.
    pub target: &'static str,
    /// Template of the topic or path that is asked for, as the protocol itself calls it.
    pub channel: &'static str,
    /// Template of the subprotocol (W3C Thing Description 1.1 section 5.3.4.2), where there is one.
    pub subprotocol: Option<&'static str>,
    /// Members of a form in the words of the protocol's own vocabulary, each a template of JSON.
    pub terms: &'static [(&'static str, &'static str)],
    /// Prefix and IRI of that vocabulary.
    pub vocabulary: (&'static str, &'static str),
    /// Where a credential goes.
    pub credential: Credential,
    /// Whether descriptions list it once for every format.
    pub lists_formats: bool,
    /// Media type of messages that are in no format but in the protocol's own encoding.
    pub media: Option<&'static str>,
}

impl Way {
    /// The scheme of its URLs through a transport; `None` where it does not go through that one.
    pub fn scheme(&self, transport: &str, is_secured: bool) -> Option<&'static str> {
        let mut schemes = self.schemes.iter();
        let found = schemes.find(|(known, _)| *known == transport);
        found.map(|(_, schemes)| schemes[usize::from(is_secured)])
    }

    /// Whether this is done on it.
    pub fn allows(&self, operation: Operation) -> bool {
        self.operations.contains(&operation)
    }
}
