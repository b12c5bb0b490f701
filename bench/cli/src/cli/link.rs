//! `weir link`: any program behind an emulated link.

use clap::Args;
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};
use weir_link::{
    Check, Count, Lab, LabFault, Ledger, Options, PROFILES, Profile, Rate, Sharing, Station, Way,
    limits::SNAP_BYTES,
};
use weir_program::Failure;

/// How long the far command may take to listen.
const READY_PATIENCE: Duration = Duration::from_secs(30);
const READY_LOOK: Duration = Duration::from_millis(20);

#[derive(Args)]
#[command(after_help = after_help())]
pub(crate) struct Link {
    /// Profile of the link, with changes: `isp`, `serial,duplex=half,rate=11520 B/s`, `mine.toml`
    #[arg(default_value = "none")]
    profile: String,
    /// A recorded trace in place of the rate downwards, and, without --trace-up, upwards: a millisecond a
    /// line at which 1,500 bytes could pass, as Mahimahi has them
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Another one for the rate upwards
    #[arg(long, value_name = "FILE", requires = "trace")]
    trace_up: Option<PathBuf>,
    /// Command of the far end, by the shell; it ends with the near one
    #[arg(long, value_name = "COMMAND")]
    far: Option<String>,
    /// Wait until the far end listens at this TCP port
    #[arg(long, value_name = "PORT", requires = "far")]
    ready: Option<u16>,
    /// So many near ends, each with the near command; it finds its number in $WEIR_STATION
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    stations: u16,
    /// They share one link; otherwise each has one of its own
    #[arg(long, requires = "stations")]
    shared: bool,
    /// Write every packet down, for Wireshark
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Bytes of each packet that are written down; 0: whole packets
    #[arg(long, value_name = "BYTES", default_value_t = SNAP_BYTES, requires = "pcap")]
    snap: u32,
    /// Seed of loss and jitter
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Do not measure the link first: two seconds less, and nothing is refused
    #[arg(long)]
    no_check: bool,
    /// Say what was measured and counted in JSON
    #[arg(long)]
    json: bool,
    /// Command of the near end; without one the link is measured and that is all
    #[arg(last = true)]
    command: Vec<String>,
}

fn after_help() -> String {
    let width = PROFILES.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let lines = PROFILES
        .iter()
        .map(|(name, from)| format!("  {name:width$}  {from}\n"));
    let lines: String = lines.collect();
    format!(
        "Profiles:\n{lines}\n\
         Changes: rate, trace, delay, rtt, jitter, loss, queue, framing (each also up. and down.), \
         duplex, mtu, congestion.\n\
         The address of the other end is $WEIR_PEER (IPv6: $WEIR_PEER6).\n\n\
         Example:\n  weir link 3g --far 'weir serve --open --set http.listen=0.0.0.0:8080' --ready 8080 \
         -- sh -c 'curl -s http://$WEIR_PEER:8080/health/live'"
    )
}

pub(crate) fn run(link: &Link) -> Result<ExitCode, Failure> {
    let profile = profile(link).map_err(Failure::usage)?;
    weir_link::prepare().map_err(no)?;
    let (lab, check) = start(link, profile)?;
    say(link, &introduction(&lab, check.as_ref()), || {
        checked(&lab, check.as_ref())
    });
    let Some((program, arguments)) = link.command.split_first() else {
        return Ok(ExitCode::SUCCESS);
    };
    let _far = far(link, &lab)?;
    let mut near = Vec::new();
    for (number, station) in lab.stations().enumerate() {
        let mut command = Command::new(program);
        command.args(arguments);
        command.env("WEIR_STATION", (number + 1).to_string());
        let started = spawn(station, &lab.far, command);
        near.push(started.map_err(|error| Failure::no(format!("{program}: {error}")))?);
    }
    let ended = near.iter_mut().map(std::process::Child::wait);
    let ended: Vec<ExitStatus> = ended.collect::<Result<_, _>>().map_err(Failure::no)?;
    say(link, &told(&lab), || counted(&lab));
    let worst = ended.iter().find(|status| !status.success());
    Ok(worst.map_or(ExitCode::SUCCESS, |status| code(*status)))
}

/// The profile, with what was recorded in place of its rates.
fn profile(link: &Link) -> Result<Profile, String> {
    let mut profile = Profile::read(&link.profile).map_err(|fault| fault.to_string())?;
    if let Some(down) = &link.trace {
        profile.down.rate = Rate::recorded(down)?;
        profile.up.rate = Rate::recorded(link.trace_up.as_ref().unwrap_or(down))?;
    }
    Ok(profile)
}

/// Why there is no link.
pub(crate) fn no(fault: LabFault) -> Failure {
    match fault {
        LabFault::Inaccurate(_) => Failure::no(format!(
            "{fault}; an idle machine does better, and --no-check goes on all the same"
        )),
        fault => Failure::no(fault),
    }
}

