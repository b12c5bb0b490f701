//! The array of a GWT-RPC answer: its tokens, taken from the end, and its table of strings.

use super::DIGITS;
use crate::error::DecodeError;
use crate::inline::Inline;
use crate::lexical;
use crate::referred::Referred;
use crate::unescaped::Unescaped;
use weir_model::Limits;

/// Between two tokens: arrays that are too long for some browsers are joined (GWT,
/// ServerSerializationStreamWriter.LengthConstrainedArray).
const SEPARATORS: [&str; 3] = ["].concat([", "],[", ","];

/// The tokens not yet taken.
pub(super) struct Tokens<'a> {
    text: &'a str,
    /// Where the array begins, behind its bracket, and where the tokens not yet taken end.
    start: usize,
    end: usize,
    /// Where each string stands, behind its quote.
    strings: Inline<u32, 256>,
    /// Objects met.
    objects: u32,
    buffer: Unescaped,
    /// Text taken from the table.
    referred: Referred,
    limits: &'a Limits,
}

impl<'a> Tokens<'a> {
    /// Finds the parts of the array whose bracket stands at `start`.
    pub(super) fn new(
        text: &'a str,
        start: usize,
        limits: &'a Limits,
    ) -> Result<Self, DecodeError> {
        let mut scan = Scan { text, at: start };
        scan.expect("[", "an array")?;
        scan.pass_tokens();
        let mut tokens = Self {
            text,
            start: start + 1,
            end: scan.at,
            strings: Inline::default(),
            objects: 0,
            buffer: Unescaped::default(),
            referred: Referred::new(limits),
            limits,
        };
        scan.table(&mut tokens.strings)?;
        scan.header()?;
        Ok(tokens)
    }

    /// The next token, and where it stands.
    fn next(&mut self) -> Result<(&'a str, usize), DecodeError> {
        let rest = &self.text[self.start..self.end];
        let before = SEPARATORS
            .iter()
            .find_map(|separator| rest.strip_suffix(separator));
        let Some(before) = before else {
            return Err(DecodeError::truncated(self.start));
        };
        let at = before.rfind([',', '[']).map_or(0, |mark| mark + 1);
        self.end = self.start + at;
        Ok((&before[at..], self.end))
    }

    pub(super) fn finish(&self) -> Result<(), DecodeError> {
        if self.start == self.end {
            Ok(())
        } else {
            Err(DecodeError::expected(self.start, "the end of the list"))
        }
    }

    pub(super) fn int(&mut self) -> Result<(i64, usize), DecodeError> {
        let (token, at) = self.next()?;
        let number = token.parse::<i64>();
        let number = number.map_err(|_| DecodeError::expected(at, "an integer"))?;
        Ok((number, at))
    }

    pub(super) fn double(&mut self) -> Result<f64, DecodeError> {
        let (token, at) = self.next()?;
        lexical::number(token).ok_or_else(|| DecodeError::expected(at, "a number"))
    }

    /// A long in base 64; version 8 has double quotes.
    pub(super) fn long(&mut self) -> Result<i64, DecodeError> {
        let (token, at) = self.next()?;
        let wrong = DecodeError::expected(at, "a long: base 64 in quotes");
        let quoted = |quote| token.strip_prefix(quote)?.strip_suffix(quote);
        let digits = quoted('\'')
            .or_else(|| quoted('"'))
            .filter(|digits| digits.len() <= 11);
        let digits = digits.ok_or_else(|| wrong.clone())?;
        let mut bits = 0_u64;
        for byte in digits.bytes() {
            let digit = DIGITS.iter().position(|&digit| digit == byte);
            bits = bits << 6 | digit.ok_or_else(|| wrong.clone())? as u64;
        }
        Ok(bits as i64)
    }

    /// The text of a string, if there is one.
    pub(super) fn string(&mut self) -> Result<Option<&str>, DecodeError> {
        let (number, at) = self.int()?;
        match number {
            0 => Ok(None),
            number => self.string_of(number, at).map(Some),
        }
    }

    fn string_of(&mut self, number: i64, at: usize) -> Result<&str, DecodeError> {
        let index = usize::try_from(number - 1).ok();
        let found = index.and_then(|index| self.strings.get(index));
        let what = "the number of a string in the table";
        let start = found.ok_or_else(|| DecodeError::expected(at, what))?;
        let mut scan = Scan {
            text: self.text,
            at: start as usize,
        };
        let text = scan.string(&mut self.buffer, self.limits.text_bytes)?;
        self.referred.take(text.len(), at)?;
        Ok(text)
    }

    /// Begins an object of this class.
    pub(super) fn object(&mut self, signature: &'static str) -> Result<Reference, DecodeError> {
        let (number, at) = self.int()?;
        match number {
            0 => Ok(Reference::Null(at)),
            ..0 => Ok(Reference::Old(number.unsigned_abs(), at)),
            _ => {
                let class = self.string_of(number, at)?;
                check_class(class, signature, at)?;
                self.objects += 1;
                Ok(Reference::New(self.objects, at))
            }
        }
    }

    /// The first strings of the table, which name an exception.
    pub(super) fn exception(&mut self) -> DecodeError {
        let mut sentence = alloc::string::String::from("the answer is an exception");
        for number in 1..=2 {
            if let Ok(text) = self.string_of(number, 0) {
                sentence.push_str(": ");
                sentence.extend(text.chars().take(200));
            }
        }
        DecodeError::meaning(2, sentence)
    }
}

/// What stands for an object.
#[derive(Clone, Copy)]
pub(super) enum Reference {
    /// None.
    Null(usize),
    /// One met before, with its number.
    Old(u64, usize),
    /// One that follows, with its number.
    New(u32, usize),
}

