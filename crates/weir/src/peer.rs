//! Whom the client's commands talk to, and what is said where that fails.

use crate::arguments::Trust;
use bytes::Bytes;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use weir_binding::{Client, Target};
use weir_codec::Format;
use weir_model::url::without_password;
use weir_program::Failure;
use weir_registry::client_schemes;

/// The client of a URL and whom it shall talk to.
pub(crate) fn peer(
    url: &str,
    format: &'static Format,
    trust: &Trust,
) -> Result<(Arc<dyn Client>, Target), Failure> {
    let client = weir_registry::client_of_url(url).ok_or_else(|| {
        Failure::usage(format!(
            "no protocol for `{url}`; there are {}",
            client_schemes().join(", ")
        ))
    })?;
    let token = trust.token.as_deref();
    let roots = trust.cacert.as_deref().map(certificates).transpose()?;
    let target = Target {
        url: url.into(),
        format,
        credential: token.map(|token| format!("Bearer {token}")),
        roots,
        keys: trust.keys.clone(),
    };
    Ok((client, target))
}

fn certificates(file: &Path) -> Result<Bytes, Failure> {
    let text = std::fs::read(file)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    Ok(text.into())
}

/// A sentence that names the peer.
pub(crate) fn failed(url: &str, error: &io::Error) -> Failure {
    Failure::no(format!("{}: {}", without_password(url), plainly(error)))
}

/// What an error is to someone who knows no system calls; a peer's own sentence is left as it is.
pub(crate) fn plainly(error: &io::Error) -> String {
    // What the resolver says has no kind of its own.
    if error.to_string().contains("lookup address") {
        return "no host of that name is known".into();
    }
    let said = match error.kind() {
        ErrorKind::ConnectionRefused => "nobody listens there: is the server running?",
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => "the connection was closed",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            "there is no way to that host"
        }
        ErrorKind::TimedOut => "no answer",
        _ => return error.to_string(),
    };
    said.into()
}

/// What goes wrong and is got over is said on stderr; `RUST_LOG` says how much.
fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let logs = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_env_filter(filter);
    // Where somebody logs already, that will do.
    drop(logs.with_target(false).without_time().try_init());
}

/// Runs a future of the client halves, which stay on their thread.
pub(crate) fn on_a_thread<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    start_logging();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    tokio::task::LocalSet::new().block_on(&runtime.map_err(Failure::no)?, work)
}
