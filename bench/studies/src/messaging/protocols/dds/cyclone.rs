//! Cyclone DDS alone: a process of its own a client, told what to do by pipes (`conformance/cyclone-bench/peer.c`).

use std::io::{BufReader, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::super::job::{At, PingPong, START_NS, Schedule, Sent};
use super::super::super::payload::{batch, encode, id};
use super::super::{Client, Part};
use weir_bench_lab::targets::dds::{cyclone_configuration, cyclone_program, domain_at};
use weir_bench_model::clock::now_ns;
use weir_bench_model::latency::Latency;
use weir_bench_model::limits::{DDS_LOOKS_MAX, OWN_MESSAGE_BYTES_MAX};

/// Between two looks at whether it is over.
const LOOK: Duration = Duration::from_millis(10);

/// A process that is a participant.
pub(super) struct Peer {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    silence: Duration,
    is_listening: bool,
}

impl Peer {
    /// Starts it.
    pub(super) fn open(at: At, part: Part<'_>) -> Result<Self, String> {
        let mut command = Command::new(cyclone_program()?);
        command
            .arg(domain_at(at.address).to_string())
            .arg(part_letter(part))
            .args(part.topic())
            .env("CYCLONEDDS_URI", cyclone_configuration(at.address.ip()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|e| format!("absent: {e}"))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (commands, answers) = pipes.ok_or("no pipes")?;
        Ok(Self {
            process,
            commands,
            answers: BufReader::new(answers),
            silence: at.silence,
            is_listening: false,
        })
    }

    fn tell(&mut self, command: &[u8]) -> Result<(), String> {
        let told = self.commands.write_all(command);
        told.map_err(|e| format!("telling Cyclone: {e}"))
    }

    /// Whether an answer begins within this time.
    fn answers_within(&self, patience: Duration) -> Result<bool, String> {
        if !self.answers.buffer().is_empty() {
            return Ok(true);
        }
        let patience = Timespec::try_from(patience).map_err(|e| e.to_string())?;
        let output = self.answers.get_ref().as_fd();
        let mut fds = [PollFd::from_borrowed_fd(output, PollFlags::IN)];
        let ready = poll(&mut fds, Some(&patience)).map_err(|e| e.to_string())?;
        Ok(ready > 0)
    }

    fn read<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        let read = self.answers.read_exact(&mut bytes);
        read.map_err(|e| format!("Cyclone's client ended: {e}"))?;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u32, String> {
        self.read().map(u32::from_ne_bytes)
    }

    fn number_64(&mut self) -> Result<u64, String> {
        self.read().map(u64::from_ne_bytes)
    }

    fn expect(&mut self, kind: u8) -> Result<(), String> {
        match self.read()? {
            [found] if found == kind => Ok(()),
            [found] => Err(format!("Cyclone's client answers {found:#x}")),
        }
    }
}

/// What it is to have, as its arguments say it.
fn part_letter(part: Part<'_>) -> &'static str {
    match part {
        Part::Publishes => "w",
        Part::Listens(_) => "r",
        Part::Both(_) => "rw",
    }
}

/// A text as commands have it.
fn text(text: &[u8], out: &mut Vec<u8>) {
    out.extend((text.len() as u32).to_ne_bytes());
    out.extend(text);
}

/// A message that is told beforehand.
struct Told {
    id: String,
    encoding_ns: u64,
}

/// The command to publish on a schedule, and its messages.
fn scheduled(topic: &str, schedule: Schedule) -> Result<(Vec<u8>, Vec<Told>), String> {
    let mut command = vec![b'T'];
    command.extend(schedule.interval_ns.to_ne_bytes());
    command.extend(START_NS.to_ne_bytes());
    command.extend((schedule.messages as u32).to_ne_bytes());
    text(topic.as_bytes(), &mut command);
    let (mut payload, mut messages) = (Vec::new(), Vec::with_capacity(schedule.messages));
    for index in 0..schedule.messages as u64 {
        let data = batch(schedule.nodes, index);
        let begun_ns = now_ns();
        encode(&data, &mut payload)?;
        messages.push(Told {
            encoding_ns: now_ns() - begun_ns,
            id: id(&payload),
        });
        text(&payload, &mut command);
    }
    Ok((command, messages))
}

impl Client for Peer {
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        let mut command = Vec::with_capacity(payload.len() + 64);
        command.push(b'W');
        text(topic.as_bytes(), &mut command);
        text(payload, &mut command);
        self.tell(&command)
    }

    /// It has all before the first is due; the time that each took to encode is put before it.
    fn publish_all(&mut self, topic: &str, schedule: Schedule) -> Result<Vec<Sent>, String> {
        let (command, messages) = scheduled(topic, schedule)?;
        self.tell(&command)?;
        self.expect(b't')?;
        let first_ns = self.number_64()?;
        let sent = messages.into_iter().enumerate().map(|(index, message)| {
            let due_ns = first_ns + index as u64 * schedule.interval_ns;
            Ok(Sent {
                id: message.id,
                due_ns: due_ns as f64,
                begun_ns: self.number_64()?.saturating_sub(message.encoding_ns) as f64,
            })
        });
        sent.collect()
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        Ok(self.receive_timed()?.map(|(_, payload)| payload))
    }

    fn receive_timed(&mut self) -> Result<Option<(u64, Bytes)>, String> {
        if !std::mem::replace(&mut self.is_listening, true) {
            self.tell(b"L")?;
        }
        if !self.answers_within(self.silence)? {
            return Ok(None);
        }
        self.expect(b'D')?;
        let received_ns = self.number_64()?;
        let length = self.number()? as usize;
        if length > OWN_MESSAGE_BYTES_MAX {
            return Err(format!("Cyclone's client has a message of {length} bytes"));
        }
        let mut payload = vec![0; length];
        let read = self.answers.read_exact(&mut payload);
        read.map_err(|e| format!("Cyclone's client ended: {e}"))?;
        Ok(Some((received_ns, payload.into())))
    }

    fn meet(&mut self) -> Result<(), String> {
        self.tell(b"M")?;
        match self.answers_within(LOOK * DDS_LOOKS_MAX)? {
            true => self.expect(b'm'),
            false => Err("nobody in the domain reads and writes".into()),
        }
    }

    fn send_back(&mut self, to: &str, over: &AtomicBool) -> Result<(), String> {
        let mut command = vec![b'E'];
        text(to.as_bytes(), &mut command);
        self.tell(&command)?;
        while !over.load(Ordering::Relaxed) {
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn to_and_fro(&mut self, to: &str, payload: &[u8], for_ms: u64) -> Result<PingPong, String> {
        let mut command = vec![b'P'];
        command.extend((for_ms as u32).to_ne_bytes());
        text(to.as_bytes(), &mut command);
        text(payload, &mut command);
        self.tell(&command)?;
        self.expect(b'p')?;
        let lost = self.number_64()?;
        let seconds = self.number_64()? as f64 / 1e9;
        let mut rtt = Latency::new();
        for _ in 0..self.number()? {
            rtt.record(u64::from(self.number()?));
        }
        let passed = rtt.count();
        Ok(PingPong {
            passed,
            lost,
            seconds,
            rtt,
        })
    }

    fn nodelay(&self) -> Option<bool> {
        None
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
