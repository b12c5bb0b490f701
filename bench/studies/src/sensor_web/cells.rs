//! The cells: a request, with how many observations, over how many connections.

use super::requests::{
    DATA_ARRAY, Does, GET_OM, GET_ROWS, GET_TEXT, INSERT_OBSERVATION, INSERT_RESULT, LATEST,
    LATEST_SELECTED, Request, SINGLE,
};
use weir_bench_model::effort::Effort;

/// Observations of 52North's case: 45 minutes at one a second.
pub(super) const SHORT: usize = 2700;
/// Datastreams whose latest are asked for.
pub(super) const DATASTREAMS: usize = 400;
/// Observations of a long answer.
pub(super) const LONG: usize = 100_000;
/// Those of the answer that a long one's memory is set beside, and of the longest.
pub(super) const FEW: usize = 10_000;
pub(super) const MANY: usize = 1_000_000;
/// Rows of a data array.
pub(super) const ROWS: usize = 10_000;
/// Connections of those who insert data arrays, and of those who insert single ones.
pub(super) const CONNECTIONS: usize = 4;
pub(super) const CONNECTIONS_OF_SINGLE: usize = 64;

/// One cell.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// What is asked by it: `insert`, `latest`, `short` or `long`.
    pub(super) test: &'static str,
    /// What is sent.
    pub(super) request: &'static Request,
    /// Observations in a message or an answer.
    pub(super) observations: usize,
    /// Who does so at once, each waiting for its answers.
    pub(super) connections: usize,
}

/// How often and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Interleaved rounds.
    pub(super) rounds: usize,
    /// Milliseconds before counting starts.
    pub(super) warm_up_ms: u64,
    /// Milliseconds that count.
    pub(super) measure_ms: u64,
}

impl Scale {
    /// Of an effort.
    pub(super) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self {
                rounds: 3,
                warm_up_ms: 150,
                measure_ms: 400,
            },
            Effort::Full => Self {
                rounds: 7,
                warm_up_ms: 500,
                measure_ms: 3000,
            },
        }
    }
}

impl Setting {
    /// Its name: `factor=level;factor=level`.
    pub(super) fn name(&self) -> String {
        let Request {
            service,
            name,
            format,
            ..
        } = self.request;
        let Self {
            test,
            observations,
            connections,
            ..
        } = self;
        format!(
            "test={test};service={service};request={name};format={format};\
             observations={observations};connections={connections}"
        )
    }

    /// What is sent, in words: `get-observation, swe-text`.
    pub(super) fn words(&self) -> String {
        let Request { name, format, .. } = self.request;
        format!("{name}, {format}")
    }

    /// Whether answers are read, and not observations inserted.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.request.does, Does::Read(_))
    }
}

const fn insert(request: &'static Request, observations: usize, connections: usize) -> Setting {
    Setting {
        test: "insert",
        request,
        observations,
        connections,
    }
}

const fn by_one(test: &'static str, request: &'static Request, observations: usize) -> Setting {
    Setting {
        test,
        request,
        observations,
        connections: 1,
    }
}

/// Data arrays over several connections.
pub(super) const BULK: Setting = insert(&DATA_ARRAY, ROWS, CONNECTIONS);
/// Single observations over many.
pub(super) const SINGLES: Setting = insert(&SINGLE, 1, CONNECTIONS_OF_SINGLE);
/// The latest of many datastreams, entities whole and results alone.
pub(super) const LATEST_OF_ALL: [Setting; 2] = [
    by_one("latest", &LATEST, DATASTREAMS),
    by_one("latest", &LATEST_SELECTED, DATASTREAMS),
];
/// 52North's case: in, and out.
pub(super) const SHORT_IN: [Setting; 2] = [
    by_one("short", &INSERT_OBSERVATION, SHORT),
    by_one("short", &INSERT_RESULT, SHORT),
];
pub(super) const SHORT_OUT: [Setting; 3] = [
    by_one("short", &GET_OM, SHORT),
    by_one("short", &GET_TEXT, SHORT),
    by_one("short", &GET_ROWS, SHORT),
];

/// An answer with so many observations, in each form.
pub(super) fn long(observations: usize) -> [Setting; 3] {
    [&GET_OM, &GET_TEXT, &GET_ROWS].map(|request| by_one("long", request, observations))
}

/// Observations of long answers, the first of which is what memory is set beside.
pub(super) fn lengths(effort: Effort) -> &'static [usize] {
    match effort {
        Effort::Quick => &[FEW, LONG],
        Effort::Full => &[FEW, LONG, MANY],
    }
}

/// All cells, in the order of the report.
pub(super) fn settings(effort: Effort) -> Vec<Setting> {
    let is_full = effort == Effort::Full;
    let mut all = vec![BULK];
    if is_full {
        all.extend([
            insert(&DATA_ARRAY, ROWS, 1),
            insert(&DATA_ARRAY, 100, CONNECTIONS),
        ]);
    }
    all.push(SINGLES);
    if is_full {
        all.push(insert(&SINGLE, 1, 1));
    }
    all.extend(LATEST_OF_ALL);
    if is_full {
        all.extend([1, 4 * DATASTREAMS].map(|count| by_one("latest", &LATEST, count)));
    }
    all.extend(SHORT_IN.into_iter().chain(SHORT_OUT));
    all.extend(lengths(effort).iter().flat_map(|&length| long(length)));
    all
}

/// The names of all cells.
pub(super) fn names(effort: Effort) -> Vec<String> {
    settings(effort).iter().map(Setting::name).collect()
}