/// Signatures of Java's own classes differ between versions of GWT, but not what is sent.
fn check_class(class: &str, signature: &'static str, at: usize) -> Result<(), DecodeError> {
    let name = |signature: &str| -> usize { signature.find('/').unwrap_or(signature.len()) };
    let own = &signature[..name(signature)];
    if class == signature || (own.starts_with("java.") && &class[..name(class)] == own) {
        return Ok(());
    }
    let sentence = if &class[..name(class)] == own {
        alloc::format!("expected the fields of {signature}")
    } else {
        alloc::format!("expected the class {own}")
    };
    Err(DecodeError::meaning(at, sentence))
}

/// A place in the array, going forwards.
struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn passes(&mut self, mark: &str) -> bool {
        let passes = self.rest().starts_with(mark);
        self.at += if passes { mark.len() } else { 0 };
        passes
    }

    fn expect(&mut self, mark: &str, what: &'static str) -> Result<(), DecodeError> {
        if self.passes(mark) {
            return Ok(());
        }
        if self.rest().is_empty() {
            Err(DecodeError::truncated(self.text.len()))
        } else {
            Err(DecodeError::expected(self.at, what))
        }
    }

    fn separator(&mut self) -> Result<(), DecodeError> {
        if SEPARATORS.iter().any(|separator| self.passes(separator)) {
            Ok(())
        } else {
            self.expect(",", "a comma")
        }
    }

    /// Passes all that is no array, and the marks between arrays that are joined.
    fn pass_tokens(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.find(['[', ']']).unwrap_or(rest.len());
            let joined = self.passes(SEPARATORS[0]) || self.passes(SEPARATORS[1]);
            if !joined {
                return;
            }
        }
    }

    fn table(&mut self, strings: &mut Inline<u32, 256>) -> Result<(), DecodeError> {
        self.expect("[", "the table of strings")?;
        if self.passes("]") {
            return Ok(());
        }
        loop {
            self.expect("\"", "a string")?;
            strings.push(self.at as u32);
            self.pass_string()?;
            if SEPARATORS.iter().any(|separator| self.passes(separator)) {
                continue;
            }
            self.expect("]", "a comma or the end of the table")?;
            // The end of arrays that were joined.
            self.passes(")");
            return Ok(());
        }
    }

    /// Passes a string behind its quote, and its parts.
    fn pass_string(&mut self) -> Result<(), DecodeError> {
        loop {
            let rest = self.rest();
            let Some(mark) = rest.find(['"', '\\']) else {
                return Err(DecodeError::truncated(self.text.len()));
            };
            self.at += mark + 1;
            if rest.as_bytes()[mark] == b'\\' {
                let escaped = self.rest().chars().next();
                self.at += escaped.map_or(0, char::len_utf8);
            } else if !self.passes("+\"") {
                return Ok(());
            }
        }
    }

    fn header(&mut self) -> Result<(), DecodeError> {
        self.separator()?;
        self.expect("0", "no flags: class names as they are")?;
        self.separator()?;
        if !self.passes("8") {
            self.expect("7", "version 7 or 8")?;
        }
        self.expect("]", "the end of the array")?;
        self.passes(")");
        if self.rest().trim_ascii().is_empty() {
            Ok(())
        } else {
            Err(DecodeError::expected(self.at, "the end of the message"))
        }
    }

    /// Reads a string behind its quote.
    fn string<'b>(
        &mut self,
        buffer: &'b mut Unescaped,
        limit: usize,
    ) -> Result<&'b str, DecodeError>
    where
        'a: 'b,
    {
        let start = self.at;
        let over = DecodeError::over(start, "bytes of a string", limit);
        let end = self.rest().find(['"', '\\']).unwrap_or(0);
        if self.rest()[end..].starts_with('"') && !self.rest()[end..].starts_with("\"+") {
            return if end > limit {
                Err(over)
            } else {
                Ok(&self.rest()[..end])
            };
        }
        buffer.clear();
        loop {
            let rest = self.rest();
            let plain = rest.find(['"', '\\']).unwrap_or(rest.len());
            buffer.push(&rest.as_bytes()[..plain]);
            self.at += plain;
            if buffer.as_bytes().len() > limit {
                return Err(over);
            }
            if self.passes("\\") {
                self.escape(buffer)?;
            } else if !self.passes("\"+\"") {
                return Ok(buffer.as_str());
            }
        }
    }

    /// Reads an escape of JavaScript behind its backslash.
    fn escape(&mut self, buffer: &mut Unescaped) -> Result<(), DecodeError> {
        let Some(mark) = self.rest().chars().next() else {
            return Err(DecodeError::truncated(self.text.len()));
        };
        self.at += mark.len_utf8();
        let character = match mark {
            '0' => '\0',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => char::from(self.hexadecimal(2)? as u8),
            'u' => self.unicode()?,
            other => other,
        };
        buffer.push_char(character);
        Ok(())
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<u32, DecodeError> {
        let at = self.at;
        let what = "hexadecimal digits";
        let text = self.rest().get(..digits);
        let text = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let number = text.and_then(|text| u32::from_str_radix(text, 16).ok());
        self.at += digits;
        number.ok_or_else(|| DecodeError::expected(at, what))
    }

    fn unicode(&mut self) -> Result<char, DecodeError> {
        let at = self.at;
        let mut code = self.hexadecimal(4)?;
        if (0xD800..0xDC00).contains(&code) && self.passes("\\u") {
            let low = self.hexadecimal(4)?.wrapping_sub(0xDC00);
            code = if low < 0x400 {
                0x1_0000 + ((code - 0xD800) << 10) + low
            } else {
                0xD800
            };
        }
        let what = "both halves of a surrogate pair";
        char::from_u32(code).ok_or_else(|| DecodeError::expected(at, what))
    }
}
