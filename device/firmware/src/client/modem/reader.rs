//! What a modem says: answers, a line each, and bytes of the network between them.

/// Bytes of a line that tell it from others; what is more is cut off.
const LINE_BYTES: usize = 24;
const NOTICE: &[u8] = b"+IPD,";

/// A line of the modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It has started.
    Ready,
    /// The command is done, or begins.
    Ok,
    /// It is not.
    Error,
    /// It takes the bytes that were announced.
    Prompt,
    /// They are sent.
    Sent,
    /// The other side has closed this link.
    Closed(usize),
}

/// What a byte completes, or is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Answer(Answer),
    /// It came by this link; whether it is the last of its piece.
    Byte {
        link: usize,
        is_last: bool,
    },
}

/// Reads byte by byte.
pub(super) struct Reader {
    line: [u8; LINE_BYTES],
    length: usize,
    /// Link and bytes of a piece that has begun and not ended.
    piece: Option<(usize, usize)>,
}

impl Reader {
    pub(super) const fn new() -> Self {
        Self {
            line: [0; LINE_BYTES],
            length: 0,
            piece: None,
        }
    }

    /// The link by which the next byte came; none where it is the modem's own.
    pub(super) fn link(&self) -> Option<usize> {
        self.piece.map(|(link, _)| link)
    }

    pub(super) fn push(&mut self, byte: u8) -> Option<Heard> {
        if let Some((link, left)) = self.piece {
            let is_last = left == 1;
            self.piece = (!is_last).then_some((link, left - 1));
            return Some(Heard::Byte { link, is_last });
        }
        match byte {
            b'>' if self.length == 0 => Some(Heard::Answer(Answer::Prompt)),
            b' ' if self.length == 0 => None,
            b'\n' => {
                let answer = answer(self.text());
                self.length = 0;
                answer.map(Heard::Answer)
            }
            b':' if self.text().starts_with(NOTICE) => {
                self.piece = piece(self.text());
                self.length = 0;
                None
            }
            _ => {
                self.keep(byte);
                None
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if let Some(place) = self.line.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn text(&self) -> &[u8] {
        self.line.get(..self.length).unwrap_or_default()
    }
}

fn answer(line: &[u8]) -> Option<Answer> {
    match line.trim_ascii() {
        b"ready" => Some(Answer::Ready),
        b"OK" => Some(Answer::Ok),
        b"ERROR" | b"FAIL" | b"SEND FAIL" => Some(Answer::Error),
        b"SEND OK" => Some(Answer::Sent),
        [digit @ b'0'..=b'9', rest @ ..] if rest == b",CLOSED" => {
            Some(Answer::Closed(usize::from(digit - b'0')))
        }
        _ => None,
    }
}

/// Link and length of `+IPD,LINK,LENGTH`.
fn piece(line: &[u8]) -> Option<(usize, usize)> {
    let text = core::str::from_utf8(line.get(NOTICE.len()..)?).ok()?;
    let (link, length) = text.split_once(',')?;
    let piece = (link.parse().ok()?, length.parse().ok()?);
    (piece.1 > 0).then_some(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_bytes_of_the_network() {
        let mut reader = Reader::new();
        let said = concat!(
            "\r\nready\r\nATE0\r\r\n\r\nOK\r\n+IPD,1,4:OK\r\n",
            "\r\nOK\r\n> \r\nRecv 2 bytes\r\n\r\nSEND OK\r\n1,CLOSED\r\n"
        );
        let heard: Vec<_> = said.bytes().filter_map(|byte| reader.push(byte)).collect();
        let byte = |is_last| Heard::Byte { link: 1, is_last };
        let pieces = [byte(false), byte(false), byte(false), byte(true)];
        let [before, after] = [
            vec![Answer::Ready, Answer::Ok],
            vec![Answer::Ok, Answer::Prompt, Answer::Sent, Answer::Closed(1)],
        ]
        .map(|it| it.into_iter().map(Heard::Answer));
        let expected: Vec<_> = before.chain(pieces).chain(after).collect();
        assert_eq!(heard, expected);
    }

    #[test]
    fn a_line_that_is_no_answer_is_passed_over() {
        let mut reader = Reader::new();
        let said = b"+IPD,1,x:\r\nWIFI CONNECTED and got an address of its own\r\n+IPD,1,0:\r\n";
        assert!(said.iter().all(|&byte| reader.push(byte).is_none()));
        assert_eq!(reader.link(), None);
    }
}
