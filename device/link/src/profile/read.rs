//! Reads a profile: a name with changes (`serial,duplex=half,rate=11520 B/s`), or a TOML file.

use super::{Direction, Duplex, PLAIN, PROFILES, Profile};
use crate::framing::Framing;
use crate::limits::{MTU_MIN, PACKET_BYTES_MAX};
use crate::loss::Loss;
use crate::medium::Rate;
use crate::quantity::{self, QuantityFault};
use crate::trace::Trace;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Why there is no such profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFault {
    /// File, key or word at fault.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
}

impl fmt::Display for ProfileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for ProfileFault {}

fn fault(place: impl Into<String>, problem: impl fmt::Display) -> ProfileFault {
    ProfileFault {
        place: place.into(),
        problem: problem.to_string(),
    }
}

impl Profile {
    /// Reads `NAME`, `NAME,KEY=VALUE,...` or the path of a TOML file with the same keys.
    ///
    /// Keys: `rate`, `trace` (a file), `delay`, `rtt` (half of it each way), `jitter`, `loss` (a share,
    /// `SHARE/TIME` for fades or `BAD/GOOD/LOST` for bursts of packets), `queue`, `framing` (`none`,
    /// `slip`, `+BYTES`, `BYTES/HEADER`), `duty` (a share of the time), each also as `up.KEY` and
    /// `down.KEY`; `duplex` (`full`, `half`), `mtu`, `congestion`.
    pub fn read(text: &str) -> Result<Self, ProfileFault> {
        let mut words = text.split(',');
        let first = words.next().unwrap_or_default().trim();
        let mut profile = match Profile::named(first) {
            Some(profile) => profile,
            None if first.ends_with(".toml") => from_file(Path::new(first))?,
            None => return Err(unknown(first)),
        };
        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| fault(word, "expected KEY=VALUE such as rtt=30 ms"))?;
            set(&mut profile, key.trim(), value.trim())?;
        }
        sound(profile, first)
    }
}

fn unknown(name: &str) -> ProfileFault {
    let names: Vec<_> = PROFILES.iter().map(|(name, _)| *name).collect();
    let problem = format!(
        "no such profile; there are {}, or the path of a .toml file",
        names.join(", ")
    );
    fault(name, problem)
}

fn sound(profile: Profile, place: &str) -> Result<Profile, ProfileFault> {
    let is_silent = profile.up.duty < 1.0 || profile.down.duty < 1.0;
    match profile.up.fault().or(profile.down.fault()) {
        Some(problem) => Err(fault(place, problem)),
        // Who is silent would keep the medium from the other, whose packet is not known yet.
        None if is_silent && profile.duplex == Duplex::Half => {
            Err(fault(place, "a duty cycle needs duplex=full"))
        }
        None => Ok(profile),
    }
}

/// A file holds `name`, optionally `like = "PROFILE"`, and the keys, those of a direction also in
/// `[up]` and `[down]`.
fn from_file(path: &Path) -> Result<Profile, ProfileFault> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| fault(&place, error))?;
    let table: toml::Table = text.parse().map_err(|error| fault(&place, error))?;
    let within = |inner: ProfileFault| fault(format!("{place}: {}", inner.place), inner.problem);
    let like = match table.get("like").and_then(toml::Value::as_str) {
        Some(name) => Profile::named(name).ok_or_else(|| within(unknown(name)))?,
        None => Profile::alike("", PLAIN),
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut profile = Profile {
        name: stem.into_owned(),
        ..like
    };
    // What holds for both directions comes before what a direction has of its own.
    let (tables, plain): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
    for (key, value) in plain {
        apply(&mut profile, key, value).map_err(within)?;
    }
    for (way, inner) in tables {
        for (key, value) in inner.as_table().into_iter().flatten() {
            apply(&mut profile, &format!("{way}.{key}"), value).map_err(within)?;
        }
    }
    Ok(profile)
}