fn start(link: &Link, profile: Profile) -> Result<(Lab, Option<Check>), Failure> {
    let options = Options {
        seed: link.seed,
        capture: link.pcap.clone(),
        snap: link.snap,
        more: usize::from(link.stations) - 1,
        sharing: match link.shared {
            true => Sharing::Shared,
            false => Sharing::Each,
        },
    };
    match link.no_check {
        true => Lab::unchecked(profile, &options).map(|lab| (lab, None)),
        false => Lab::start(profile, &options).map(|(lab, check)| (lab, Some(check))),
    }
    .map_err(no)
}

/// The far command, running and, where that is asked for, listening.
fn far(link: &Link, lab: &Lab) -> Result<Option<std::process::Child>, Failure> {
    let Some(line) = &link.far else {
        return Ok(None);
    };
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    let failed = |error| Failure::no(format!("the far command: {error}"));
    let mut child = spawn(&lab.far, &lab.near, command).map_err(failed)?;
    let Some(port) = link.ready else {
        return Ok(Some(child));
    };
    let begin = Instant::now();
    while !listens(&lab.far, port).map_err(failed)? {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Err(Failure::no(format!("the far command ended with {status}")));
        }
        if begin.elapsed() > READY_PATIENCE {
            let problem = format!("the far command does not listen at port {port}");
            return Err(Failure::no(problem));
        }
        std::thread::sleep(READY_LOOK);
    }
    Ok(Some(child))
}

/// Asked within the end itself, so that nothing crosses the link.
fn listens(station: &Station, port: u16) -> std::io::Result<bool> {
    let address = SocketAddr::from((station.address(), port));
    station.within(move || TcpStream::connect(address).is_ok())
}

fn spawn(
    at: &Station,
    peer: &Station,
    mut command: Command,
) -> std::io::Result<std::process::Child> {
    command.env("WEIR_PEER", peer.address().to_string());
    command.env("WEIR_PEER6", peer.address6().to_string());
    at.spawn(command)
}

/// As a shell does: 128 and the signal.
pub(crate) fn code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// To stderr: stdout is the command's.
fn say(link: &Link, words: &str, machine: impl Fn() -> Value) {
    match link.json {
        true => eprintln!("{}", machine()),
        false => eprint!("{words}"),
    }
}

fn introduction(lab: &Lab, check: Option<&Check>) -> String {
    let profile = lab.profile();
    match check {
        None => format!("{profile}, {}\n", lab.near.congestion()),
        Some(check) => format!("{profile}\n{check}\n"),
    }
}

fn checked(lab: &Lab, check: Option<&Check>) -> Value {
    let rates = |check: &Check| {
        let of = |way: Way| check.rates[way as usize];
        let rate = |way: Way| json!({"target": of(way).target, "achieved": of(way).achieved});
        json!({"up": rate(Way::Up), "down": rate(Way::Down)})
    };
    json!({
        "profile": lab.profile().to_string(),
        "congestion": lab.near.congestion(),
        "base_ns": lab.base(),
        "check": check.map(|check| json!({
            "rtt_target_ns": check.rtt_target,
            "rtt_p50_ns": check.rtt_p50,
            "rtt_p99_ns": check.rtt_p99,
            "lateness_p99_ns": check.lateness_p99,
            "rate_bits": rates(check),
        })),
    })
}

fn total(ledger: &Ledger, way: Way) -> Count {
    ledger.total(|line| line.way == way)
}

fn told(lab: &Lab) -> String {
    let ledger = lab.ledger();
    let mut text = format!(
        "{:4} {:>9} {:>12} {:>12} {:>12} {:>7} {:>6} {:>8}\n",
        "", "packets", "IP bytes", "TCP or UDP", "payload", "again", "lost", "dropped"
    );
    for way in Way::BOTH {
        let count = total(&ledger, way);
        text += &format!(
            "{:4} {:>9} {:>12} {:>12} {:>12} {:>7} {:>6} {:>8}\n",
            way.name(),
            count.packets,
            count.ip_bytes,
            count.transport_bytes,
            count.payload_bytes,
            count.retransmitted,
            count.dropped_loss,
            count.dropped_queue
        );
    }
    text
}

fn counted(lab: &Lab) -> Value {
    let ledger = lab.ledger();
    let lines = ledger.lines().map(|line| {
        let mut row = count(&line.count);
        row["protocol"] = json!(line.flow.protocol);
        row["near"] = json!(line.flow.near);
        row["far"] = json!(line.flow.far);
        row["phase"] = json!(format!("{:?}", line.phase).to_lowercase());
        row["way"] = json!(line.way.name());
        row
    });
    let flows: Vec<_> = lines.collect();
    json!({
        "up": count(&total(&ledger, Way::Up)),
        "down": count(&total(&ledger, Way::Down)),
        "flows": flows,
        "lateness_p99_ns": lab.lateness_p99(),
    })
}

fn count(count: &Count) -> Value {
    json!({
        "packets": count.packets,
        "ip_bytes": count.ip_bytes,
        "transport_bytes": count.transport_bytes,
        "payload_bytes": count.payload_bytes,
        "retransmitted": count.retransmitted,
        "dropped_loss": count.dropped_loss,
        "dropped_queue": count.dropped_queue,
    })
}
