//! The flat object: one observation a member, and members of members below them.

use super::read_value;
use crate::error::DecodeError;
use crate::names::stands_twice;
use crate::rows::Rows;
use crate::stack_text::StackText;
use crate::syntax::{Key, Kind, Pull};
use crate::vocabulary::members::Member;
use alloc::format;
use core::ops::ControlFlow;
use weir_model::batch::Naming;
use weir_model::limits::TOPIC_BYTES_MAX;
use weir_model::{Flaw, FlawKind, Time};

/// Names joined on the way down a flat object: no topic is longer.
type Path = StackText<TOPIC_BYTES_MAX>;

/// Names of the items of an array that are an observation each; a longer one is one result.
const INDICES: [&str; 16] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15",
];

/// Which members of an object are observations.
#[derive(Clone, Copy)]
pub(super) enum Members {
    All,
    /// Those that are none of an observation's own, of its time.
    Others(Option<Time>),
}

/// Reads a flat object: one observation a member, members of nested maps joined by `/`.
pub(super) fn read(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    members: Members,
) -> Result<(), DecodeError> {
    let mut flat = Flat {
        rows,
        path: Path::default(),
        time: match members {
            Members::All => None,
            Members::Others(time) => time,
        },
        twice: 0,
    };
    let mut map = pull.map()?;
    loop {
        let start = pull.at();
        match (pull.key(&mut map)?, members) {
            (None, _) => return Ok(()),
            (Some(Key::Text(name)), Members::Others(_))
                if Member::named(name) != Member::Unknown =>
            {
                pull.skip()?;
            }
            (Some(key), _) => {
                let entered = flat.enter(key, start)?;
                flat.read_entered(entered, pull)?;
            }
        }
    }
}

struct Flat<'f, 'b> {
    rows: &'f mut Rows<'b>,
    path: Path,
    time: Option<Time>,
    /// How many members have the name of one before.
    twice: usize,
}

/// How long the path was before a member; or that the member's name would make it too long, which was noted.
type Entered = Option<usize>;

impl Flat<'_, '_> {
    /// Its members are observations; one without any is a result.
    fn read_map(&mut self, pull: &mut impl Pull) -> Result<(), DecodeError> {
        let before = pull.mark();
        let (mut map, mut is_empty) = (pull.map()?, true);
        loop {
            let start = pull.at();
            let Some(key) = pull.key(&mut map)? else {
                break;
            };
            is_empty = false;
            let entered = self.enter(key, start)?;
            self.read_entered(entered, pull)?;
        }
        if is_empty {
            pull.rewind(before);
            self.read_member(pull)?;
        }
        Ok(())
    }

    /// Goes down to a member.
    fn enter(&mut self, key: Key<'_>, start: usize) -> Result<Entered, DecodeError> {
        let Key::Text(name) = key else {
            let what = "a member name that is a string";
            return Err(DecodeError::expected(start, what));
        };
        let above = self.path.len();
        if self.push(name).is_continue() {
            return Ok(Some(above));
        }
        self.path.truncate(above);
        if !self.rows.is_forgiving() {
            let what = "bytes of a topic";
            return Err(DecodeError::over(start, what, TOPIC_BYTES_MAX));
        }
        let what = format!("the member at byte {start} is left out: its name is too long");
        self.rows.note_flaw(Flaw::new(FlawKind::Name, what));
        Ok(None)
    }

    fn push(&mut self, name: &str) -> ControlFlow<()> {
        if self.path.len() > 0 {
            self.path.push("/")?;
        }
        self.path.push(name)
    }

    fn read_entered(&mut self, above: Entered, pull: &mut impl Pull) -> Result<(), DecodeError> {
        let Some(above) = above else {
            return pull.skip();
        };
        match pull.peek()? {
            Kind::Map => self.read_map(pull)?,
            Kind::Array if is_of_few_numbers(pull)? => self.read_items(pull)?,
            _ => self.read_member(pull)?,
        }
        self.path.truncate(above);
        Ok(())
    }

    /// Each item is an observation, named by its index.
    fn read_items(&mut self, pull: &mut impl Pull) -> Result<(), DecodeError> {
        let (above, mut index) = (self.path.len(), 0);
        let mut array = pull.array()?;
        while pull.item(&mut array)? {
            let at = pull.at();
            if self.push(INDICES[index]).is_break() {
                return Err(DecodeError::over(at, "bytes of a topic", TOPIC_BYTES_MAX));
            }
            self.read_member(pull)?;
            self.path.truncate(above);
            index += 1;
        }
        Ok(())
    }

    fn read_member(&mut self, pull: &mut impl Pull) -> Result<(), DecodeError> {
        let (start, before) = (pull.at(), pull.mark());
        let read = self.read_row(start, pull);
        let Err(error) = read else {
            return Ok(());
        };
        if !self.rows.is_forgiving() {
            return Err(error);
        }
        pull.rewind(before);
        pull.skip()?;
        let what = format!("left out: {error}");
        let flaw = Flaw::new(FlawKind::Observation, what).of(self.path.as_str());
        self.rows.abandon();
        self.rows.note_flaw(flaw);
        Ok(())
    }

    fn read_row(&mut self, start: usize, pull: &mut impl Pull) -> Result<(), DecodeError> {
        self.rows.begin(start)?;
        self.rows.topic(Naming::Below, self.path.as_str());
        if let Some(time) = self.time {
            self.rows.time(time);
        }
        read_value(pull, self.rows)?;
        self.rows.end(start)?;
        self.check_name(start)
    }

    /// Refuses a second member of one name, of which the first is as good; or notes that both are taken.
    #[inline]
    fn check_name(&mut self, start: usize) -> Result<(), DecodeError> {
        // Each member is a datastream of its own.
        let rows = self.rows.batch();
        if rows.len() == rows.stream_count() + self.twice || !self.rows.are_alone() {
            return Ok(());
        }
        let what = stands_twice(self.path.as_str());
        if !self.rows.is_forgiving() {
            return Err(DecodeError::meaning(start, what));
        }
        self.twice += 1;
        let flaw = Flaw::new(FlawKind::Member, what + ": both are taken");
        self.rows.note_flaw(flaw.of(self.path.as_str()));
        Ok(())
    }
}

/// Looks ahead: whether an array holds a few numbers, booleans or nulls and nothing else, as a device with several
/// channels writes them. Longer arrays are one result, as are those of texts and of anything else.
fn is_of_few_numbers(pull: &mut impl Pull) -> Result<bool, DecodeError> {
    let start = pull.mark();
    let mut count = 0;
    let mut array = pull.array()?;
    let is_of_numbers = loop {
        if !pull.item(&mut array)? {
            break count > 0;
        }
        count += 1;
        let is_number = matches!(pull.peek()?, Kind::Number | Kind::Bool | Kind::Null);
        if !is_number || count > INDICES.len() {
            break false;
        }
        pull.skip()?;
    };
    pull.rewind(start);
    Ok(is_of_numbers)
}
