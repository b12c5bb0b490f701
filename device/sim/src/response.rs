//! Responses as a client reads them: values out of answers, chunks and events.

/// What is heard and not read yet, and where in a response it is.
#[derive(Default)]
pub(crate) struct Responses {
    pub(crate) heard: Vec<u8>,
    body: Body,
    /// Number of the notification in the last answer, by its entity tag.
    pub(crate) number: Option<u32>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Body {
    /// Before or in a head.
    #[default]
    Head,
    Length(usize),
    Chunks,
    Events,
}

/// What a response says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A value.
    Value(String),
    /// An answer without one.
    Nothing,
}

impl Responses {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next value or answer that is here whole.
    pub(crate) fn next(&mut self) -> Option<Heard> {
        loop {
            return match self.body {
                Body::Head => {
                    let head = self.until(b"\r\n\r\n")?;
                    self.number = number(&head);
                    if head.starts_with("HTTP/1.1 204") {
                        return Some(Heard::Nothing);
                    }
                    self.body = body(&head);
                    continue;
                }
                Body::Length(length) => {
                    let value = self.take(length)?;
                    self.body = Body::Head;
                    Some(Heard::Value(value))
                }
                Body::Chunks => self.chunk().map(Heard::Value),
                Body::Events => {
                    let event = self.until(b"\n\n")?;
                    let (_, data) = event.split_once("data: ")?;
                    Some(Heard::Value(data.into()))
                }
            };
        }
    }

    /// Takes so many bytes.
    fn take(&mut self, length: usize) -> Option<String> {
        let text = self.heard.get(..length)?;
        let text = String::from_utf8_lossy(text).into_owned();
        self.heard.drain(..length);
        Some(text)
    }

    /// Takes all before a mark, and the mark.
    fn until(&mut self, mark: &[u8]) -> Option<String> {
        let at = self.heard.windows(mark.len()).position(|at| at == mark)?;
        let text = self.take(at)?;
        self.heard.drain(..mark.len());
        Some(text)
    }

    fn chunk(&mut self) -> Option<String> {
        let line = self.heard.windows(2).position(|at| at == b"\r\n")?;
        let length = std::str::from_utf8(self.heard.get(..line)?).ok()?;
        let length = usize::from_str_radix(length, 16).ok()?;
        let whole = line + 2 + length + 2;
        let chunk = self.heard.get(line + 2..whole - 2)?;
        self.heard.get(whole - 1)?;
        let value = String::from_utf8_lossy(chunk).into_owned();
        self.heard.drain(..whole);
        Some(value)
    }
}

/// The number that an entity tag is.
fn number(head: &str) -> Option<u32> {
    let mut lines = head.split("\r\n");
    let tag = lines.find_map(|line| line.strip_prefix("ETag: "))?;
    tag.trim_matches('"').parse().ok()
}

/// How the body behind a head is delimited.
fn body(head: &str) -> Body {
    let mut lines = head.split("\r\n");
    let length = lines.find_map(|line| line.strip_prefix("Content-Length: "));
    match length.and_then(|length| length.parse().ok()) {
        Some(length) => Body::Length(length),
        None if head.contains("chunked") => Body::Chunks,
        None => Body::Events,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_however_the_text_is_cut() {
        let text = "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n21\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n215\r\n1\r\n7\r\n";
        let mut responses = Responses::default();
        let mut values = Vec::new();
        for byte in text.bytes() {
            responses.heard.push(byte);
            values.extend(std::iter::from_fn(|| responses.next()));
        }
        let value = |text: &str| Heard::Value(text.into());
        assert_eq!(
            values,
            [Heard::Nothing, value("21"), value("215"), value("7")]
        );
    }

    #[test]
    fn events_are_read() {
        let mut responses = Responses::default();
        let text = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nid: 1\ndata: 7\n\nid: 2\nda";
        responses.heard.extend_from_slice(text.as_bytes());
        assert_eq!(responses.next(), Some(Heard::Value("7".into())));
        assert_eq!(responses.next(), None);
    }
}
