//! Addresses: `local@domain/resource` (RFC 7622).
//!
//! What it deliberately does not do: the preparation of strings (PRECIS). Addresses that arrive were prepared
//! by the server that vouches for them; those of the configuration are what the server knows.

/// The address without its resource.
pub fn bare(jid: &str) -> &str {
    jid.split_once('/').map_or(jid, |(bare, _)| bare)
}

/// The part behind the first `/` (RFC 7622 section 3.1).
pub fn resource(jid: &str) -> Option<&str> {
    jid.split_once('/').map(|(_, resource)| resource)
}

/// The domain.
pub fn domain(jid: &str) -> &str {
    let bare = bare(jid);
    bare.split_once('@').map_or(bare, |(_, domain)| domain)
}

/// The part before the `@`.
pub fn local(jid: &str) -> Option<&str> {
    bare(jid).split_once('@').map(|(local, _)| local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_parts() {
        let jid = "ann@example.org/at@home/1";
        assert_eq!(
            (local(jid), domain(jid), resource(jid), bare(jid)),
            (
                Some("ann"),
                "example.org",
                Some("at@home/1"),
                "ann@example.org"
            )
        );
        assert_eq!(
            (local("example.org"), domain("example.org/x")),
            (None, "example.org")
        );
    }
}
