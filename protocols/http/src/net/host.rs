//! By which name and scheme the gateway was reached, whether that name is its own, and which pages may ask.

use super::route::Shared;
use crate::wire::Request;
use crate::wire::target::is_authority;
use std::net::Ipv4Addr;
use weir_binding::Response;

/// Checks by which name the gateway was reached, and gives the scheme. Behind a proxy that is trusted, what that was
/// asked by stands in the place of both; what anybody else says of a proxy is not looked at.
pub(super) fn reached(shared: &Shared, request: &mut Request) -> Result<&'static str, Response> {
    check_host(shared, request)?;
    let own = if shared.is_secured { "https" } else { "http" };
    if !shared.is_proxied {
        return Ok(own);
    }
    if let Some(host) = nearest(request, "x-forwarded-host").map(str::to_owned) {
        if !is_authority(&host) {
            return Err(Response::text(400, "X-Forwarded-Host is no host"));
        }
        request.headers.retain(|(name, _)| name != "host");
        request.headers.push(("host".to_owned(), host));
        check_host(shared, request)?;
    }
    Ok(match nearest(request, "x-forwarded-proto") {
        Some("https" | "wss") => "https",
        Some("http" | "ws") => "http",
        _ => own,
    })
}

/// What the proxy itself has said: each puts its own word behind what it was told, by anybody.
fn nearest<'a>(request: &'a Request, name: &'a str) -> Option<&'a str> {
    let last = request.fields(name).last()?;
    last.rsplit(',').next().map(str::trim)
}

/// Where this machine alone is trusted, a page whose own name was made to mean this machine (DNS rebinding) would be of
/// the same origin as the gateway: names that anybody can have are refused unless they are listed.
fn check_host(shared: &Shared, request: &Request) -> Result<(), Response> {
    let Some(host) = request.header("host") else {
        return Ok(());
    };
    let hosts = &shared.settings.hosts;
    let listed =
        |name: &str| hosts.iter().any(|own| own == name) || shared.context.takes_name(name);
    if is_near(host, listed) {
        Ok(())
    } else {
        Err(Response::text(
            421,
            format!(
                "`{host}` is no name of this gateway: list it in http.hosts, or set access.policy"
            ),
        ))
    }
}

/// Whether `Host` is an address, a name without a dot or of a local network, or a listed one.
fn is_near(host: &str, listed: impl Fn(&str) -> bool) -> bool {
    // What many requests have, before anything is copied.
    if host.starts_with('[') || !host.contains('.') {
        return true;
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    if name.parse::<Ipv4Addr>().is_ok() {
        return true;
    }
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let local = [".localhost", ".local", ".internal", ".home.arpa"];
    !name.contains('.') || local.iter().any(|end| name.ends_with(end)) || listed(&name)
}

/// Browsers let any page open a WebSocket (RFC 6455 section 10.2) or post a form, so what CORS forbids
/// is refused here.
pub(super) fn check_origin(shared: &Shared, request: &Request) -> Result<(), Response> {
    let Some(origin) = request.header("origin") else {
        return Ok(());
    };
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    let own = authority
        .zip(request.header("host"))
        .is_some_and(|(of_page, host)| of_page.eq_ignore_ascii_case(host));
    if own || shared.settings.cors.allow(origin).is_some() {
        Ok(())
    } else {
        Err(Response::text(
            403,
            format!("pages of `{origin}` may not: list it in http.cors, or set that to `*`"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_anybody_can_have_are_not_near() {
        let listed = |name: &str| name == "weir.example";
        let near = |host: &str| is_near(host, listed);
        for host in [
            "localhost",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:8080",
            "gateway:8080",
            "Pi.Local.",
            "a.localhost:1",
            "weir.home.arpa",
            "WEIR.example:443",
        ] {
            assert!(near(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "a.weir.example",
            "local.evil",
        ] {
            assert!(!near(host), "{host}");
        }
    }
}
