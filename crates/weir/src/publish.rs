//! `weir pub`.

use crate::arguments::Publish;
use crate::convert::{format, tell};
use crate::peer::{failed, on_a_thread, peer, plainly};
use bytes::Bytes;
use std::io::{self, BufRead, Read, stdin};
use weir_binding::Publisher;
use weir_codec::Format;
use weir_model::{BatchBuilder, Flaw, Limits};
use weir_program::Failure;

/// Publishes standard input: a message a line as they come, or all of it as one.
pub(crate) fn run(publish: Publish) -> Result<(), Failure> {
    let format = format(&publish.format)?;
    let (client, target) = peer(&publish.url, format, &publish.trust)?;
    on_a_thread(async {
        let opened = client.publisher(target).await;
        let mut publisher = opened.map_err(|error| failed(&publish.url, &error))?;
        let sent = match publish.whole || !format.line_by_line {
            true => send_whole(&mut *publisher, &publish.topic, format).await,
            false => send_lines(&mut *publisher, &publish.topic, format).await,
        };
        sent.map_err(|error| failed(&publish.url, &error))
    })
}

async fn send_whole(publisher: &mut dyn Publisher, topic: &str, format: &Format) -> io::Result<()> {
    let mut input = Vec::new();
    stdin().lock().read_to_end(&mut input)?;
    Seen::default().look(format, &input);
    publisher.publish(topic, input.into()).await
}

async fn send_lines(publisher: &mut dyn Publisher, topic: &str, format: &Format) -> io::Result<()> {
    let mut seen = Seen::default();
    for (index, line) in stdin().lock().lines().enumerate() {
        let line = line?;
        if !says_nothing(&line, format) {
            seen.look(format, line.as_bytes());
            let sent = publisher.publish(topic, Bytes::from(line)).await;
            sent.map_err(|error| of_line(index + 1, &error))?;
        }
    }
    Ok(())
}

/// What was said of messages that the gateway will not take as they stand.
#[derive(Default)]
struct Seen {
    flaws: Vec<Flaw>,
    builder: BatchBuilder,
}

/// Kinds of flaws that are told of all that is published.
const FLAWS_MAX: usize = 64;

impl Seen {
    /// Tells each flaw once: who publishes a thousand lines has it in each of them.
    fn look(&mut self, format: &Format, message: &[u8]) {
        self.builder.clear();
        // What cannot be read is refused, and told with the gateway's reason.
        let _refused = (format.decode)(message, &mut self.builder, &Limits::default());
        for flaw in self.builder.take_flaws() {
            if self.flaws.len() < FLAWS_MAX && !self.flaws.contains(&flaw) {
                tell(&flaw);
                self.flaws.push(flaw);
            }
        }
    }
}

/// Says whether a line is empty or a comment of its format: it stands among messages and is none.
fn says_nothing(line: &str, format: &Format) -> bool {
    let line = line.trim();
    if !line.starts_with('#') {
        return line.is_empty();
    }
    let mut out = BatchBuilder::new();
    let read = (format.decode)(line.as_bytes(), &mut out, &Limits::default());
    read.is_ok() && out.is_empty()
}

/// Names the line of the input that failed; those before it are published.
fn of_line(number: usize, error: &io::Error) -> io::Error {
    let said = plainly(error);
    io::Error::other(format!("line {number} of the input: {said}"))
}
