//! What a board tells its modem: commands, a line each, and the bytes that one of them announces.

use crate::limits::COMMAND_BYTES_MAX;

/// Bytes that are sent at once.
const DATA_BYTES_MAX: usize = 2_048;

/// How a link speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Stream,
    Datagrams,
}

/// A command that is obeyed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// It only asks for an answer.
    Nothing,
    /// Whether commands are said again.
    Echo(bool),
    /// Opens a link to a port of the server.
    Start(usize, Kind, u16),
    /// Announces so many bytes for a link.
    Send(usize, usize),
    Close(usize),
}

impl Command {
    /// Reads a command; nothing where it is none of these.
    pub(super) fn read(text: &str) -> Option<Self> {
        match text {
            // One link alone is not offered.
            "AT" | "AT+CIPMUX=1" => return Some(Self::Nothing),
            "ATE0" => return Some(Self::Echo(false)),
            "ATE1" => return Some(Self::Echo(true)),
            _ => {}
        }
        let (name, arguments) = text.strip_prefix("AT+")?.split_once('=')?;
        let mut arguments = arguments.split(',');
        let link = arguments.next()?.parse().ok()?;
        let mut number = |place| arguments.nth(place)?.parse::<u16>().ok();
        match name {
            "CIPSEND" => {
                let bytes = usize::from(number(0)?);
                (1..=DATA_BYTES_MAX)
                    .contains(&bytes)
                    .then_some(Self::Send(link, bytes))
            }
            "CIPCLOSE" => Some(Self::Close(link)),
            "CIPSTART" => {
                let kind = match arguments.next()? {
                    "\"TCP\"" => Kind::Stream,
                    "\"UDP\"" => Kind::Datagrams,
                    _ => return None,
                };
                // The server's address stands before its port.
                let port = arguments.nth(1)?.parse().ok()?;
                Some(Self::Start(link, kind, port))
            }
            _ => None,
        }
    }

    /// The link that it is about.
    pub(super) fn link(&self) -> Option<usize> {
        match *self {
            Self::Nothing | Self::Echo(_) => None,
            Self::Start(link, ..) | Self::Send(link, _) | Self::Close(link) => Some(link),
        }
    }
}

/// What a byte completes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Command(String),
    /// What was announced for a link.
    Data(usize, Vec<u8>),
}

/// Reads byte by byte.
#[derive(Default)]
pub(super) struct Reader {
    text: Vec<u8>,
    /// A link and how many bytes for it come.
    announced: Option<(usize, usize)>,
}

impl Reader {
    /// So many bytes for a link come next.
    pub(super) fn expect(&mut self, link: usize, bytes: usize) {
        self.announced = Some((link, bytes));
    }

    pub(super) fn push(&mut self, byte: u8) -> Option<Said> {
        if let Some((link, bytes)) = self.announced {
            self.text.push(byte);
            if self.text.len() < bytes {
                return None;
            }
            self.announced = None;
            return Some(Said::Data(link, std::mem::take(&mut self.text)));
        }
        if byte != b'\n' {
            // What is longer is no command.
            self.text.truncate(COMMAND_BYTES_MAX);
            self.text.push(byte);
            return None;
        }
        let line = std::mem::take(&mut self.text);
        let text = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        (!text.is_empty()).then_some(Said::Command(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_others_are_none() {
        let read = |text| Command::read(text);
        assert_eq!(read("AT"), Some(Command::Nothing));
        assert_eq!(read("ATE0"), Some(Command::Echo(false)));
        let stream = Command::Start(1, Kind::Stream, 1_883);
        assert_eq!(
            read("AT+CIPSTART=1,\"TCP\",\"10.9.0.1\",1883"),
            Some(stream)
        );
        let orders = Command::Start(0, Kind::Datagrams, 4_002);
        let text = "AT+CIPSTART=0,\"UDP\",\"10.9.0.1\",4002,4003,0";
        assert_eq!(read(text), Some(orders));
        assert_eq!(read("AT+CIPSEND=1,100"), Some(Command::Send(1, 100)));
        assert_eq!(read("AT+CIPCLOSE=1"), Some(Command::Close(1)));
        for text in [
            "",
            "AT+CIPMUX=0",
            "AT+CIPSEND=1,0",
            "AT+CIPSEND=1,2049",
            "AT+CIPSEND=1",
            "AT+CIPSTART=1,\"SSL\",\"10.9.0.1\",443",
            "AT+CIPSTART=1,\"TCP\",\"10.9.0.1\",70000",
            "AT+CIPCLOSE=x",
            "AT+RST",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn announced_bytes_are_data_whatever_they_are() {
        let mut reader = Reader::default();
        let mut said = |text: &[u8]| {
            let said = text.iter().filter_map(|&byte| reader.push(byte)).last();
            if let Some(Said::Command(_)) = said {
                reader.expect(1, 4);
            }
            said
        };
        let command = Said::Command("AT+CIPSEND=1,4".into());
        assert_eq!(said(b"AT+CIPSEND=1,4\r\n"), Some(command));
        assert_eq!(said(b"a\r\nb"), Some(Said::Data(1, b"a\r\nb".to_vec())));
        assert_eq!(said(b"\r\n"), None);
    }

    #[test]
    fn a_line_without_end_takes_no_more_memory_than_a_command() {
        let mut reader = Reader::default();
        assert!((0..100_000).all(|_| reader.push(b'A').is_none()));
        assert!(reader.text.len() <= COMMAND_BYTES_MAX + 1);
        assert!(matches!(reader.push(b'\n'), Some(Said::Command(_))));
    }
}
