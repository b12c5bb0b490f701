//! The schema of a stream: which columns say what, and how many buffers the others take.

use super::columns::Column;
use super::flat_read::Table;
use super::names::{
    PRECISION_DOUBLE, PRECISION_SINGLE, TYPE_BINARY, TYPE_BINARY_VIEW, TYPE_BOOL,
    TYPE_FIXED_SIZE_LIST, TYPE_FLOAT, TYPE_INT, TYPE_LARGE_BINARY, TYPE_LARGE_LIST,
    TYPE_LARGE_UTF8, TYPE_LIST, TYPE_MAP, TYPE_NULL, TYPE_RUN_END, TYPE_STRUCT, TYPE_TIMESTAMP,
    TYPE_UNION, TYPE_UTF8,
};
use crate::error::DecodeError;
use crate::limits::ARROW_COLUMNS_MAX;
use crate::rows::{MemberSet, Rows, check_again};

/// Columns within columns.
const NESTED_MAX: usize = 16;

/// What the items of a column are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but nulls, and no buffer.
    #[default]
    Null,
    /// Bytes of an integer, and whether it has a sign.
    Int(u8, bool),
    Single,
    Double,
    Bool,
    /// Text; whether offsets have 64 bits.
    Text(bool),
    /// Nanoseconds that one unit has.
    Instant(i64),
    /// What is passed over.
    Other,
}

/// A column of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Field {
    /// What it says of an observation, if anything.
    pub(super) column: Option<Column>,
    /// What its items are, or the items of its dictionary.
    pub(super) kind: Kind,
    /// The number of its dictionary, and what indices into it are.
    pub(super) dictionary: Option<(i64, Kind)>,
    /// How many nodes and buffers it takes, with all that is in it.
    pub(super) nodes: usize,
    pub(super) buffers: usize,
}

/// The columns of a stream.
pub(super) struct Schema {
    fields: [Field; ARROW_COLUMNS_MAX],
    len: usize,
}

impl Schema {
    pub(super) fn read(
        schema: &Table<'_>,
        at: usize,
        rows: &mut Rows<'_>,
    ) -> Result<Self, DecodeError> {
        if schema.short(0)? != 0 {
            return Err(DecodeError::expected(schema.at, "little-endian columns"));
        }
        let mut fields = [Field::default(); ARROW_COLUMNS_MAX];
        let Some(vector) = schema.vector(1, 4)? else {
            return Err(no_result(at));
        };
        if vector.len > ARROW_COLUMNS_MAX {
            return Err(DecodeError::over(
                vector.first,
                "columns",
                ARROW_COLUMNS_MAX,
            ));
        }
        let mut met = MemberSet::default();
        for (index, field) in fields[..vector.len].iter_mut().enumerate() {
            let said = vector.table(index)?;
            *field = read_field(&said)?;
            let name = said.string(0)?;
            match field.column {
                Some(column) if met.is_again(column as u32) => check_again(name, at, rows)?,
                // pandas has names of its own for an index that has none.
                None if !name.starts_with("__index_level_") => rows.pass_over(name),
                _ => {}
            }
        }
        let schema = Self {
            fields,
            len: vector.len,
        };
        let mut columns = schema.fields().iter().filter_map(|field| field.column);
        if columns.any(Column::is_result) {
            Ok(schema)
        } else {
            Err(no_result(at))
        }
    }

    pub(super) fn fields(&self) -> &[Field] {
        &self.fields[..self.len]
    }
}

fn no_result(at: usize) -> DecodeError {
    DecodeError::expected(at, "a column `value`, `text`, `truth` or `json`")
}

fn read_field(field: &Table<'_>) -> Result<Field, DecodeError> {
    let kind = kind(field)?;
    let column = Column::of(field.string(0)?);
    let dictionary = match field.table(4)? {
        Some(encoding) => Some((encoding.long(0)?, index_kind(&encoding)?)),
        None => None,
    };
    let (nodes, buffers) = match dictionary {
        Some(_) => (1, 2),
        None => layout(field, NESTED_MAX)?,
    };
    if let Some(column) = column {
        check(column, kind, dictionary.is_some(), field)?;
    }
    Ok(Field {
        column,
        kind,
        dictionary,
        nodes,
        buffers,
    })
}

