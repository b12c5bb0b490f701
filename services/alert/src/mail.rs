//! Alerts by e-mail: a text for people, one mail for each address.
//!
//! What it deliberately does not do: SMTP, which a crate does, or encryption that a server may leave out: a server
//! that is not this machine speaks TLS, from the first byte (`smtps:`) or by STARTTLS (`smtp:`), or gets nothing.

use crate::letter::Letter;
use crate::limits::{LINES_MAX, POST_TIME_MAX};
use crate::verdict::Verdict;
use mail_builder::MessageBuilder;
use mail_send::{Credentials, Error, SmtpClient, SmtpClientBuilder};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use weir_model::Observation;

/// A mail server, and as whom it is written to.
pub(crate) struct Server {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// TLS from the first byte.
    pub(crate) is_wrapped: bool,
    pub(crate) login: Option<(String, String)>,
    pub(crate) connector: TlsConnector,
}

/// Mail to somebody.
#[derive(Debug)]
pub(crate) struct Mail {
    pub(crate) server: Arc<Server>,
    pub(crate) from: String,
    pub(crate) to: String,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Server {
    /// Only within this machine nobody can read along.
    pub(crate) fn is_plain(&self) -> bool {
        let address: Option<IpAddr> = self.host.parse().ok();
        let is_here = self.host == "localhost" || address.is_some_and(|it| it.is_loopback());
        is_here && !self.is_wrapped
    }

    async fn send(&self, message: MessageBuilder<'_>) -> Result<(), Error> {
        let (host, port) = (self.host.as_str(), self.port);
        let connector = self.connector.clone();
        let mut builder = SmtpClientBuilder::new_with_tls_connector(host, port, connector)
            .implicit_tls(self.is_wrapped)
            .timeout(POST_TIME_MAX);
        if let Some((user, password)) = &self.login {
            builder = builder.credentials(Credentials::from((user.as_str(), password.as_str())));
        }
        if self.is_plain() {
            by(builder.connect_plain().await?, message).await
        } else {
            by(builder.connect().await?, message).await
        }
    }
}

impl Mail {
    /// Sends it once.
    pub(crate) async fn send(&self, letter: &Letter<'_>) -> Verdict {
        let sent = self.server.send(self.message(letter));
        match timeout(POST_TIME_MAX, sent).await {
            Ok(Ok(())) => Verdict::Taken,
            Ok(Err(Error::UnexpectedReply(reply))) => Verdict::of_smtp(reply.code, &reply.message),
            Ok(Err(error)) => Verdict::Later(error.to_string()),
            Err(_) => Verdict::Later(format!("no answer in {} s", POST_TIME_MAX.as_secs())),
        }
    }

    fn message(&self, letter: &Letter<'_>) -> MessageBuilder<'_> {
        let domain = self.from.rsplit('@').next().unwrap_or("localhost");
        MessageBuilder::new()
            .from(self.from.as_str())
            .to(self.to.as_str())
            .subject(subject(letter))
            // The same for a repetition.
            .message_id(format!("{}.{}@{domain}", letter.key, letter.alert))
            .date(letter.now.nanos() / 1_000_000_000)
            .text_body(text(letter))
    }
}

async fn by<T: AsyncRead + AsyncWrite + Unpin>(
    mut client: SmtpClient<T>,
    message: MessageBuilder<'_>,
) -> Result<(), Error> {
    client.send(message).await.map(drop)
}

fn subject(letter: &Letter<'_>) -> String {
    let first = if letter.batch.is_empty() {
        String::new()
    } else {
        line(&letter.batch.row(0))
    };
    match letter.batch.len() {
        0 | 1 => format!("{}: {first}", letter.alert),
        more => format!("{}: {first} and {} more", letter.alert, more - 1),
    }
}

fn line(observation: &Observation<'_>) -> String {
    let unit = observation
        .unit
        .map_or(String::new(), |unit| format!(" {unit}"));
    let told = format!("{} is {}{unit}", observation.topic, observation.value);
    told.chars()
        .filter(|character| !character.is_control())
        .collect()
}

fn text(letter: &Letter<'_>) -> String {
    let mut text = String::new();
    for observation in letter.batch.rows().take(LINES_MAX) {
        text.push_str(&line(&observation));
        if let Some(time) = observation.time {
            text.push_str(&format!(" at {time}"));
        }
        text.push('\n');
    }
    let more = letter.batch.len().saturating_sub(LINES_MAX);
    if more > 0 {
        text.push_str(&format!("and {more} more\n"));
    }
    text.push_str(&format!(
        "\nalert {}, message {}\n",
        letter.alert, letter.key
    ));
    text
}
