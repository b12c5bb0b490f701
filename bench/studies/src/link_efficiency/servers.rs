//! The servers that echo, and how a device speaks to each: the gateway, those of the paper, and none.
//!
//! Paper 003, section III, had libcoap, Tornado and Mosquitto answer; so have we, as Debian ships them.

use std::path::Path;

use super::cells::Setting;
use super::echo;
use super::protocol::{Echo, Protocol, Security};
pub(super) use weir_bench_lab::targets::libcoap::NAME as LIBCOAP;
pub(super) use weir_bench_lab::targets::tornado::NAME as TORNADO;
use weir_bench_lab::targets::{
    Running, Settings, libcoap, list, start_announced, this_program, tornado, weir,
};
use weir_bench_model::results::OURS;
use weir_bench_peers::device::job::{CoapOver, CoapWay, Conversation, Method};
use weir_bench_peers::oscore;

/// The name of the bare echo.
pub(super) const BARE: &str = "bare";
/// The name of the paper's broker.
pub(super) const MOSQUITTO: &str = "mosquitto";

/// A server.
pub(super) struct Server {
    /// Its name in results.
    pub name: &'static str,
    /// Starts it as a cell wants it.
    pub start: fn(&Settings, &Path, &Setting) -> Result<Running, String>,
    /// How a device speaks to it; nothing where it takes no part.
    pub conversation: fn(&Setting) -> Option<Conversation>,
}

/// All servers; the first is ours.
pub(super) static SERVERS: [Server; 5] = [
    Server {
        name: OURS,
        start: start_weir,
        conversation: to_weir,
    },
    Server {
        name: LIBCOAP,
        start: start_libcoap,
        conversation: to_libcoap,
    },
    Server {
        name: TORNADO,
        start: start_tornado,
        conversation: to_tornado,
    },
    Server {
        name: MOSQUITTO,
        start: start_mosquitto,
        conversation: to_mosquitto,
    },
    Server {
        name: BARE,
        start: start_bare,
        conversation: to_bare,
    },
];

/// The topic, and the resource: as short in every protocol.
const TOPIC: &str = "echo";

/// The servers of a cell.
pub(super) fn of(setting: &Setting) -> impl Iterator<Item = (&'static Server, Conversation)> {
    let setting = *setting;
    SERVERS
        .iter()
        .filter_map(move |server| Some((server, (server.conversation)(&setting)?)))
}

fn start_weir(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    let (listener, secured) = match setting.protocol {
        Protocol::CoapCon | Protocol::CoapNon => ("coap", ""),
        Protocol::CoapTcp => ("coap+tcp", "coaps+tcp"),
        Protocol::WebSocket | Protocol::Http1 | Protocol::Http2 => ("http", "https"),
        _ => ("mqtt", "mqtts"),
    };
    if settings.address.is_some() {
        return Err("absent: --url names one listener, and each protocol needs its own".into());
    }
    match setting.security {
        Security::None => weir::launch(settings, folder, listener, &[]),
        Security::Tls => weir::launch_certified(settings, folder, secured),
        Security::Oscore => {
            let policy = folder.join("policy.toml");
            oscore::write_policy(&policy, TOPIC)?;
            let set = format!("access.policy={}", policy.display());
            weir::launch(settings, folder, listener, &[set])
        }
    }
}

fn to_weir(setting: &Setting) -> Option<Conversation> {
    match (setting.protocol, setting.echo) {
        (Protocol::WebSocket, Echo::Subscription) => Some(Conversation::WebSocket {
            target: format!("/live/{TOPIC}?bare"),
            subprotocol: Some("weir.plain".into()),
            commits: true,
        }),
        (Protocol::WebSocket, Echo::Answer) => None,
        (Protocol::Http1, _) => Some(Conversation::Http {
            target: format!("/live/{TOPIC}"),
            prepare: Some(Method::Post),
            ask: Method::Get,
        }),
        (Protocol::Http2, _) => Some(Conversation::Http2 {
            target: format!("/live/{TOPIC}"),
        }),
        (Protocol::CoapCon | Protocol::CoapNon | Protocol::CoapTcp, echo) => {
            let over = match setting.security {
                Security::Oscore => CoapOver::Secured,
                _ => over(setting.protocol)?,
            };
            to_weir_by_coap(over, echo)
        }
        (protocol, _) => to_broker(protocol),
    }
}

