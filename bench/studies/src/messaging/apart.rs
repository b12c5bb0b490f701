//! The second native client in a process of its own, which is told its job as this one is.
//!
//! What it deliberately does not do: take part in the measurement of what the load spends; it is a child of the load,
//! whose children are counted with it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::job::{Arrived, At, ClientsOutcome, ClientsPlan, Deed};
use weir_bench_load::load::job::{Event, Job};

/// A process; killed when dropped.
pub(super) struct Apart {
    process: Child,
    events: BufReader<ChildStdout>,
    /// Open for as long as it lives.
    _orders: ChildStdin,
}

impl Apart {
    /// Starts it; it joins by itself.
    pub(super) fn start(at: At, plan: &ClientsPlan, deed: Deed) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|e| format!("this program's path: {e}"))?;
        let mut command = Command::new(program);
        // As this one was started, which makes it a load, too.
        command.args(std::env::args_os().skip(1));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = command.spawn();
        let mut process = started.map_err(|e| format!("the second client: {e}"))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (mut orders, events) = pipes.ok_or("no pipes")?;
        let told = orders.write_all(order(at, plan, deed).as_bytes());
        told.map_err(|e| format!("the second client: {e}"))?;
        Ok(Self {
            process,
            events: BufReader::new(events),
            _orders: orders,
        })
    }

    /// Waits until it has met the first one.
    pub(super) fn meet(&mut self) -> Result<(), String> {
        match self.event()? {
            Event::Ready => Ok(()),
            Event::Failed { reason } => Err(reason),
            other => Err(format!("the second client says {other:?}")),
        }
    }

    /// What came to it.
    pub(super) fn arrivals(mut self) -> Result<Vec<Arrived>, String> {
        match self.event()? {
            Event::Failed { reason } => Err(reason),
            event => match event.of_task::<ClientsPlan>() {
                Some(ClientsOutcome::Transfer { arrived, .. }) => Ok(arrived),
                _ => Err(format!("the second client says {event:?}")),
            },
        }
    }

    fn event(&mut self) -> Result<Event, String> {
        let mut line = String::new();
        let read = self.events.read_line(&mut line);
        read.map_err(|e| format!("the second client: {e}"))?;
        serde_json::from_str(&line).map_err(|e| format!("the second client: {e}: {line}"))
    }
}

/// The line that it is told.
fn order(at: At, plan: &ClientsPlan, deed: Deed) -> String {
    let plan = ClientsPlan {
        both: false,
        deed,
        ..plan.clone()
    };
    serde_json::to_string(&Job::of(at.address, &plan)).unwrap_or_default() + "\n"
}

impl Drop for Apart {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::time::Duration;
    use weir_bench_load::load::job::{Kind, Task};

    #[test]
    fn it_is_told_the_same_plan_with_a_deed_of_its_own_and_has_no_second_client() {
        let plan = ClientsPlan {
            protocol: "dds".into(),
            broker: "rustdds".into(),
            nodes: 5,
            both: true,
            deed: Deed::PingPong {
                warm_up_ms: 1,
                measure_ms: 2,
            },
        };
        let at = At {
            broker: "rustdds",
            address: ([127, 0, 0, 1], 7660).into(),
            silence: Duration::from_secs(1),
        };
        let job: Job = serde_json::from_str(&order(at, &plan, Deed::SendBack)).unwrap();
        assert_eq!(job.address, at.address);
        let Kind::Task { name, plan } = job.kind else {
            panic!("another kind of job");
        };
        let told: ClientsPlan = serde_json::from_value(plan).unwrap();
        assert_eq!(name, ClientsPlan::NAME);
        assert!(!told.both && told.nodes == 5 && told.broker == "rustdds");
        assert!(matches!(told.deed, Deed::SendBack));
    }
}
