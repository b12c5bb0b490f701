//! The page's frames in the browser's own trace: when the compositor had each of them on the screen.
//!
//! A script is told by Element Timing when a text was presented; a canvas beside it in the same frame has
//! no such report. So a sample of frames is marked by the page (`performance.mark` while it draws) and
//! found again in the trace: the frame is the `PipelineReporter` of the same process whose work on the
//! page's thread spans the mark, and its end is its presentation. What it deliberately does not do: read
//! pixels; that the canvas and the text are of one frame is what the browser promises of one
//! `requestAnimationFrame`.

use std::collections::BTreeMap;

use serde_json::Value;

/// What is traced: frames from begin to presentation, and the page's marks.
pub(super) const CATEGORIES: &[&str] = &["benchmark", "cc", "blink.user_timing"];

/// How the page names its marks, before their number.
const MARK: &str = "frame-";
const REPORTER: &str = "PipelineReporter";
/// The part of a frame in which the page's own thread draws it.
const WORK: &str = "SendBeginMainFrameToCommit";

/// When each frame of the page was presented, microseconds of the monotonic clock.
#[derive(Debug, Default)]
pub(super) struct Frames(BTreeMap<u64, f64>);

/// A frame of a process: when its page's thread was at work on it, and its presentation.
struct Span {
    process: u64,
    work: [f64; 2],
    presented: f64,
}

/// A frame whose end has not been read yet.
#[derive(Default)]
struct Open {
    work: Option<f64>,
    worked: Option<[f64; 2]>,
    is_dropped: bool,
}

impl Frames {
    /// Reads them off the events of a trace.
    pub(super) fn of(events: &[Value]) -> Self {
        let spans = spans(events);
        let marks = events.iter().filter_map(mark);
        let presented = marks.filter_map(|(number, process, at)| {
            let is_around = |it: &&Span| {
                let [begin, end] = it.work;
                it.process == process && begin <= at && at <= end
            };
            let around = spans.iter().filter(is_around);
            Some((number, around.map(|it| it.presented).reduce(f64::min)?))
        });
        Self(presented.collect())
    }

    /// When a frame was presented.
    pub(super) fn presented_us(&self, frame: u64) -> Option<f64> {
        self.0.get(&frame).copied()
    }
}

/// A mark of the page: its number, its process and when.
fn mark(event: &Value) -> Option<(u64, u64, f64)> {
    let number = event["name"].as_str()?.strip_prefix(MARK)?.parse().ok()?;
    Some((number, event["pid"].as_u64()?, event["ts"].as_f64()?))
}

/// Frames that were presented: an event begins and one of the same identity ends each, and between them
/// the same of the page's own work on it.
fn spans(events: &[Value]) -> Vec<Span> {
    let mut open: BTreeMap<(u64, String), Open> = BTreeMap::new();
    let mut spans = Vec::new();
    for event in events {
        let (Some(process), Some(ts)) = (event["pid"].as_u64(), event["ts"].as_f64()) else {
            continue;
        };
        let key = (process, identity(event));
        match (event["name"].as_str(), event["ph"].as_str()) {
            (Some(REPORTER), Some("b")) => {
                let is_dropped = is_dropped(event);
                let fresh = Open {
                    is_dropped,
                    ..Open::default()
                };
                open.insert(key, fresh);
            }
            (Some(WORK), Some("b")) => _ = open.get_mut(&key).map(|it| it.work = Some(ts)),
            (Some(WORK), Some("e")) => {
                let frame = open.get_mut(&key);
                _ = frame.map(|it| it.worked = it.work.map(|begin| [begin, ts]));
            }
            (Some(REPORTER), Some("e")) => {
                let frame = open.remove(&key).filter(|it| !it.is_dropped);
                let frame = frame.filter(|_| !is_dropped(event));
                spans.extend(frame.and_then(|it| it.worked).map(|work| Span {
                    process,
                    work,
                    presented: ts,
                }));
            }
            _ => {}
        }
    }
    spans
}

/// What an event and its end have in common.
fn identity(event: &Value) -> String {
    let ids = [
        &event["id"],
        &event["id2"]["local"],
        &event["id2"]["global"],
    ];
    ids.into_iter().map(Value::to_string).collect()
}

fn is_dropped(event: &Value) -> bool {
    // Older browsers call it by a longer name.
    let about =
        ["frame_reporter", "chrome_frame_reporter"].map(|name| &event["args"][name]["state"]);
    let states = about.into_iter().filter_map(Value::as_str);
    let mut unseen = states.filter(|it| it.contains("DROPPED") || it.contains("NO_UPDATE"));
    unseen.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reporter(phase: &str, id: &str, ts: f64, state: &str) -> Value {
        let args = json!({"frame_reporter": {"state": state}});
        let id = json!({"local": id});
        json!({"name": REPORTER, "ph": phase, "pid": 7, "ts": ts, "id2": id, "args": args})
    }

    #[test]
    fn a_mark_is_of_the_presented_frame_whose_work_spans_it() {
        let presented = "STATE_PRESENTED_ALL";
        let mark = |number, pid, ts: f64| {
            let name = format!("frame-{number}");
            json!({"name": name, "ph": "I", "pid": pid, "ts": ts})
        };
        let work = |phase: &str, id: &str, ts: f64| {
            let id = json!({"local": id});
            json!({"name": WORK, "ph": phase, "pid": 7, "ts": ts, "id2": id})
        };
        let events = [
            reporter("b", "0x1", 100.0, presented),
            work("b", "0x1", 110.0),
            work("e", "0x1", 140.0),
            // The next frame begins before the first is on the screen.
            reporter("b", "0x2", 145.0, presented),
            work("b", "0x2", 150.0),
            mark(1, 7, 160.0),
            work("e", "0x2", 170.0),
            reporter("e", "0x1", 180.0, presented),
            reporter("e", "0x2", 200.0, presented),
            mark(2, 8, 160.0),
            reporter("b", "0x1", 300.0, "STATE_DROPPED"),
            work("b", "0x1", 300.0),
            mark(3, 7, 305.0),
            work("e", "0x1", 310.0),
            reporter("e", "0x1", 320.0, presented),
        ];
        let frames = Frames::of(&events);
        assert_eq!(frames.presented_us(1), Some(200.0));
        // Another process, and a frame that nobody saw.
        assert_eq!(
            (frames.presented_us(2), frames.presented_us(3)),
            (None, None)
        );
    }
}
