//! From words to an expression. `or` binds least, then `and`, comparisons, `add sub`, `mul div mod`, `not`.

use super::lexer::{Token, lex};
use super::value::Value;
use crate::fault::{Fault, Result};
use crate::limits::{DEPTH_MAX, OPTION_BYTES_MAX, PATH_LEVELS_MAX, TERMS_MAX};
use std::borrow::Cow;
use std::sync::Arc;

/// An expression, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Literal(Value<'static>),
    /// Names of a path, the last of them a property.
    Path(Vec<String>),
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Call(Function, Vec<Expression>),
}

/// What two expressions are combined by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

impl Operator {
    /// Whether it says which of two comes first, or whether they are the same.
    pub(crate) fn compares(self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(
            self,
            Equal | NotEqual | Greater | GreaterOrEqual | Less | LessOrEqual
        )
    }
}

/// Operators with their names and how tightly they bind.
const OPERATORS: &[(&str, Operator, u8)] = &[
    ("or", Operator::Or, 1),
    ("and", Operator::And, 2),
    ("eq", Operator::Equal, 3),
    ("ne", Operator::NotEqual, 3),
    ("gt", Operator::Greater, 3),
    ("ge", Operator::GreaterOrEqual, 3),
    ("lt", Operator::Less, 3),
    ("le", Operator::LessOrEqual, 3),
    ("add", Operator::Add, 4),
    ("sub", Operator::Sub, 4),
    ("mul", Operator::Mul, 5),
    ("div", Operator::Div, 5),
    ("mod", Operator::Mod, 5),
];

macro_rules! functions {
    ($($name:ident $text:literal $least:literal $most:literal)*) => {
        /// A function (18-088 table 24).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Function { $($name),* }
        /// Every function with its name and how many arguments it takes.
        pub(crate) const FUNCTIONS: &[(&str, Function, usize, usize)] =
            &[$(($text, Function::$name, $least, $most)),*];
    };
}

functions! {
    SubstringOf "substringof" 2 2
    EndsWith "endswith" 2 2
    StartsWith "startswith" 2 2
    Length "length" 1 1
    IndexOf "indexof" 2 2
    Substring "substring" 2 3
    ToLower "tolower" 1 1
    ToUpper "toupper" 1 1
    Trim "trim" 1 1
    Concat "concat" 2 2
    Year "year" 1 1
    Month "month" 1 1
    Day "day" 1 1
    Hour "hour" 1 1
    Minute "minute" 1 1
    Second "second" 1 1
    FractionalSeconds "fractionalseconds" 1 1
    Date "date" 1 1
    TimeOfDay "time" 1 1
    TotalOffsetMinutes "totaloffsetminutes" 1 1
    Now "now" 0 0
    MinDateTime "mindatetime" 0 0
    MaxDateTime "maxdatetime" 0 0
    Round "round" 1 1
    Floor "floor" 1 1
    Ceiling "ceiling" 1 1
    GeoDistance "geo.distance" 2 2
    GeoLength "geo.length" 1 1
    GeoIntersects "geo.intersects" 2 2
    StEquals "st_equals" 2 2
    StDisjoint "st_disjoint" 2 2
    StTouches "st_touches" 2 2
    StWithin "st_within" 2 2
    StOverlaps "st_overlaps" 2 2
    StCrosses "st_crosses" 2 2
    StIntersects "st_intersects" 2 2
    StContains "st_contains" 2 2
    StRelate "st_relate" 3 3
}

/// Reads a whole expression.
pub(crate) fn parse(text: &str) -> Result<Expression> {
    let (expression, at) = parse_prefix(text)?;
    if at == text.len() {
        Ok(expression)
    } else {
        Err(Fault::bad_at("an operator was expected", at))
    }
}