fn over(protocol: Protocol) -> Option<CoapOver> {
    match protocol {
        Protocol::CoapCon => Some(CoapOver::Confirmable),
        Protocol::CoapNon => Some(CoapOver::NonConfirmable),
        Protocol::CoapTcp => Some(CoapOver::Stream),
        _ => None,
    }
}

fn to_weir_by_coap(over: CoapOver, echo: Echo) -> Option<Conversation> {
    Some(Conversation::Coap {
        over,
        path: format!("live/{TOPIC}"),
        format: Some(0),
        way: match echo {
            Echo::Answer => CoapWay::Answer {
                prepare: Some(Method::Post),
                ask: Method::Get,
            },
            Echo::Subscription => CoapWay::Observation {
                change: Method::Post,
            },
        },
    })
}

fn to_broker(protocol: Protocol) -> Option<Conversation> {
    Some(Conversation::Mqtt {
        qos: protocol.qos()?,
        topic: TOPIC.into(),
    })
}

/// `-e` has it send back what is PUT, `-N` makes notifications non-confirmable.
fn start_libcoap(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    let arguments: &[&str] = match (setting.protocol, setting.echo) {
        (_, Echo::Answer) => &["-e"],
        (Protocol::CoapNon, Echo::Subscription) => &["-N"],
        _ => &[],
    };
    libcoap::start(settings, folder, settings.host().into(), arguments)
}

fn to_libcoap(setting: &Setting) -> Option<Conversation> {
    if setting.security != Security::None {
        return None;
    }
    let over = over(setting.protocol)?;
    let way = match setting.echo {
        Echo::Answer => CoapWay::Answer {
            prepare: None,
            ask: Method::Put,
        },
        Echo::Subscription => CoapWay::Observation {
            change: Method::Put,
        },
    };
    Some(Conversation::Coap {
        over,
        path: TOPIC.into(),
        format: None,
        way,
    })
}

fn start_tornado(settings: &Settings, folder: &Path, _: &Setting) -> Result<Running, String> {
    let script = include_str!("echo_websocket.py");
    tornado::start(settings, folder, settings.host().into(), script)
}

fn to_tornado(setting: &Setting) -> Option<Conversation> {
    match (setting.protocol, setting.security, setting.echo) {
        (Protocol::WebSocket, Security::None, Echo::Answer) => Some(Conversation::WebSocket {
            target: "/echo".into(),
            subprotocol: None,
            commits: false,
        }),
        (Protocol::Http1, Security::None, Echo::Answer) => Some(Conversation::Http {
            target: "/back".into(),
            prepare: None,
            ask: Method::Post,
        }),
        _ => None,
    }
}

fn start_mosquitto(settings: &Settings, folder: &Path, _: &Setting) -> Result<Running, String> {
    let target = list::named(MOSQUITTO).ok_or("no such target")?;
    (target.start)(settings, folder)
}

fn to_mosquitto(setting: &Setting) -> Option<Conversation> {
    match setting.security {
        Security::None => to_broker(setting.protocol),
        Security::Tls | Security::Oscore => None,
    }
}

fn start_bare(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    let mut command = this_program(settings)?;
    command
        .arg(echo::SUBCOMMAND)
        .arg(settings.host().to_string());
    let listener = match setting.protocol {
        Protocol::CoapCon | Protocol::CoapNon => "udp",
        _ => "tcp",
    };
    let version = env!("CARGO_PKG_VERSION").into();
    start_announced(command, listener, version, &folder.join("stderr.log"))
}

/// One cell of each transport has it, which is enough.
fn to_bare(setting: &Setting) -> Option<Conversation> {
    match (setting.protocol, setting.security, setting.echo) {
        (Protocol::CoapCon, Security::None, Echo::Answer) => Some(Conversation::Datagrams),
        (Protocol::WebSocket, Security::None, Echo::Answer) => Some(Conversation::Stream),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link_efficiency::cells::settings;
    use weir_bench_model::effort::Effort;

    #[test]
    fn every_cell_has_a_server_and_no_server_twice() {
        for setting in settings(Effort::Full) {
            let mut names: Vec<&str> = of(&setting).map(|(server, _)| server.name).collect();
            assert!(!names.is_empty(), "{}", setting.name());
            names.dedup();
            assert_eq!(names.len(), of(&setting).count());
        }
    }

    #[test]
    fn a_broker_is_spoken_to_at_the_quality_of_its_cell() {
        for setting in settings(Effort::Quick) {
            for (_, conversation) in of(&setting) {
                if let Conversation::Mqtt { qos, .. } = conversation {
                    assert_eq!(Some(qos), setting.protocol.qos());
                }
            }
        }
    }
}