fn apply(profile: &mut Profile, key: &str, value: &toml::Value) -> Result<(), ProfileFault> {
    let value = match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        _ => return Err(fault(key, "expected a text or a number")),
    };
    match key {
        "like" => Ok(()),
        "name" => {
            profile.name = value;
            Ok(())
        }
        key => set(profile, key, &value),
    }
}

fn set(profile: &mut Profile, key: &str, value: &str) -> Result<(), ProfileFault> {
    match key {
        "duplex" => profile.duplex = duplex(value)?,
        "mtu" => profile.mtu = mtu(value)?,
        "congestion" => profile.congestion = Some(value.into()),
        _ => {
            let (ways, name) = match key.split_once('.') {
                Some(("up", name)) => (vec![&mut profile.up], name),
                Some(("down", name)) => (vec![&mut profile.down], name),
                _ => (vec![&mut profile.up, &mut profile.down], key),
            };
            for direction in ways {
                set_direction(direction, name, value).map_err(|problem| fault(key, problem))?;
            }
        }
    }
    Ok(())
}

fn duplex(value: &str) -> Result<Duplex, ProfileFault> {
    match value {
        "full" => Ok(Duplex::Full),
        "half" => Ok(Duplex::Half),
        _ => Err(fault(
            "duplex",
            format!("expected full or half, found `{value}`"),
        )),
    }
}

fn mtu(value: &str) -> Result<u32, ProfileFault> {
    let range = MTU_MIN..=PACKET_BYTES_MAX as u32;
    let read = value.parse().ok().filter(|mtu| range.contains(mtu));
    read.ok_or_else(|| {
        let problem = format!(
            "expected {} to {}, found `{value}`",
            range.start(),
            range.end()
        );
        fault("mtu", problem)
    })
}

fn set_direction(direction: &mut Direction, key: &str, value: &str) -> Result<(), String> {
    let said = |fault: QuantityFault| fault.to_string();
    match key {
        "rate" => direction.rate = rate(value).map_err(said)?,
        "trace" => direction.rate = Rate::recorded(Path::new(value))?,
        "delay" => direction.delay = quantity::span(value).map_err(said)?,
        "rtt" => direction.delay = quantity::span(value).map_err(said)? / 2,
        "jitter" => direction.jitter = quantity::span(value).map_err(said)?,
        "loss" => direction.loss = loss(value).map_err(said)?,
        "queue" => direction.queue_bytes = quantity::size(value).map_err(said)?,
        "framing" => direction.framing = framing(value)?,
        "duty" => direction.duty = quantity::share(value).map_err(said)?,
        _ => {
            return Err(
                "no such key; there are rate, trace, delay, rtt, jitter, loss, queue, \
                        framing, duty (each also up. and down.), duplex, mtu, congestion"
                    .into(),
            );
        }
    }
    Ok(())
}

fn rate(value: &str) -> Result<Rate, QuantityFault> {
    match value {
        "unlimited" => Ok(Rate::Unlimited),
        _ => quantity::rate(value).map(Rate::Bits),
    }
}

impl Rate {
    /// As a file has it that was recorded: see [`Trace`]. An error names the file, and the line in it.
    pub fn recorded(path: &Path) -> Result<Self, String> {
        let place = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{place}: {error}"))?;
        let trace = Trace::parse(&text).map_err(|fault| format!("{place}: {fault}"))?;
        Ok(Rate::Trace(Arc::new(trace)))
    }
}

fn loss(value: &str) -> Result<Loss, QuantityFault> {
    let parts: Vec<_> = value.split('/').map(str::trim).collect();
    match parts[..] {
        [to_bad, to_good, in_bad] => Ok(Loss::GilbertElliott {
            to_bad: quantity::share(to_bad)?,
            to_good: quantity::share(to_good)?,
            in_bad: quantity::share(in_bad)?,
        }),
        [share, fade] => Ok(Loss::Fading {
            share: quantity::share(share)?,
            fade: quantity::span(fade)?,
        }),
        _ if value == "none" => Ok(Loss::None),
        _ => match quantity::share(value)? {
            0.0 => Ok(Loss::None),
            share => Ok(Loss::Bernoulli(share)),
        },
    }
}

