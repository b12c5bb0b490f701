//! A broker that somebody else runs: reached by its URLs, never started nor stopped.
//!
//! Its processor time and memory are unknown, and so is what else it does meanwhile.

use std::net::{SocketAddr, ToSocketAddrs};

use super::mosquitto::{publish, subscribe};
use super::{Running, Settings, Target};

pub(super) const TARGET: Target = Target {
    name: "given",
    about: "a broker that runs already, by MQTT 3.1.1, at `--target`",
    look: |settings| of(settings).map(|given| given.name.clone()),
    start: |settings, _| of(settings).map(Given::running),
    publish: Some(publish),
    subscribe,
    replay: None,
};

/// Where a broker is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The URLs as given.
    name: String,
    address: SocketAddr,
    websocket: Option<String>,
}

impl Given {
    /// From `mqtt://HOST[:PORT]`, and beside it perhaps `ws://HOST:PORT/PATH`, which pages reach.
    pub fn of(urls: &[String]) -> Result<Option<Self>, String> {
        let (mut address, mut websocket) = (None, None);
        for url in urls {
            match url.split_once("://") {
                Some(("mqtt", authority)) => address = Some(resolve(authority)?),
                Some(("ws" | "wss", _)) => websocket = Some(url.clone()),
                _ => {
                    return Err(format!(
                        "{url}: give mqtt://HOST:PORT or ws://HOST:PORT/PATH"
                    ));
                }
            }
        }
        match (address, urls) {
            (_, []) => Ok(None),
            (None, _) => Err("a target needs mqtt://HOST:PORT beside its ws://".into()),
            (Some(address), _) => Ok(Some(Self {
                name: urls.join(" "),
                address,
                websocket,
            })),
        }
    }

    fn running(&self) -> Running {
        let running = Running::new(self.address, format!("as given: {}", self.name), None);
        match self.websocket.clone() {
            Some(url) => running.reached_at(url, None),
            None => running,
        }
    }
}

fn of(settings: &Settings) -> Result<&Given, String> {
    let given = settings.given.as_ref();
    given.ok_or_else(|| "absent: `--target mqtt://HOST:PORT` names one".into())
}

fn resolve(authority: &str) -> Result<SocketAddr, String> {
    let authority = authority.trim_end_matches('/');
    let found = match authority.to_socket_addrs() {
        Ok(found) => Ok(found),
        // The port that is registered for MQTT.
        Err(_) => (authority, 1883).to_socket_addrs(),
    };
    let mut found = found.map_err(|e| format!("mqtt://{authority}: {e}"))?;
    found
        .next()
        .ok_or_else(|| format!("mqtt://{authority}: no address"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn given(urls: &[&str]) -> Result<Option<Given>, String> {
        let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
        Given::of(&urls)
    }

    #[test]
    fn a_broker_is_given_by_its_urls() {
        let both = given(&["mqtt://127.0.0.1:18830/", "ws://127.0.0.1:18831/mqtt"]);
        let both = both.unwrap().unwrap();
        assert_eq!(both.address, "127.0.0.1:18830".parse().unwrap());
        assert_eq!(both.websocket.unwrap(), "ws://127.0.0.1:18831/mqtt");
        let alone = given(&["mqtt://127.0.0.1"]).unwrap().unwrap();
        assert_eq!(alone.address.port(), 1883);
    }

    #[test]
    fn what_is_no_url_of_a_broker_is_refused() {
        assert_eq!(given(&[]), Ok(None));
        assert!(given(&["http://127.0.0.1:1"]).is_err());
        assert!(given(&["ws://127.0.0.1:1/mqtt"]).is_err());
    }
}
