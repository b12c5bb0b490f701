//! The cells: a link, a modem before it or none, a protocol, how the echo comes about, a payload, a pace.
//!
//! On the machine itself every protocol meets every payload; on a link the times are the link's, so
//! that quick runs take there the paper's protocols at the one payload that its text names.

use serde::{Deserialize, Serialize};

use super::protocol::{Echo, Protocol, Security};
use weir_bench_model::cell::LOCAL;
use weir_bench_model::effort::Effort;

/// The links: none, a cabled network, the paper's Wi-Fi, a home's Internet, a cellular network.
pub(super) const LINKS: [&str; 5] = [LOCAL, "lan", WLAN, ISP, CELLULAR];
/// The paper's LAN, which is one hop of Wi-Fi (003, section III).
pub(super) const WLAN: &str = "wlan";
/// Its Internet by a home router.
pub(super) const ISP: &str = "isp";
/// Its Internet by a phone.
pub(super) const CELLULAR: &str = "cellular";

/// When the next packet is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Pace {
    /// As soon as the last one has come back: acknowledgments of TCP ride on the next packet.
    Next,
    /// After a rest longer than TCP delays an acknowledgment, as a sensor would.
    Rest,
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// Between device and server.
    pub link: &'static str,
    /// Whether a modem at a serial line stands between the device and the link.
    pub modem: bool,
    /// By which protocol.
    pub protocol: Protocol,
    /// How it is secured.
    pub security: Security,
    /// How the echo comes about.
    pub echo: Echo,
    /// Bytes of payload, one way.
    pub payload_bytes: usize,
    /// When packets are sent.
    pub pace: Pace,
}

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    effort: Effort,
}

impl Pace {
    /// Its name as a level of a factor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Rest => "rest",
        }
    }
}

impl Setting {
    /// The cell's name: `factor=level;factor=level`.
    pub(super) fn name(&self) -> String {
        format!(
            "link={};modem={};protocol={};security={};echo={};payload={};pace={}",
            self.link,
            if self.modem { "uart" } else { "none" },
            self.protocol.name(),
            self.security.name(),
            self.echo.name(),
            self.payload_bytes,
            self.pace.name()
        )
    }

    /// Whether it is at the paper's own payload and pace, which is what a quick run has first.
    pub(super) fn is_chief(&self) -> bool {
        (self.payload_bytes, self.pace) == (CHIEF, Pace::Next)
    }

    /// Whether it is on the machine itself.
    pub(super) fn is_local(&self) -> bool {
        self.link == LOCAL
    }
}

impl Scale {
    /// Of an effort.
    pub(super) fn of(effort: Effort) -> Self {
        Self { effort }
    }

    /// Interleaved rounds of a cell.
    pub(super) fn rounds(&self, setting: &Setting) -> usize {
        match self.effort {
            Effort::Quick if setting.is_chief() && setting.is_local() => 2,
            Effort::Quick => 1,
            Effort::Full => 5,
        }
    }

    /// Packets of one round of a cell: in full as many as the paper's, over all rounds.
    pub(super) fn packets(&self, setting: &Setting) -> u32 {
        match (self.effort, setting.pace, setting.link) {
            (Effort::Full, Pace::Next, _) => 2000,
            (Effort::Full, Pace::Rest, _) => 50,
            (Effort::Quick, Pace::Rest, _) => 8,
            (Effort::Quick, _, LOCAL) => 150,
            (Effort::Quick, _, "lan") => 60,
            (Effort::Quick, _, WLAN) => 20,
            (Effort::Quick, _, _) => 8,
        }
    }

    /// Packets before counting starts.
    pub(super) fn warm_up(&self, setting: &Setting) -> u32 {
        match (self.effort, setting.is_local()) {
            (Effort::Quick, true) => 20,
            (Effort::Quick, false) => 2,
            (Effort::Full, true) => 100,
            (Effort::Full, false) => 20,
        }
    }
}

/// The one payload that the paper's text names, bytes.
const CHIEF: usize = 100;

/// Payloads, bytes: of the paper's figures only 100 is named in its text.
pub(super) fn payloads(effort: Effort) -> &'static [usize] {
    match effort {
        Effort::Quick => &[1, 100, 1000],
        Effort::Full => &[1, 10, 20, 50, 100, 200, 500, 1000, 1400],
    }
}