fn framing(value: &str) -> Result<Framing, String> {
    let number = |text: &str| {
        text.trim()
            .parse()
            .ok()
            .filter(|&bytes: &u32| bytes < 65_536)
    };
    let read = match value {
        "none" => Some(Framing::None),
        "slip" => Some(Framing::Slip),
        _ => match (value.strip_prefix('+'), value.split_once('/')) {
            (Some(bytes), _) => number(bytes).map(Framing::Overhead),
            (None, Some((bytes, header))) => number(bytes)
                .zip(number(header))
                .filter(|(bytes, header)| header < bytes)
                .map(|(bytes, header)| Framing::Frames { bytes, header }),
            _ => None,
        },
    };
    read.ok_or_else(|| format!("expected none, slip, +38 or 127/25, found `{value}`"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_can_be_changed_in_place() {
        let profile = Profile::read("serial,duplex=half,rate=11520 B/s,up.loss=1 %").unwrap();
        assert_eq!(profile.duplex, Duplex::Half);
        assert_eq!(profile.down.rate, Rate::Bits(92_160));
        assert_eq!(profile.up.loss, Loss::Bernoulli(0.01));
        assert_eq!(profile.down.loss, Loss::None);
        assert_eq!(profile.up.framing, Framing::Slip);
    }

    #[test]
    fn fades_are_a_share_and_a_time() {
        let profile = Profile::read("isp,loss=2 %/40 ms").unwrap();
        assert_eq!(profile, Profile::read("isp,loss=0.02/0.04 s").unwrap());
        assert_eq!(profile.up.loss.mean(), 0.02);
        for bad in ["100 %/1 s", "2 %/0 s"] {
            Profile::read(&format!("isp,loss={bad}")).unwrap_err();
        }
    }

    #[test]
    fn a_duty_cycle_is_a_share_of_the_time() {
        let profile = Profile::read("serial,up.duty=10 %").unwrap();
        assert_eq!((profile.up.duty, profile.down.duty), (0.1, 1.0));
        assert!(profile.to_string().contains("duty cycle 10.00 %"));
        for bad in ["serial,duty=0", "lowpan,duty=1 %"] {
            let refused = Profile::read(bad).unwrap_err().to_string();
            assert!(refused.contains("duty cycle"), "{refused}");
        }
    }

    #[test]
    fn a_file_says_it_in_tables() {
        let file = std::env::temp_dir().join(format!("weir-link-{}.toml", std::process::id()));
        let text = "like = \"isp\"\nrtt = \"80 ms\"\nmtu = 1400\n[down]\nloss = \"0.01/0.25/1\"\n";
        std::fs::write(&file, text).unwrap();
        let profile = Profile::read(file.to_str().unwrap()).unwrap();
        std::fs::write(&file, "[up]\nrate = \"fast\"\n").unwrap();
        let refused = Profile::read(file.to_str().unwrap())
            .unwrap_err()
            .to_string();
        std::fs::remove_file(&file).unwrap();
        assert_eq!((profile.up.delay, profile.mtu), (40_000_000, 1_400));
        assert_eq!(profile.up.loss, Loss::Bernoulli(0.001));
        assert!(matches!(profile.down.loss, Loss::GilbertElliott { .. }));
        assert!(refused.contains("up.rate: expected a rate"), "{refused}");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let said = |text: &str| Profile::read(text).unwrap_err().to_string();
        assert!(said("moon").contains("there are none, lan, wlan"));
        assert!(said("lan,fast").contains("expected KEY=VALUE"));
        assert!(said("lan,colour=red").contains("no such key"));
        assert!(said("lan,jitter=2 ms").contains("more than twice its delay"));
        assert!(said("lan,mtu=68").contains("expected 1280 to 65535"));
        assert!(said("lan,framing=20/30").contains("127/25"));
        assert!(said("lan,loss=0.1/0/1").contains("no probability"));
    }
}
