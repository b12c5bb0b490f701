//! `sos+http://`: the client's half of SOS 2.0.0, in KVP for what is read and in XML (POX) for what is inserted.
//!
//! A topic is a procedure and an observed property, by the names that the service gives them
//! ([`crate::identifiers::topic_of`]): a sensor's URI and a `type` where a message has both, else the topic's. What it
//! deliberately does not do: version 1.0.0, and insert into a sensor's registration what it does not observe yet.

mod capabilities;
mod publish;
mod read;

use crate::names::{GML32, OM20, SML20, SOS20, SWES20, XLINK, XS, XSI};
use capabilities::{Offering, offerings};
use publish::Publishes;
use read::Reads;
use std::io;
use std::sync::Arc;
use weir_codec::document::{Element, read_xml};
use weir_model::{Filter, percent};
use weir_service::{
    Answered, Ask, Client, Connect, LocalFuture, Polled, Publisher, Subscriber, Target, Web,
    misspoken, refused, since_time,
};

const XML: &str = "application/xml";
/// Prefixes of what is inserted.
const PREFIXES: &[(&str, &str)] = &[
    ("sos", SOS20),
    ("swes", SWES20),
    ("sml", SML20),
    ("om", OM20),
    ("gml", GML32),
    ("xlink", XLINK),
    ("xsi", XSI),
    ("xs", XS),
];

/// Clients of SOS, over a binding of the Web.
pub struct SosClient(pub Arc<dyn Connect>);

impl Client for SosClient {
    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>> {
        let server = Server::of(&self.0, &target);
        Box::pin(async move {
            let mut server = server?;
            let offerings = server.offerings().await?;
            Ok(Box::new(Publishes::new(server, target, &offerings)) as Box<dyn Publisher>)
        })
    }

    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<String>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>> {
        let server = Server::of(&self.0, &target);
        Box::pin(async move {
            let (server, since) = (server?, since_time(since.as_deref())?);
            let polled = Polled::open(Reads::new(server, filters), target.format, since).await?;
            Ok(Box::new(polled) as Box<dyn Subscriber>)
        })
    }
}

/// One server.
struct Server {
    web: Box<dyn Web>,
    path: String,
}

impl Server {
    fn of(binding: &Arc<dyn Connect>, target: &Target) -> io::Result<Self> {
        let url = target.url.strip_prefix("sos+").unwrap_or(&target.url);
        let web = binding.web(target, url)?;
        let path = match web.path() {
            "" => "/sos".to_owned(),
            path => path.to_owned(),
        };
        Ok(Self { web, path })
    }

    /// The answer to an operation in KVP, of this name in the answer.
    async fn get(&mut self, operation: &str, pairs: &[(&str, &str)]) -> io::Result<Answered> {
        let mut target = format!("{}?service=SOS&request={operation}", self.path);
        for (name, text) in pairs {
            target.push_str(&format!("&{name}={}", percent::encode(text, b":,/()")));
        }
        let answered = self.web.ask(Ask::get(&target, XML)).await?;
        checked(operation, answered)
    }

    /// The answer to an operation in XML.
    async fn post(&mut self, operation: &str, document: String) -> io::Result<Element> {
        let ask = Ask::post(&self.path, XML, document);
        let answered = checked(operation, self.web.ask(ask).await?)?;
        tree(operation, &answered)
    }

    async fn offerings(&mut self) -> io::Result<Vec<Offering>> {
        let pairs = [("AcceptVersions", "2.0.0"), ("Sections", "Contents")];
        let answered = self.get("GetCapabilities", &pairs).await?;
        let root = tree("GetCapabilities", &answered)?;
        if root.is(SOS20, "Capabilities") {
            Ok(offerings(&root))
        } else {
            Err(misspoken(format!(
                "{} answers GetCapabilities with `{}`, not with Capabilities of SOS 2.0.0",
                self.path, root.local
            )))
        }
    }
}

fn tree(operation: &str, answered: &Answered) -> io::Result<Element> {
    let read = read_xml(&answered.body);
    read.map_err(|fault| misspoken(format!("{operation}: the answer: {fault}")))
}

/// An exception is an error, whatever its status (OGC 06-121r9 section 8.6).
fn checked(operation: &str, answered: Answered) -> io::Result<Answered> {
    let is_report = || {
        let head = &answered.body[..answered.body.len().min(512)];
        head.windows(15).any(|part| part == b"ExceptionReport")
    };
    if answered.is_success() && !is_report() {
        return Ok(answered);
    }
    let status = match answered.status {
        200 => 400,
        status => status,
    };
    let Ok(report) = read_xml(&answered.body) else {
        return Err(answered.refused());
    };
    let Some(exception) = report.find("Exception") else {
        return Err(answered.refused());
    };
    let said = |name: &str| exception.attribute(name).unwrap_or_default().to_owned();
    let text = exception.child("ExceptionText").map(Element::text);
    let (code, locator) = (said("exceptionCode"), said("locator"));
    let sentence = text.unwrap_or_default();
    Err(refused(
        status,
        &format!("{operation}: {code} {locator}: {sentence}"),
    ))
}