/// Reads an expression as far as it goes; says where that is.
pub(crate) fn parse_prefix(text: &str) -> Result<(Expression, usize)> {
    if text.len() > OPTION_BYTES_MAX {
        return Err(Fault::over("bytes of an expression", OPTION_BYTES_MAX));
    }
    let mut parser = Parser {
        tokens: lex(text)?,
        next: 0,
        terms: 0,
    };
    let expression = parser.binary(0, 0)?;
    Ok((expression, parser.at()))
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    terms: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn at(&self) -> usize {
        self.tokens[self.next].1
    }

    fn take(&mut self) -> Token {
        let token = self.tokens[self.next].0.clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        let Token::Name(name) = self.peek() else {
            return None;
        };
        let known = OPERATORS.iter().find(|(known, ..)| known == name);
        known.map(|&(_, operator, binding)| (operator, binding))
    }

    /// Terms joined by operators that bind tighter than `least`.
    fn binary(&mut self, least: u8, depth: usize) -> Result<Expression> {
        if depth > DEPTH_MAX {
            return Err(Fault {
                at: Some(self.at()),
                ..Fault::over("depth of an expression", DEPTH_MAX)
            });
        }
        let mut left = self.unary(depth)?;
        while let Some((operator, binding)) = self.operator() {
            if binding <= least {
                break;
            }
            self.take();
            let right = self.binary(binding, depth + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize) -> Result<Expression> {
        self.terms += 1;
        if self.terms > TERMS_MAX {
            return Err(Fault::over("terms of an expression", TERMS_MAX));
        }
        if *self.peek() == Token::Name("not".into()) {
            self.take();
            let inner = self.binary(5, depth + 1)?;
            return Ok(Expression::Not(Box::new(inner)));
        }
        self.primary(depth)
    }

    fn primary(&mut self, depth: usize) -> Result<Expression> {
        let at = self.at();
        let literal = |value| Ok(Expression::Literal(value));
        match self.take() {
            Token::Open => {
                let inner = self.binary(0, depth + 1)?;
                self.expect(Token::Close, "a closing bracket was expected")?;
                Ok(inner)
            }
            Token::Text(text) => literal(Value::Text(Cow::Owned(text))),
            Token::Number(number) => literal(Value::Number(number)),
            Token::Whole(whole) => literal(Value::of_whole(whole)),
            Token::Time(time) => literal(Value::Time(time)),
            Token::Duration(nanos) => literal(Value::Duration(nanos)),
            Token::Geometry(text) => match super::geo::parse(&text) {
                Some(geometry) => literal(Value::Geometry(Arc::new(geometry))),
                None => Err(Fault::bad_at("a geometry in WKT was expected", at)),
            },
            Token::Name(name) => self.named(name, at, depth),
            _ => Err(Fault::bad_at("a value was expected", at)),
        }
    }

    fn named(&mut self, name: String, at: usize, depth: usize) -> Result<Expression> {
        let literal = |value| Ok(Expression::Literal(value));
        match &*name {
            "true" => return literal(Value::Bool(true)),
            "false" => return literal(Value::Bool(false)),
            "null" => return literal(Value::Null),
            _ => {}
        }
        if *self.peek() == Token::Open {
            return self.call(&name, at, depth);
        }
        let names: Vec<String> = name.split('/').map(str::to_owned).collect();
        if names.len() > PATH_LEVELS_MAX {
            return Err(Fault {
                at: Some(at),
                ..Fault::over("levels of a path", PATH_LEVELS_MAX)
            });
        }
        if names.iter().any(String::is_empty) {
            Err(Fault::bad_at("a path with an empty level", at))
        } else {
            Ok(Expression::Path(names))
        }
    }

    fn call(&mut self, name: &str, at: usize, depth: usize) -> Result<Expression> {
        let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let Some(&(_, function, least, most)) = known else {
            return Err(Fault::bad_at(format!("there is no function `{name}`"), at));
        };
        self.take();
        let mut arguments = Vec::new();
        while *self.peek() != Token::Close {
            if !arguments.is_empty() {
                self.expect(Token::Comma, "a comma was expected")?;
            }
            arguments.push(self.binary(0, depth + 1)?);
        }
        self.take();
        if (least..=most).contains(&arguments.len()) {
            Ok(Expression::Call(function, arguments))
        } else {
            let found = arguments.len();
            let problem = format!("`{name}` takes {least} to {most} arguments, not {found}");
            Err(Fault::bad_at(problem, at))
        }
    }

    fn expect(&mut self, token: Token, problem: &str) -> Result<()> {
        let at = self.at();
        if self.take() == token {
            Ok(())
        } else {
            Err(Fault::bad_at(problem, at))
        }
    }
}
