//! Which event sinks are posted to.
//!
//! A subscription names where the gateway is to connect to, so without a rule whoever may subscribe could have
//! the gateway reach what they cannot. The rule: a sink is at the address that the subscription came from, or in
//! a network that the configuration names; its host is an address and no name, since what a name stands for can
//! change after it was looked at.

use std::net::IpAddr;
use std::str::FromStr;
use weir_binding::Network;
use weir_model::Url;
use weir_model::url::Authority;

/// The rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Only where the subscription came from.
    Own,
    /// That, and in these networks.
    Networks(Vec<Network>),
    /// Anywhere, names too.
    Any,
}

impl FromStr for Rule {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "own" => Ok(Rule::Own),
            "any" => Ok(Rule::Any),
            networks => {
                let read = Network::list(networks).map_err(drop)?;
                (!read.is_empty()).then_some(Rule::Networks(read)).ok_or(())
            }
        }
    }
}

impl Rule {
    /// Says why a sink is not posted to on behalf of who is at this address.
    pub(crate) fn check(&self, url: &str, peer: Option<IpAddr>) -> Result<(), String> {
        let read = Url::parse(url).map_err(|error| error.to_string())?;
        if !matches!(read.scheme, "http" | "https") {
            return Err(format!("an event sink is at http: or https:, not `{url}`"));
        }
        let host = address(read.authority);
        if host.is_some_and(is_of_a_link) {
            return Err(format!(
                "a link-local address does not say on which link: `{url}` needs one that is unique \
                 or global"
            ));
        }
        if *self == Rule::Any {
            return Ok(());
        }
        let host = host.ok_or_else(|| {
            format!("the host of an event sink is an address, without a user: `{url}` is not so")
        })?;
        let own = peer.is_some_and(|peer| peer.to_canonical() == host);
        let named = match self {
            Rule::Networks(networks) => networks.iter().any(|network| network.holds(host)),
            _ => false,
        };
        if own || named {
            Ok(())
        } else {
            Err(format!(
                "events are pushed to where the subscription came from, not to {host}: \
                 the key dpws.sinks allows others"
            ))
        }
    }
}

/// Whether an address means another machine on every link (RFC 4291 section 2.5.6).
fn is_of_a_link(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// The address of an authority that is nothing else, so that whoever connects cannot read another host in it.
fn address(authority: Authority<'_>) -> Option<IpAddr> {
    let address: IpAddr = authority.host.parse().ok()?;
    authority
        .userinfo
        .is_none()
        .then_some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn fits(rule: &str, url: &str) -> bool {
        let peer = Some("192.0.2.9".parse().unwrap());
        let rule: Rule = rule.parse().unwrap();
        rule.check(url, peer).is_ok()
    }

    #[test]
    fn a_sink_is_where_the_subscription_came_from() {
        for (url, expected) in [
            ("http://192.0.2.9:8081/sink", true),
            ("https://192.0.2.9/", true),
            ("http://[::ffff:192.0.2.9]:80/", true),
            ("http://192.0.2.8/", false),
            ("http://127.0.0.1:8080/", false),
            ("http://169.254.169.254/latest", false),
            ("http://192.0.2.9@10.0.0.1/", false),
            ("http://192.0.2.9:x@127.0.0.1:8080/", false),
            ("http://192.0.2.9:80@127.0.0.1/", false),
            ("http://[::ffff:192.0.2.9]@10.0.0.1/", false),
            ("http://[::ffff:192.0.2.9]x/", false),
            ("http://192.0.2.9.example.com/", false),
            ("http://0xc0000209/", false),
            ("http://3221225993/", false),
            ("http://localhost/", false),
            ("ftp://192.0.2.9/", false),
            ("", false),
        ] {
            assert_eq!(fits("own", url), expected, "{url}");
        }
    }

    #[test]
    fn networks_and_everything_are_allowed_by_name() {
        assert!(fits("10.0.0.0/8, 2001:db8::/32", "http://10.1.2.3:80/"));
        assert!(fits("10.0.0.0/8,2001:db8::/32", "http://[2001:db8::1]/"));
        assert!(fits("10.0.0.0/8", "http://192.0.2.9/"));
        assert!(!fits("10.0.0.0/8", "http://11.0.0.1/"));
        assert!(fits("0.0.0.0/0", "http://11.0.0.1/"));
        assert!(!fits("any", "http://[fe80::2]:80/") && !fits("fe80::/10", "http://[fe80::2]/"));
        assert!(fits("any", "http://sink.example/") && !fits("any", "file:///etc/passwd"));
        for bad in ["", "10.0.0.0/33", "everything", "10.0.0.0/8, x"] {
            assert!(bad.parse::<Rule>().is_err(), "{bad}");
        }
    }
}
