//! Sections `[mqtt.bridge.NAME]` of the configuration.

use crate::net::client::Url;
use crate::wire::QoS;
use bytes::Bytes;
use weir_binding::bridge::{self, Login, Mapping, RawLine, bridges, certificates, login};
use weir_binding::{ConfigFault, Section};
use weir_sansio::Duration;

const KEYS: &[&str] = &[
    "url",
    "user",
    "password",
    "password_file",
    "ca_file",
    "client_id",
    "version",
    "keep_alive",
    "session_seconds",
    "max_retry_seconds",
    "in",
    "out",
];
const LINE_KEYS: &[&str] = &["filter", "local", "remote", "qos", "retain"];

/// One bridge, as it is wanted.
#[derive(Clone, Debug)]
pub(in crate::net) struct Plan {
    pub(super) name: String,
    pub(super) url: String,
    /// The same without a login, for people.
    pub(super) shown: String,
    pub(super) login: Option<Login>,
    /// Certificates in PEM that are trusted like the Web's roots.
    pub(super) roots: Option<Bytes>,
    /// Where none is set, one is made that stays.
    pub(super) client_id: Option<String>,
    pub(super) speaks: Speaks,
    /// Whether an older version is spoken where the broker wants that.
    pub(super) falls_back: bool,
    pub(super) keep_alive: u16,
    pub(super) session_secs: u32,
    pub(super) retry_max: Duration,
    pub(super) inward: Vec<Line>,
    pub(super) outward: Vec<Line>,
}

/// What is spoken to the other broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    V5,
    /// 3.1.1 as bridges speak it to Mosquitto and others that know it.
    V311Bridge,
    V311,
}

/// One line of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::net) struct Line {
    pub(super) names: Mapping,
    /// Messages go over with their own quality, or this one where that is less.
    pub(super) qos: QoS,
    /// Whether what is retained on one side is retained on the other.
    pub(super) retain: bool,
}

/// Takes all bridges out of the section of MQTT.
pub(in crate::net) fn read(section: &mut Section) -> Result<Vec<Plan>, ConfigFault> {
    let named = bridges(section, "mqtt")?.into_iter();
    named
        .map(|(name, section)| Plan::read(name, section))
        .collect()
}

impl Plan {
    fn read(name: String, mut section: Section) -> Result<Self, ConfigFault> {
        let url = section.text("url", "");
        // Without it a bridge is none; so all else is looked at before.
        let parsed = Url::parse(&url).map_err(|error| section.fault("url", error.to_string()));
        let of_url = parsed.as_ref().ok().and_then(|url| url.login.clone());
        // [MQTT311-3.1.2-22]
        let login = login(
            &mut section,
            of_url.map(|(user, password)| (user, Some(password))),
        )?;
        let (speaks, falls_back) = version(&mut section)?;
        let seconds = "a number of seconds";
        let retry_secs: u64 = section.parsed("max_retry_seconds", 30, seconds)?;
        let plan = Self {
            shown: weir_model::url::shown(&url),
            url,
            login,
            roots: certificates(&mut section)?,
            client_id: section.optional("client_id"),
            speaks,
            falls_back,
            keep_alive: section.parsed("keep_alive", 60, "a number of seconds up to 65535")?,
            session_secs: section.parsed("session_seconds", 7 * 86_400, seconds)?,
            retry_max: Duration::from_secs(retry_secs.clamp(1, 86_400)),
            inward: lines(&mut section, "in")?,
            outward: lines(&mut section, "out")?,
            name,
        };
        section.finish(KEYS)?;
        parsed.map(|_| plan)
    }
}

fn version(section: &mut Section) -> Result<(Speaks, bool), ConfigFault> {
    Ok(match section.text("version", "auto").as_str() {
        "auto" => (Speaks::V5, true),
        "5" | "5.0" => (Speaks::V5, false),
        "3.1.1" => (Speaks::V311Bridge, true),
        other => {
            let problem = format!("expected auto, 5 or 3.1.1, found `{other}`");
            return Err(section.fault("version", problem));
        }
    })
}

