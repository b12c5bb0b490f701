//! `weir bench agent`: lends this machine's load to one coordinator after the other.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::line::Line;
use super::{Ask, TOKEN, Tell};
use crate::targets::Settings;
use crate::worker::Worker;
use weir_bench_load::load::job::{Event, Job};
use weir_bench_load::load::tell;
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::{AGENT_SILENCE_SECONDS_MAX, AGENT_TOKEN_BYTES_MIN, CONNECT_MS_MAX};

/// Bytes of a nonce: as many as the proof has.
const NONCE_BYTES: usize = 32;

/// Listens until it is killed; an error says why it does not.
pub fn main(listen: SocketAddr, settings: &Settings) -> Result<(), String> {
    let token = std::env::var(TOKEN).unwrap_or_default();
    may_listen(listen, &token)?;
    let listener = TcpListener::bind(listen).map_err(|e| format!("{listen}: {e}"))?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    tell(&serde_json::json!({"ready": true, "agent": address.to_string()}).to_string());
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let peer = stream
            .peer_addr()
            .map_or_else(|_| "gone".into(), |peer| peer.to_string());
        match serve(stream, &token, settings) {
            Ok(jobs) => eprintln!("{peer}: {jobs} jobs"),
            Err(reason) => eprintln!("{peer}: {reason}"),
        }
    }
    Ok(())
}

fn may_listen(listen: SocketAddr, token: &str) -> Result<(), String> {
    let is_open = token.len() < AGENT_TOKEN_BYTES_MIN;
    if is_open && (!token.is_empty() || !listen.ip().is_loopback()) {
        return Err(format!(
            "{listen} is reached by others: set {TOKEN} to at least {AGENT_TOKEN_BYTES_MIN} characters, \
            here and where the coordinator runs"
        ));
    }
    Ok(())
}

/// One coordinator until it goes; how many jobs it had.
fn serve(stream: TcpStream, token: &str, settings: &Settings) -> Result<usize, String> {
    // A stranger may not keep others waiting.
    let mut line = Line::new(stream, Duration::from_millis(CONNECT_MS_MAX))?;
    welcome(&mut line, token)?;
    line.bear(Duration::from_secs(AGENT_SILENCE_SECONDS_MAX))?;
    let mut jobs = 0;
    while let Some(ask) = line.hear::<Ask>()? {
        match ask {
            Ask::Clock => line.say(&Tell::Clock { now_ns: now_ns() })?,
            Ask::Job { job } => {
                jobs += 1;
                if let Err(reason) = run(&mut line, settings, &job) {
                    line.say(&Tell::Refused { reason })?;
                }
            }
            Ask::Go { .. } | Ask::Proof { .. } => return Err("says what was not asked".into()),
        }
    }
    Ok(jobs)
}

fn welcome(line: &mut Line, token: &str) -> Result<(), String> {
    let mut nonce = [0; NONCE_BYTES];
    let made = SystemRandom::new().fill(&mut nonce);
    made.map_err(|_| "no randomness".to_string())?;
    line.say(&Tell::Nonce { nonce: hex(&nonce) })?;
    let proven = match line.hear()? {
        Some(Ask::Proof { proof }) => is_proof(token, &nonce, &proof),
        _ => false,
    };
    if !proven {
        let reason = format!("another {TOKEN}");
        line.say(&Tell::Refused { reason })?;
        return Err("does not know the token".into());
    }
    line.say(&Tell::Welcome {
        version: env!("CARGO_PKG_VERSION").into(),
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
    })
}

fn run(line: &mut Line, settings: &Settings, job: &Job) -> Result<(), String> {
    let mut worker = Worker::start(settings, job)?;
    let mut watch = worker.watch();
    loop {
        let event = worker.next_event()?;
        watch.saw(&event);
        let is_ready = matches!(event, Event::Ready);
        let is_last = event.is_last();
        let event = Box::new(event);
        line.say(&Tell::Event { event })?;
        if is_ready {
            match line.hear()? {
                Some(Ask::Go { base_ns }) => worker.go(base_ns)?,
                _ => return Err("was not told when".into()),
            }
        }
        if is_last {
            let spent = watch.spent();
            return line.say(&Tell::Spent { spent });
        }
    }
}

/// What proves that the token is known.
pub(super) fn proof(token: &str, nonce: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
    hex(hmac::sign(&key, nonce).as_ref())
}

fn is_proof(token: &str, nonce: &[u8], proof: &str) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
    let given = unhex(proof).unwrap_or_default();
    hmac::verify(&key, nonce, &given).is_ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits.
pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let pairs = digits?;
    let pairs = pairs.chunks_exact(2);
    Some(pairs.map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_lent_without_a_token() {
        let token = "0123456789abcdef";
        let (near, far) = (([127, 0, 0, 2], 0).into(), ([0, 0, 0, 0], 0).into());
        assert!(may_listen(near, "").is_ok() && may_listen(far, token).is_ok());
        assert!(may_listen(far, "").is_err() && may_listen(far, "short").is_err());
        assert!(may_listen(near, "short").is_err());
    }

    #[test]
    fn a_proof_holds_for_its_token_and_its_nonce_alone() {
        let nonce = [7; NONCE_BYTES];
        let good = proof("secret", &nonce);
        assert!(is_proof("secret", &nonce, &good));
        assert!(!is_proof("other", &nonce, &good));
        assert!(!is_proof("secret", &[8; NONCE_BYTES], &good));
        assert!(!is_proof("secret", &nonce, "zz"));
    }
}