fn index_kind(encoding: &Table<'_>) -> Result<Kind, DecodeError> {
    match encoding.table(1)? {
        Some(index) => int(&index),
        None => Ok(Kind::Int(4, true)),
    }
}

fn int(int: &Table<'_>) -> Result<Kind, DecodeError> {
    match int.int(0)? {
        bits @ (8 | 16 | 32 | 64) => Ok(Kind::Int((bits / 8) as u8, int.byte(1)? != 0)),
        _ => Err(DecodeError::expected(
            int.at,
            "integers of 8, 16, 32 or 64 bits",
        )),
    }
}

fn kind(field: &Table<'_>) -> Result<Kind, DecodeError> {
    let number = field.byte(2)?;
    let described = || field.need(3, "a type of the column");
    Ok(match number {
        TYPE_NULL => Kind::Null,
        TYPE_BOOL => Kind::Bool,
        TYPE_UTF8 => Kind::Text(false),
        TYPE_LARGE_UTF8 => Kind::Text(true),
        TYPE_INT => int(&described()?)?,
        TYPE_FLOAT => match described()?.short(0)? {
            PRECISION_SINGLE => Kind::Single,
            PRECISION_DOUBLE => Kind::Double,
            _ => Kind::Other,
        },
        TYPE_TIMESTAMP => match described()?.short(0)? {
            0 => Kind::Instant(1_000_000_000),
            1 => Kind::Instant(1_000_000),
            2 => Kind::Instant(1000),
            3 => Kind::Instant(1),
            _ => return Err(DecodeError::expected(field.at, "a unit of time")),
        },
        _ => Kind::Other,
    })
}

/// Refuses a column of a name that is known and of a type that does not fit it.
fn check(
    column: Column,
    kind: Kind,
    in_dictionary: bool,
    field: &Table<'_>,
) -> Result<(), DecodeError> {
    let text = matches!(kind, Kind::Text(_));
    let number = matches!(kind, Kind::Int(..) | Kind::Single | Kind::Double);
    let (fits, what) = match column {
        Column::Value => (
            text || number || kind == Kind::Bool,
            "numbers, booleans or text in `value`",
        ),
        Column::Truth => (kind == Kind::Bool, "booleans in `truth`"),
        Column::Lat | Column::Lon => (number, "numbers in `lat` and `lon`"),
        Column::Time | Column::End | Column::ResultTime | Column::ValidFrom | Column::ValidTo => (
            matches!(kind, Kind::Instant(_)),
            "timestamps in a column of times",
        ),
        _ => (text, "text in a column of names or text"),
    };
    if kind == Kind::Null || (fits && (text || !in_dictionary)) {
        Ok(())
    } else {
        Err(DecodeError::expected(field.at, what))
    }
}

/// Nodes and buffers of a column and of those in it (Arrow columnar format, "Buffer Listing for Each
/// Layout").
fn layout(field: &Table<'_>, nested: usize) -> Result<(usize, usize), DecodeError> {
    let own = match field.byte(2)? {
        TYPE_NULL | TYPE_RUN_END => 0,
        TYPE_STRUCT | TYPE_FIXED_SIZE_LIST => 1,
        TYPE_BINARY | TYPE_UTF8 | TYPE_LARGE_BINARY | TYPE_LARGE_UTF8 => 3,
        // A dense union has offsets beside its types.
        TYPE_UNION => match field.need(3, "a type of the column")?.short(0)? {
            1 => 2,
            _ => 1,
        },
        TYPE_LIST | TYPE_MAP | TYPE_LARGE_LIST => 2,
        0 | TYPE_BINARY_VIEW.. => {
            return Err(DecodeError::expected(
                field.at,
                "a column of a type without views",
            ));
        }
        _ => 2,
    };
    let mut sum = (1, own);
    let Some(children) = field.vector(5, 4)? else {
        return Ok(sum);
    };
    for index in 0..children.len {
        let child = children.table(index)?;
        if nested == 0 || index >= ARROW_COLUMNS_MAX {
            return Err(DecodeError::over(child.at, "columns", ARROW_COLUMNS_MAX));
        }
        let (nodes, buffers) = match child.table(4)? {
            Some(_) => (1, 2),
            None => layout(&child, nested - 1)?,
        };
        sum = (sum.0 + nodes, sum.1 + buffers);
    }
    Ok(sum)
}
