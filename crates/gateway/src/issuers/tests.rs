#![allow(clippy::unwrap_used)]
use super::*;
use crate::jwt::tests::{Pair, set};

const NOW: i64 = 1_800_000_000;
const ES: &str = r#"{"alg":"ES256"}"#;

fn at(seconds: i64) -> Time {
    Time::from_millis(seconds * 1000)
}

/// An issuer whose key this is, with more lines in its entry.
fn issuer(pair: &Pair, more: &str) -> Result<Arc<Issuer>, String> {
    let text = format!("issuer = \"https://a\"\naudience = \"weir\"\nrole = \"r\"\n{more}");
    let role = crate::entries::role(
        "r",
        &"read = [\"#\"]".parse::<toml::Table>().unwrap().into(),
    );
    let roles = BTreeMap::from([("r".to_owned(), role.unwrap())]);
    let entry: toml::Table = text.parse().unwrap();
    let issuer = Issuer::read("site", &entry.into(), &roles, &[])?;
    issuer.take_over(Keys::read(&set(&[&pair.jwk("")])).unwrap());
    Ok(issuer)
}

fn claims(subject: &str) -> String {
    let end = NOW + 60;
    format!(r#"{{"iss":"https://a","aud":"weir","sub":"{subject}","exp":{end}}}"#)
}

fn identify(issuer: &Arc<Issuer>, token: &str, now: i64) -> Result<Principal, String> {
    Issuer::identify_at(std::slice::from_ref(issuer), token, at(now))
}

#[test]
fn a_token_holds_until_its_last_second_and_no_longer() {
    let pair = Pair::p256();
    let issuer = issuer(&pair, "").unwrap();
    let token = pair.token(ES, &claims("ann"));
    let principal = identify(&issuer, &token, NOW).unwrap();
    assert_eq!(&*principal.name, "site:ann");
    assert_eq!(issuer.next_expiry(), Some(at(NOW + 60)));
    assert!(identify(&issuer, &token, NOW + 59).is_ok());
    assert_eq!(issuer.expire(at(NOW + 59)), 0);
    let fresh = pair.token(ES, &claims("bob"));
    for token in [&token, &fresh] {
        for late in [60, 61, 66, 3600] {
            let refused = identify(&issuer, token, NOW + late).unwrap_err();
            assert!(refused.contains("expired"), "{refused}");
        }
    }
    assert!(!principal.standing.is_revoked());
    assert_eq!(issuer.expire(at(NOW + 60)), 1);
    assert!(principal.standing.is_revoked());
}

#[test]
fn tokens_for_something_else_are_refused_by_their_type() {
    let pair = Pair::p256();
    let taken = |more: &str, typ: &str| {
        let issuer = issuer(&pair, more).unwrap();
        let header = format!(r#"{{"alg":"ES256"{typ}}}"#);
        identify(&issuer, &pair.token(&header, &claims("ann")), NOW).is_ok()
    };
    let typ = |name: &str| format!(r#","typ":"{name}""#);
    for right in [
        "JWT",
        "jwt",
        "at+jwt",
        "AT+JWT",
        "application/at+jwt",
        "Application/JWT",
    ] {
        assert!(taken("", &typ(right)), "{right}");
    }
    assert!(taken("", ""));
    for wrong in [
        "logout+jwt",
        "application/logout+jwt",
        "dpop+jwt",
        "secevent+jwt",
        "JOSE",
        "JWT ",
        "x/jwt",
        "",
    ] {
        assert!(!taken("", &typ(wrong)), "{wrong}");
    }
    let only = "types = [\"application/at+jwt\"]";
    assert!(taken(only, &typ("at+JWT")));
    assert!(!taken(only, &typ("JWT")));
    assert!(!taken(only, ""), "one that says none");
    for wrong in ["types = []", "types = \"jwt\"", "types = [7]"] {
        assert!(issuer(&pair, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_leeway_is_of_clocks_that_are_ahead_and_settable() {
    let pair = Pair::p256();
    let taken = |more: &str, ahead: i64| {
        let token = claims("ann").replace("\"exp\"", &format!("\"nbf\":{},\"exp\"", NOW + ahead));
        identify(&issuer(&pair, more).unwrap(), &pair.token(ES, &token), NOW).is_ok()
    };
    assert!(taken("", 5) && !taken("", 6));
    assert!(taken("leeway_seconds = 0", 0) && !taken("leeway_seconds = 0", 1));
    assert!(taken("leeway_seconds = 300", 300));
    for wrong in ["301", "-1", "\"5\"", "1.5"] {
        assert!(
            issuer(&pair, &format!("leeway_seconds = {wrong}")).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn what_a_withdrawn_key_has_signed_ends() {
    let (pair, other) = (Pair::p256(), Pair::ed25519());
    let issuer = issuer(&pair, "").unwrap();
    let token = pair.token(ES, &claims("ann"));
    let principal = identify(&issuer, &token, NOW).unwrap();
    let published = |keys: &[&str]| issuer.take_over(Keys::read(&set(keys)).unwrap());
    published(&[&other.jwk(""), &pair.jwk(r#","kid":"named","alg":"ES256""#)]);
    assert_eq!(issuer.expire(at(NOW)), 0);
    assert!(!principal.standing.is_revoked(), "it is the same key");
    published(&[&other.jwk("")]);
    assert!(principal.standing.is_revoked());
    assert_eq!(issuer.expire(at(NOW)), 1, "what was begun is to be ended");
    assert!(
        identify(&issuer, &token, NOW)
            .unwrap_err()
            .contains("no such key")
    );
    let eddsa = other.token(r#"{"alg":"EdDSA"}"#, &claims("ann"));
    let principal = identify(&issuer, &eddsa, NOW).unwrap();
    for withdrawn in [
        r#","use":"enc""#,
        r#","key_ops":["sign"]"#,
        r#","alg":"ES256""#,
    ] {
        assert!(identify(&issuer, &eddsa, NOW).is_ok());
        published(&[&other.jwk(withdrawn)]);
        assert!(principal.standing.is_revoked(), "{withdrawn}");
        assert!(identify(&issuer, &eddsa, NOW).is_err(), "{withdrawn}");
        published(&[&other.jwk("")]);
    }
}

#[test]
fn a_token_is_its_issuers_alone() {
    let (pair, other) = (Pair::p256(), Pair::p256());
    let (own, stranger) = (issuer(&pair, "").unwrap(), issuer(&other, "").unwrap());
    let both = [own, stranger];
    let found = |token: &str| Issuer::identify_at(&both, token, at(NOW));
    assert!(found(&pair.token(ES, &claims("ann"))).is_ok());
    assert!(
        found(&other.token(ES, &claims("ann"))).is_ok(),
        "the same name, two entries"
    );
    let elsewhere = claims("ann").replace("https://a", "https://b");
    let refused = found(&pair.token(r#"{"alg":"ES256","kid":"x"}"#, &elsewhere));
    assert!(refused.unwrap_err().contains("no issuer"));
    let is_wanted = |issuer: &Arc<Issuer>| issuer.wanted.load(Ordering::Relaxed);
    assert!(
        !both.iter().any(is_wanted),
        "nobody fetches keys for what is another's"
    );
}

#[test]
fn many_tokens_of_one_subject_leave_room_for_others() {
    let pair = Pair::ed25519();
    let keys = Keys::read(&set(&[&pair.jwk("")])).unwrap();
    let token = pair.token(r#"{"alg":"EdDSA"}"#, "{}");
    let signer = Token::read(&token).unwrap().signer(&keys).ok().flatten();
    let signer = signer.unwrap();
    let account = |name: &str, expires| Account {
        principal: Principal {
            name: name.into(),
            grants: Arc::default(),
            standing: Standing::new(None),
        },
        signer: signer.clone(),
        expires: at(expires),
    };
    let mut accounts = Accounts::new();
    accounts.insert(b"other".to_vec(), account("site:bob", 1));
    let first = account("site:ann", 2);
    let standing = first.principal.standing.clone();
    accounts.insert(b"first".to_vec(), first);
    for n in 0..2 * TOKENS_OF_ONE_MAX as u64 {
        let is_full = make_room_of(&"site:ann".into(), &mut accounts);
        assert_eq!(is_full, n + 1 >= TOKENS_OF_ONE_MAX as u64, "{n}");
        accounts.insert(n.to_le_bytes().to_vec(), account("site:ann", 3 + n as i64));
    }
    assert_eq!(accounts.len(), TOKENS_OF_ONE_MAX + 1);
    assert!(standing.is_revoked(), "what it began ends");
    assert!(accounts.contains_key(&b"other"[..]));
}
