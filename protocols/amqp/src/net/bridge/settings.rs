//! Sections `[amqp.bridge.NAME]` of the configuration.

use crate::net::client::Url;
use bytes::Bytes;
use weir_binding::bridge::{Login, Mapping, bridges, certificates, lines, login};
use weir_binding::{ConfigFault, Section};
use weir_sansio::Duration;

const KEYS: &[&str] = &[
    "url",
    "user",
    "password",
    "password_file",
    "ca_file",
    "queue",
    "prefetch",
    "heartbeat",
    "max_retry_seconds",
    "in",
    "out",
];
const LINE_KEYS: &[&str] = &["filter", "local", "remote"];

/// One bridge, as it is wanted.
#[derive(Clone, Debug)]
pub(in crate::net) struct Plan {
    pub(super) name: String,
    pub(super) url: Url,
    /// The same without a login, for people.
    pub(super) shown: String,
    pub(super) login: Option<Login>,
    /// Certificates in PEM that are trusted like the Web's roots.
    pub(super) roots: Option<Bytes>,
    /// The queue at the broker; where none is set, one is made that stays.
    pub(super) queue: Option<String>,
    /// Messages that may be under way to here.
    pub(super) prefetch: u16,
    /// Seconds of silence after which the broker is taken for gone.
    pub(super) idle_secs: u16,
    pub(super) retry_max: Duration,
    pub(super) inward: Vec<Mapping>,
    pub(super) outward: Vec<Mapping>,
}

/// Takes all bridges out of the section of AMQP.
pub(in crate::net) fn read(section: &mut Section) -> Result<Vec<Plan>, ConfigFault> {
    let named = bridges(section, "amqp")?.into_iter();
    named
        .map(|(name, section)| Plan::read(name, section))
        .collect()
}

impl Plan {
    fn read(name: String, mut section: Section) -> Result<Self, ConfigFault> {
        let Some(text) = section.optional("url") else {
            return Err(section.fault("url", "missing: expected such as amqp://broker.example"));
        };
        let url = Url::parse(&text).map_err(|error| section.fault("url", error.to_string()))?;
        let of_url = url.login.clone();
        let of_url = of_url.map(|(user, password)| (user, Some(password)));
        let login = login(&mut section, of_url)?;
        let queue = section.optional("queue");
        let retry_secs: u64 = section.parsed("max_retry_seconds", 30, "a number of seconds")?;
        let idle = "a number of seconds from 1 to 65535";
        let plan = Self {
            shown: weir_model::url::shown(&text),
            login,
            roots: certificates(&mut section)?,
            queue: queue.or(url.option("queue").map(str::to_owned)),
            prefetch: section.parsed("prefetch", 256, "a number from 1 to 65535")?,
            idle_secs: section.parsed("heartbeat", 30, idle)?,
            retry_max: Duration::from_secs(retry_secs.clamp(1, 86_400)),
            inward: names(&mut section, "in")?,
            outward: names(&mut section, "out")?,
            name,
            url,
        };
        // Without either the broker sends all that it has, or is never found to be gone.
        for (key, value) in [("prefetch", plan.prefetch), ("heartbeat", plan.idle_secs)] {
            if value == 0 {
                return Err(section.fault(key, "expected 1 to 65535, found 0"));
            }
        }
        if plan.inward.is_empty() && plan.outward.is_empty() {
            let problem = "neither `in` nor `out` has a filter: nothing would go either way";
            return Err(section.fault("in", problem));
        }
        section.finish(KEYS)?;
        Ok(plan)
    }

    /// What the lines want of the broker.
    pub(super) fn remote_filters(&self) -> Vec<String> {
        let lines = self.inward.iter();
        lines.map(|line| line.remote_filter().to_string()).collect()
    }
}

fn names(section: &mut Section, direction: &str) -> Result<Vec<Mapping>, ConfigFault> {
    let lines = lines(section, direction, LINE_KEYS)?.into_iter();
    Ok(lines.map(|line| line.names).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn section(keys: &[(&str, &str)]) -> Section {
        let mut section = Section::new("amqp");
        for (key, value) in keys {
            section.set(key, value);
        }
        section
    }

    #[test]
    fn a_bridge_has_its_login_its_queue_and_its_lines() {
        let mut section = section(&[
            ("bridge.site.url", "amqp091://ann:secret@h/v?queue=q"),
            ("bridge.site.in.0", "a/#"),
            ("bridge.site.in.1.filter", "b/#"),
            ("bridge.site.in.1.remote", "plant/"),
        ]);
        let plan = read(&mut section).unwrap().remove(0);
        assert_eq!(plan.remote_filters(), ["a/#", "plant/b/#"]);
        assert_eq!(plan.shown, "amqp091://h/v?queue=q");
        assert_eq!(plan.login, Some(("ann".into(), Some("secret".into()))));
        assert_eq!(plan.queue.as_deref(), Some("q"));
        assert!(plan.outward.is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let url = ("bridge.b.url", "amqp://h");
        for (keys, key) in [
            (vec![("bridge.b.user", "x")], "amqp.bridge.b.url"),
            (vec![("bridge.b.url", "mqtt://h")], "amqp.bridge.b.url"),
            (vec![url], "amqp.bridge.b.in"),
            (vec![url, ("bridge.b.in", "#")], "amqp.bridge.b.in"),
            (
                vec![url, ("bridge.b.in.0", "#"), ("bridge.b.urk", "x")],
                "amqp.bridge.b.urk",
            ),
            (
                vec![url, ("bridge.b.prefetch", "0")],
                "amqp.bridge.b.prefetch",
            ),
            (
                vec![url, ("bridge.b.in.0.qos", "1")],
                "amqp.bridge.b.in.0.qos",
            ),
            (
                vec![url, ("bridge.b.in.0", "$a")],
                "amqp.bridge.b.in.0.filter",
            ),
        ] {
            let fault = read(&mut section(&keys)).unwrap_err();
            assert_eq!(fault.key, key, "{fault}");
        }
    }
}