fn payloads_rested(effort: Effort) -> &'static [usize] {
    match effort {
        Effort::Quick => &[100],
        Effort::Full => &[1, 100, 1000],
    }
}

fn payloads_on_links(effort: Effort) -> &'static [usize] {
    match effort {
        Effort::Quick => &[100],
        Effort::Full => &[1, 10, 100, 500, 1000],
    }
}

/// Every protocol, secured or not, by every way of an echo.
fn conversations() -> impl Iterator<Item = (Protocol, Security, Echo)> {
    Protocol::ALL.into_iter().flat_map(|protocol| {
        protocol.securities().iter().flat_map(move |&security| {
            let echoes = protocol.echoes().iter();
            // The gateway's WebSocket has subscribers, and only the gateway is spoken to by TLS; a
            // notification is as long as an answer.
            let echoes = echoes.filter(move |echo| {
                !matches!(
                    (protocol, security, **echo),
                    (Protocol::WebSocket, Security::Tls, Echo::Answer)
                        | (_, Security::Oscore, Echo::Subscription)
                )
            });
            echoes.map(move |&echo| (protocol, security, echo))
        })
    })
}

/// All cells, in the order of the report.
pub(super) fn settings(effort: Effort) -> Vec<Setting> {
    let mut all = Vec::new();
    for (pace, payloads) in [
        (Pace::Next, payloads(effort)),
        (Pace::Rest, payloads_rested(effort)),
    ] {
        let wanted = conversations().filter(|of| pace == Pace::Next || of.1 == Security::None);
        all.extend(wanted.flat_map(|of| cells(LOCAL, false, of, payloads, pace)));
    }
    for link in &LINKS[1..] {
        for modem in [false, true] {
            let wanted = conversations().filter(|of| is_on_links(effort, (link, modem), *of));
            let payloads = payloads_on_links(effort);
            all.extend(wanted.flat_map(|of| cells(link, modem, of, payloads, Pace::Next)));
        }
    }
    all
}

/// Quick runs leave out what the paper does not speak of, and its modem where times are the link's.
fn is_on_links(
    effort: Effort,
    (link, modem): (&str, bool),
    (protocol, security, echo): (Protocol, Security, Echo),
) -> bool {
    let is_of_the_paper = protocol.is_of_the_paper()
        && protocol != Protocol::CoapNon
        && security == Security::None
        && (protocol, echo) != (Protocol::CoapCon, Echo::Subscription);
    match (effort, modem) {
        (Effort::Full, _) => true,
        (Effort::Quick, false) => is_of_the_paper,
        (Effort::Quick, true) => is_of_the_paper && link == WLAN,
    }
}

fn cells(
    link: &'static str,
    modem: bool,
    (protocol, security, echo): (Protocol, Security, Echo),
    payloads: &[usize],
    pace: Pace,
) -> Vec<Setting> {
    let setting = |&payload_bytes: &usize| Setting {
        link,
        modem,
        protocol,
        security,
        echo,
        payload_bytes,
        pace,
    };
    payloads.iter().map(setting).collect()
}

/// The names of all cells.
pub(super) fn names(effort: Effort) -> Vec<String> {
    settings(effort).iter().map(Setting::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_run_sends_as_many_packets_as_the_papers_on_every_link() {
        let scale = Scale::of(Effort::Full);
        for setting in settings(Effort::Full) {
            let packets = scale.rounds(&setting) as u32 * scale.packets(&setting);
            let wanted = if setting.pace == Pace::Next {
                10_000
            } else {
                250
            };
            assert_eq!(packets, wanted, "{}", setting.name());
        }
    }

    #[test]
    fn datagrams_have_no_tls_and_http_2_nothing_else() {
        let all = settings(Effort::Full);
        let of = |protocol: Protocol| {
            let cells = all.iter().filter(move |s| s.protocol == protocol);
            cells.map(|s| s.security == Security::Tls)
        };
        assert!(of(Protocol::CoapNon).all(|secured| !secured));
        assert!(of(Protocol::Http2).count() > 0 && of(Protocol::Http2).all(|secured| secured));
    }
}
