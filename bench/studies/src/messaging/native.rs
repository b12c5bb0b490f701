//! The native clients, in a process of their own: a thread each, blocking; of some protocols a process each.
//!
//! Messages one way leave on an absolute schedule that waits for no arrival. To and fro is a closed loop,
//! as the paper's: who waits for an echo offers no rate.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::apart::Apart;
use super::job::{Arrived, At, ClientsOutcome, ClientsPlan, Deed, PingPong, Schedule};
use super::payload::{BACK, TOPIC, batch, decode, encode, id};
use super::protocols::{Client, Part, Protocol};
use weir_bench_lab::targets::list;
use weir_bench_load::load::emit;
use weir_bench_load::load::job::{Event, Task};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::MESSAGING_SILENCE_MS_MAX;

impl Task for ClientsPlan {
    const NAME: &'static str = "clients";
    type Outcome = ClientsOutcome;

    fn run(&self, address: SocketAddr) -> Result<ClientsOutcome, String> {
        let protocol = Protocol::named(&self.protocol).ok_or("no such protocol")?;
        let silence = Duration::from_millis(MESSAGING_SILENCE_MS_MAX);
        let broker = list::named(&self.broker).ok_or("no such broker")?.name;
        let at = At {
            broker,
            address,
            silence,
        };
        match self.deed {
            Deed::Transfer {
                messages,
                interval_ns,
            } => {
                let schedule = Schedule {
                    nodes: self.nodes,
                    messages,
                    interval_ns,
                };
                transfer(protocol, at, self, schedule)
            }
            Deed::PingPong {
                warm_up_ms,
                measure_ms,
            } => ping_pong(protocol, at, self, [warm_up_ms, measure_ms]),
            Deed::Listen { messages } => {
                let listener = joined(protocol, at, Part::Listens(TOPIC))?;
                Ok(ClientsOutcome::Transfer {
                    sent: Vec::new(),
                    arrived: arrivals(listener, messages)?,
                })
            }
            Deed::SendBack => {
                let mut echo = joined(protocol, at, Part::Both(TOPIC))?;
                echo.send_back(BACK, &AtomicBool::new(false))?;
                Err("nothing comes any more".into())
            }
        }
    }
}

/// A client alone in its process, which says when it has met the other.
fn joined(protocol: &Protocol, at: At, part: Part<'_>) -> Result<Box<dyn Client>, String> {
    let mut client = protocol.client(at, part)?;
    client.meet()?;
    emit(&Event::Ready);
    Ok(client)
}

/// The second client.
enum Second {
    /// A page's, or nobody.
    None,
    /// In a thread.
    Here(Box<dyn Client>),
    /// In a process of its own.
    Apart(Apart),
}

impl Second {
    /// Opens it for its part, or starts a process that is told of the same as a deed.
    fn open(
        protocol: &Protocol,
        at: At,
        plan: &ClientsPlan,
        (part, deed): (Part<'_>, Deed),
    ) -> Result<Self, String> {
        match plan.both {
            true if protocol.apart.contains(&at.broker) => {
                Apart::start(at, plan, deed).map(Self::Apart)
            }
            true => protocol.client(at, part).map(Self::Here),
            false => Ok(Self::None),
        }
    }

    fn meet(&mut self) -> Result<(), String> {
        match self {
            Self::None => Ok(()),
            Self::Here(client) => client.meet(),
            Self::Apart(process) => process.meet(),
        }
    }
}

fn transfer(
    protocol: &Protocol,
    at: At,
    plan: &ClientsPlan,
    schedule: Schedule,
) -> Result<ClientsOutcome, String> {
    let messages = schedule.messages;
    let mut publisher = protocol.client(at, Part::Publishes)?;
    let its = (Part::Listens(TOPIC), Deed::Listen { messages });
    let mut subscriber = Second::open(protocol, at, plan, its)?;
    publisher.meet()?;
    subscriber.meet()?;
    thread::scope(|scope| {
        let arriving = match subscriber {
            Second::None => None,
            Second::Here(client) => Some(scope.spawn(move || arrivals(client, messages))),
            Second::Apart(process) => Some(scope.spawn(move || process.arrivals())),
        };
        emit(&Event::Begin);
        let sent = publisher.publish_all(TOPIC, schedule)?;
        publisher.drain()?;
        let arrived = match arriving {
            None => Vec::new(),
            Some(thread) => thread.join().map_err(|_| "the subscriber ended")??,
        };
        emit(&Event::End);
        Ok(ClientsOutcome::Transfer { sent, arrived })
    })
}

fn arrivals(mut client: Box<dyn Client>, messages: usize) -> Result<Vec<Arrived>, String> {
    let mut arrived = Vec::with_capacity(messages);
    while arrived.len() < messages {
        let Some((received_ns, payload)) = client.receive_timed()? else {
            return Ok(arrived);
        };
        let begun_ns = now_ns();
        decode(&payload)?;
        let took_ns = now_ns() - begun_ns;
        arrived.push(Arrived {
            decoded_ns: (received_ns + took_ns) as f64,
            received_ns: received_ns as f64,
            id: id(&payload),
        });
    }
    Ok(arrived)
}

fn ping_pong(
    protocol: &Protocol,
    at: At,
    plan: &ClientsPlan,
    [warm_up_ms, measure_ms]: [u64; 2],
) -> Result<ClientsOutcome, String> {
    let its = (Part::Both(TOPIC), Deed::SendBack);
    let mut second = Second::open(protocol, at, plan, its)?;
    let mut first = protocol.client(at, Part::Both(BACK))?;
    first.meet()?;
    second.meet()?;
    let mut payload = Vec::new();
    encode(&batch(plan.nodes, 0), &mut payload)?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let over = &over;
        let (echo, _apart) = match second {
            Second::None => (None, None),
            Second::Here(mut client) => {
                let echo = scope.spawn(move || client.send_back(BACK, over));
                (Some(echo), None)
            }
            Second::Apart(process) => (None, Some(process)),
        };
        let measured = to_and_fro(first.as_mut(), &payload, warm_up_ms).and_then(|_| {
            emit(&Event::Begin);
            let measured = to_and_fro(first.as_mut(), &payload, measure_ms);
            emit(&Event::End);
            measured
        });
        over.store(true, Ordering::Relaxed);
        // What is published last wakes the second client, which then sees that it is over.
        let woken = first.publish(TOPIC, &payload);
        let echoed = echo.map_or(Ok(Ok(())), thread::ScopedJoinHandle::join);
        let measured = measured?;
        woken?;
        echoed.map_err(|_| "the second client ended")??;
        Ok(ClientsOutcome::PingPong(measured))
    })
}

