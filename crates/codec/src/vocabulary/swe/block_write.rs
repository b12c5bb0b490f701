//! Rows as records of tokens.

use super::{Kind, Role, token};
use crate::infoset::{Atom, Emit};
use weir_model::{Observation, Value};

/// Which fields the records of some rows need beside time and result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fields {
    /// Whether any row has this field of [`OPTIONAL`].
    there: [bool; OPTIONAL.len()],
    numbers: bool,
    bools: bool,
    others: bool,
}

const OPTIONAL: [Role; 9] = [
    Role::End,
    Role::ResultTime,
    Role::ValidFrom,
    Role::ValidTo,
    Role::Quality,
    Role::Feature,
    Role::Parameters,
    Role::Lat,
    Role::Lon,
];

impl Fields {
    /// Takes another row into account.
    pub(crate) fn add(&mut self, row: &Observation<'_>) {
        match row.value {
            _ if row.value.is_numeric() => self.numbers = true,
            Value::Bool(_) => self.bools = true,
            Value::Null => {}
            _ => self.others = true,
        }
        if row.place.is_none() && row.extra.is_empty() {
            return;
        }
        for (there, role) in self.there.iter_mut().zip(OPTIONAL) {
            *there |= has(role, row);
        }
    }

    /// Leaves out a field that is the same in all rows and said elsewhere.
    pub(crate) fn without(&mut self, role: Role) {
        for (there, own) in self.there.iter_mut().zip(OPTIONAL) {
            *there &= own != role;
        }
    }

    /// Says whether records have this field, beside time and result.
    pub(crate) fn has(&self, role: Role) -> bool {
        let mut own = self.there.iter().zip(OPTIONAL);
        own.any(|(there, known)| *there && known == role)
    }

    /// The kind that all results have.
    pub(crate) fn kind(&self) -> Kind {
        match (self.numbers, self.bools, self.others) {
            (_, false, false) => Kind::Number,
            (false, true, false) => Kind::Bool,
            _ => Kind::Any,
        }
    }

    /// The fields of a record in their order, behind the stream if there is one.
    pub(crate) fn roles(&self) -> impl Iterator<Item = Role> + use<> {
        let optional = self.there.into_iter().zip(OPTIONAL);
        let optional = optional.filter_map(|(there, role)| there.then_some(role));
        [Role::Time, Role::Value(self.kind())]
            .into_iter()
            .chain(optional)
    }
}

fn has(role: Role, row: &Observation<'_>) -> bool {
    match role {
        Role::End => row.extra.end.is_some(),
        Role::ResultTime => row.extra.result_time.is_some(),
        Role::ValidFrom | Role::ValidTo => row.extra.valid.is_some(),
        Role::Quality => row.extra.quality.is_some(),
        Role::Feature => row.extra.feature.is_some(),
        Role::Parameters => row.extra.parameters.is_some(),
        _ => row.place.is_some(),
    }
}

/// Writes the tokens of a row, with commas between them.
pub(crate) fn write_record(row: &Observation<'_>, fields: &Fields, emit: &mut impl Emit) {
    for (index, role) in fields.roles().enumerate() {
        if index > 0 {
            emit.content(Atom::Text(","));
        }
        write_token(role, row, emit);
    }
}

fn write_token(role: Role, row: &Observation<'_>, emit: &mut impl Emit) {
    let extra = &row.extra;
    let (text, atom) = match role {
        Role::Time => (None, row.time.map(Atom::Time)),
        Role::Value(_) => return token::write_any(row.value, emit),
        Role::End => (None, extra.end.map(Atom::Time)),
        Role::ResultTime => (None, extra.result_time.map(Atom::Time)),
        Role::ValidFrom => (None, extra.valid.map(|(from, _)| Atom::Time(from))),
        Role::ValidTo => (None, extra.valid.map(|(_, to)| Atom::Time(to))),
        Role::Lat => (None, row.place.map(|place| Atom::Number(place.latitude))),
        Role::Lon => (None, row.place.map(|place| Atom::Number(place.longitude))),
        Role::Quality => (extra.quality, None),
        Role::Feature => (extra.feature, None),
        _ => {
            return extra
                .parameters
                .into_iter()
                .for_each(|json| token::write_json(json, emit));
        }
    };
    if let Some(atom) = atom {
        emit.content(atom);
    }
    if let Some(text) = text {
        token::write_text(text, emit);
    }
}
