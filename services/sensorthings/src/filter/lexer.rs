//! Words of an expression, with the byte where each begins.

use crate::fault::{Fault, Result};
use weir_model::Time;

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name or a path (`Datastream/unitOfMeasurement/name`), an operator in letters, a function.
    Name(String),
    /// A text in quotes.
    Text(String),
    Number(f64),
    /// Digits.
    Whole(u64),
    /// An instant, with whether only a date was said.
    Time(Time),
    /// `duration'...'`, and a time of day, which is how long it is since midnight.
    Duration(i64),
    /// `geography'...'` and `geometry'...'`.
    Geometry(String),
    Open,
    Close,
    Comma,
    End,
}

/// Splits an expression into words.
pub(crate) fn lex(text: &str) -> Result<Vec<(Token, usize)>> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let is_end = token.0 == Token::End;
        tokens.push(token);
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'.' | b'/' | b'$') || byte >= 0x80
}

impl Lexer<'_> {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn next(&mut self) -> Result<(Token, usize)> {
        let blanks = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace());
        self.at += blanks.count();
        let begin = self.at;
        let Some(&first) = self.rest().first() else {
            return Ok((Token::End, begin));
        };
        let single = match first {
            b'(' => Some(Token::Open),
            b')' => Some(Token::Close),
            b',' => Some(Token::Comma),
            _ => None,
        };
        let token = match (single, first) {
            (Some(token), _) => {
                self.at += 1;
                token
            }
            (None, b'\'') => Token::Text(self.quoted()?),
            (None, b'0'..=b'9' | b'-' | b'+') => self.number_or_time()?,
            (None, byte) if is_of_name(byte) => self.name()?,
            _ => return Err(Fault::bad_at("a sign that no expression has", begin)),
        };
        Ok((token, begin))
    }

    /// A text in single quotes, of which a doubled one stands for itself.
    fn quoted(&mut self) -> Result<String> {
        let begin = self.at;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at + 1..];
            let Some(end) = rest.find('\'') else {
                return Err(Fault::bad_at("a text that is not ended", begin));
            };
            text.push_str(&rest[..end]);
            self.at += 1 + end;
            if self.rest().get(1) != Some(&b'\'') {
                self.at += 1;
                return Ok(text);
            }
            text.push('\'');
            self.at += 1;
        }
    }

    fn name(&mut self) -> Result<Token> {
        let begin = self.at;
        // A key within `properties` is the client's own, and there is no minus between operands.
        let mut is_below = false;
        let is_of_path = |byte: &&u8| {
            is_below |= **byte == b'/';
            is_of_name(**byte) || (is_below && **byte == b'-')
        };
        let length = self.rest().iter().take_while(is_of_path).count();
        let name = &self.text[begin..begin + length];
        self.at += length;
        if self.rest().first() == Some(&b'\'') {
            let inner = self.quoted()?;
            return match name {
                "geography" | "geometry" => Ok(Token::Geometry(inner)),
                "duration" => super::time::duration(&inner)
                    .map(Token::Duration)
                    .ok_or_else(|| Fault::bad_at("a duration such as P1DT2H", begin)),
                _ => Err(Fault::bad_at(format!("`{name}'...'` is no literal"), begin)),
            };
        }
        Ok(Token::Name(name.to_owned()))
    }

    /// Digits are a number, or a time where they go on as one.
    fn number_or_time(&mut self) -> Result<Token> {
        let begin = self.at;
        let of_literal = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-+.:".contains(byte);
        let length = self.rest().iter().take_while(of_literal).count();
        let word = &self.text[begin..begin + length];
        self.at += length;
        if let Ok(whole) = word.parse() {
            return Ok(Token::Whole(whole));
        }
        if let Ok(number) = word.parse::<f64>()
            && number.is_finite()
        {
            return Ok(Token::Number(number));
        }
        let of_day = || super::time::of_day(word).map(Token::Duration);
        super::time::instant(word)
            .map(Token::Time)
            .or_else(of_day)
            .ok_or_else(|| Fault::bad_at(format!("`{word}` is no number and no time"), begin))
    }
}