fn to_and_fro(client: &mut dyn Client, payload: &[u8], for_ms: u64) -> Result<PingPong, String> {
    let measured = client.to_and_fro(TOPIC, payload, for_ms)?;
    match (measured.passed, measured.lost) {
        (0, lost) if lost > 0 => Err("no message came back".into()),
        _ => Ok(measured),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::process::{Child, Command, Stdio};
    use weir_bench_lab::targets::{find_program, free_port};

    /// Mosquitto as a process; ended when dropped.
    struct Mosquitto(Child);

    impl Drop for Mosquitto {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Mosquitto and its address, or a loud note that it is absent.
    fn mosquitto(test: &str) -> Option<(Mosquitto, SocketAddr)> {
        let program = match find_program("mosquitto", "mosquitto") {
            Ok(program) => program,
            Err(reason) => {
                skip(test, &reason);
                return None;
            }
        };
        let port = free_port().unwrap();
        let mut command = Command::new(program);
        command.args(["-p", &port.to_string()]);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let mut broker = Mosquitto(command.spawn().unwrap());
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        while std::net::TcpStream::connect(address).is_err() {
            assert!(broker.0.try_wait().unwrap().is_none(), "it ended");
            thread::yield_now();
        }
        Some((broker, address))
    }

    fn skip(test: &str, reason: &str) {
        eprintln!("SKIP {test}: {reason}");
        if let Some(path) = std::env::var_os("WEIR_SKIPS") {
            let line = format!("rust: {test}: {reason}\n");
            let file = std::fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(path);
            let written =
                file.and_then(|mut it| std::io::Write::write_all(&mut it, line.as_bytes()));
            written.unwrap();
        }
    }

    fn plan(deed: Deed) -> ClientsPlan {
        ClientsPlan {
            protocol: "mqtt".into(),
            broker: "mosquitto".into(),
            nodes: 1,
            both: true,
            deed,
        }
    }

    #[test]
    fn every_message_by_mosquitto_comes_once_and_later_than_it_was_made() {
        let test = "every_message_by_mosquitto_comes_once_and_later_than_it_was_made";
        let Some((_broker, address)) = mosquitto(test) else {
            return;
        };
        let deed = Deed::Transfer {
            messages: 10,
            interval_ns: 1_000_000,
        };
        let ClientsOutcome::Transfer { sent, arrived } = plan(deed).run(address).unwrap() else {
            panic!("not what was asked for");
        };
        assert_eq!(sent.len(), 10);
        let sent_ids: Vec<&str> = sent.iter().map(|it| it.id.as_str()).collect();
        let arrived_ids: Vec<&str> = arrived.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(sent_ids, arrived_ids);
        let pairs = sent.iter().zip(&arrived);
        for (sent, arrived) in pairs {
            assert!(sent.due_ns <= sent.begun_ns && sent.begun_ns < arrived.received_ns);
            assert!(arrived.received_ns < arrived.decoded_ns);
        }
    }

    #[test]
    fn a_message_goes_to_and_fro_by_mosquitto_until_its_time_is_over() {
        let test = "a_message_goes_to_and_fro_by_mosquitto_until_its_time_is_over";
        let Some((_broker, address)) = mosquitto(test) else {
            return;
        };
        let deed = Deed::PingPong {
            warm_up_ms: 0,
            measure_ms: 50,
        };
        let ClientsOutcome::PingPong(measured) = plan(deed).run(address).unwrap() else {
            panic!("not what was asked for");
        };
        assert!(measured.passed > 0 && measured.lost == 0);
        assert_eq!(measured.rtt.count(), measured.passed);
        assert!(measured.seconds >= 0.05);
    }
}