/// The lines of one direction.
fn lines(section: &mut Section, direction: &str) -> Result<Vec<Line>, ConfigFault> {
    let raw = bridge::lines(section, direction, LINE_KEYS)?.into_iter();
    raw.map(|raw| line(section, raw)).collect()
}

fn line(section: &Section, raw: RawLine) -> Result<Line, ConfigFault> {
    let qos = match raw.text("qos") {
        "" | "1" => QoS::AtLeastOnce,
        "0" => QoS::AtMostOnce,
        "2" => QoS::ExactlyOnce,
        other => {
            let problem = format!("expected 0, 1 or 2, found `{other}`");
            return Err(raw.fault(section, "qos", &problem));
        }
    };
    let retain = match raw.text("retain") {
        "" | "true" => true,
        "false" => false,
        other => {
            let problem = format!("expected true or false, found `{other}`");
            return Err(raw.fault(section, "retain", &problem));
        }
    };
    Ok(Line {
        names: raw.names,
        qos,
        retain,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn section(keys: &[(&str, &str)]) -> Section {
        let mut section = Section::new("mqtt");
        for (key, value) in keys {
            section.set(key, value);
        }
        section
    }

    #[test]
    fn a_bridge_has_its_lines_in_their_order() {
        let mut section = section(&[
            ("listen", ""),
            ("bridge.site.url", "mqtt://ann:secret@site.example"),
            ("bridge.site.in.0", "a/#"),
            ("bridge.site.in.10.filter", "c/#"),
            ("bridge.site.in.2.filter", "b/#"),
            ("bridge.site.in.2.local", "site/"),
            ("bridge.site.in.2.qos", "2"),
            ("bridge.site.in.2.retain", "false"),
        ]);
        let plans = read(&mut section).unwrap();
        let plan = &plans[0];
        let filters = plan
            .inward
            .iter()
            .map(|line| line.names.local_filter().as_str());
        assert_eq!(filters.collect::<Vec<_>>(), ["a/#", "site/b/#", "c/#"]);
        assert_eq!(plan.inward[1].qos, QoS::ExactlyOnce);
        assert!(!plan.inward[1].retain && plan.outward.is_empty());
        assert_eq!(plan.shown, "mqtt://site.example");
        assert_eq!(plan.login, Some(("ann".into(), Some("secret".into()))));
        assert!(section.finish(&["listen"]).is_err(), "listen is left");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let url = ("bridge.b.url", "mqtt://h");
        for (keys, key) in [
            (vec![("bridge.b.user", "x")], "mqtt.bridge.b.url"),
            (vec![("bridge.b.url", "http://h")], "mqtt.bridge.b.url"),
            (vec![url, ("bridge.b.urk", "x")], "mqtt.bridge.b.urk"),
            (vec![url, ("bridge.b.password", "x")], "mqtt.bridge.b.user"),
            (
                vec![url, ("bridge.b.password_file", "/nowhere")],
                "mqtt.bridge.b.password_file",
            ),
            (
                vec![url, ("bridge.b.version", "4")],
                "mqtt.bridge.b.version",
            ),
            (vec![url, ("bridge.b.in.x", "a")], "mqtt.bridge.b.in.x"),
            (vec![url, ("bridge.b.in.0.q", "a")], "mqtt.bridge.b.in.0.q"),
            (
                vec![
                    url,
                    ("bridge.b.in.0.qos", "3"),
                    ("bridge.b.in.0.filter", "a"),
                ],
                "mqtt.bridge.b.in.0.qos",
            ),
            (
                vec![url, ("bridge.b.out.0.filter", "a/#/b")],
                "mqtt.bridge.b.out.0.filter",
            ),
            (
                vec![url, ("bridge.b.in.0", "$SYS/#")],
                "mqtt.bridge.b.in.0.filter",
            ),
            (vec![("bridge.b c.url", "mqtt://h")], "mqtt.bridge.b c.url"),
        ] {
            let fault = read(&mut section(&keys)).unwrap_err();
            assert_eq!(fault.key, key, "{fault}");
        }
    }
}
