//! `weir pub`.

use crate::Failure;
use crate::arguments::{Publish, Trust};
use crate::convert::format;
use bytes::Bytes;
use std::io::{self, BufRead, Read, stdin};
use std::path::Path;
use std::sync::Arc;
use weir_binding::{Binding, Publisher, Target};
use weir_codec::Format;

/// Publishes standard input: a message a line, or all of it as one.
pub(crate) fn run(publish: Publish) -> Result<(), Failure> {
    let format = format(&publish.format)?;
    let (binding, target) = peer(&publish.url, format, &publish.trust)?;
    on_a_thread(async {
        let opened = binding.publisher(target).await;
        let mut publisher = opened.map_err(|error| failed(&publish.url, &error))?;
        let whole = publish.whole || !format.one_line;
        let sent = match whole {
            true => send_whole(&mut *publisher, &publish.topic).await,
            false => send_lines(&mut *publisher, &publish.topic).await,
        };
        sent.map_err(|error| failed(&publish.url, &error))
    })
}

async fn send_whole(publisher: &mut dyn Publisher, topic: &str) -> std::io::Result<()> {
    let mut input = Vec::new();
    stdin().lock().read_to_end(&mut input)?;
    publisher.publish(topic, input.into()).await
}

async fn send_lines(publisher: &mut dyn Publisher, topic: &str) -> std::io::Result<()> {
    for (index, line) in stdin().lock().lines().enumerate() {
        let line = line?;
        if !line.trim().is_empty() {
            let sent = publisher.publish(topic, Bytes::from(line)).await;
            sent.map_err(|error| of_line(index + 1, &error))?;
        }
    }
    Ok(())
}

/// Names the line of the input that failed; those before it are published.
fn of_line(number: usize, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("line {number} of the input: {error}"))
}

/// The binding of a URL and whom it shall talk to.
pub(crate) fn peer(
    url: &str,
    format: &'static Format,
    trust: &Trust,
) -> Result<(Arc<dyn Binding>, Target), Failure> {
    let binding = weir_registry::binding_of_url(url).ok_or_else(|| {
        Failure::usage(format!(
            "no protocol for `{url}`; there are {}",
            schemes().join(", ")
        ))
    })?;
    let token = trust.token.as_deref();
    let roots = trust.cacert.as_deref().map(certificates).transpose()?;
    let target = Target {
        url: url.into(),
        format,
        credential: token.map(|token| format!("Bearer {token}")),
        roots,
    };
    Ok((binding, target))
}

fn certificates(file: &Path) -> Result<Bytes, Failure> {
    let text = std::fs::read(file)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    Ok(text.into())
}

fn schemes() -> Vec<&'static str> {
    let made = weir_registry::BINDINGS
        .iter()
        .filter_map(|line| (line.configure)(weir_binding::Section::new(line.name)).ok());
    made.flat_map(|binding| binding.schemes())
        .copied()
        .collect()
}

/// A sentence that names the peer.
pub(crate) fn failed(url: &str, error: &std::io::Error) -> Failure {
    Failure::no(format!("{url}: {error}"))
}

/// Runs a future of the client halves, which stay on their thread.
pub(crate) fn on_a_thread<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    tokio::task::LocalSet::new().block_on(&runtime.map_err(Failure::no)?, work)
}
