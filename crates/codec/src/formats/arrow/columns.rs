//! The columns of a message.

/// A column, by what it says of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Topic,
    Time,
    Value,
    Unit,
    Type,
    Sensor,
    Text,
    Truth,
    Json,
    Lat,
    Lon,
    End,
    ResultTime,
    ValidFrom,
    ValidTo,
    Quality,
    Feature,
    Parameters,
}

/// How a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A dictionary of strings.
    Name,
    Instant,
    Double,
    Bool,
    Text,
}

/// Every column, in the order in which they are written.
pub(super) const COLUMNS: [(Column, &str, Shape); 18] = [
    (Column::Topic, "topic", Shape::Name),
    (Column::Time, "time", Shape::Instant),
    (Column::Value, "value", Shape::Double),
    (Column::Unit, "unit", Shape::Name),
    (Column::Type, "type", Shape::Name),
    (Column::Sensor, "sensor", Shape::Name),
    (Column::Text, "text", Shape::Text),
    (Column::Truth, "truth", Shape::Bool),
    (Column::Json, "json", Shape::Text),
    (Column::Lat, "lat", Shape::Double),
    (Column::Lon, "lon", Shape::Double),
    (Column::End, "end", Shape::Instant),
    (Column::ResultTime, "resultTime", Shape::Instant),
    (Column::ValidFrom, "validFrom", Shape::Instant),
    (Column::ValidTo, "validTo", Shape::Instant),
    (Column::Quality, "quality", Shape::Text),
    (Column::Feature, "feature", Shape::Text),
    (Column::Parameters, "parameters", Shape::Text),
];

/// Columns that are written whether a row needs them or not.
pub(super) const ALWAYS: usize = 6;

impl Column {
    /// The column of this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let found = COLUMNS.iter().find(|(_, own, _)| *own == name);
        found.map(|(column, ..)| *column)
    }

    /// Whether it says the result.
    pub(super) fn is_result(self) -> bool {
        matches!(
            self,
            Column::Value | Column::Text | Column::Truth | Column::Json
        )
    }
}
