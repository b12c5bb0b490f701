//! Who is who and who may what: the rules in force, and how others take their place.
//!
//! Hashing a password takes some 20 ms, so it is done on a thread of its own, and for names that nobody
//! has too: how long an answer takes must not tell who has an account. Rules are read again whole or not
//! at all; who came by an entry that is as it was keeps its standing, and all others lose theirs, which
//! ends what they have open.

use crate::audit::Audit;
use crate::fault::Problem;
use crate::issuers::Issuer;
use crate::policy::{Claim, Policy};
use crate::secrets::{drawn, sha256_hex};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use weir_binding::{Identity, Length, Logins, SharedKey, Workers, hand_over};
use weir_hub::Principal;
use weir_model::Time;

/// What the audit log calls a credential that is none.
const LOGIN_REFUSED: &str = "login-refused";

/// The rules in force.
pub(crate) struct Access {
    /// None where none were set: everyone may everything.
    rules: RwLock<Option<Arc<Policy>>>,
    file: Option<PathBuf>,
    /// What nobody outside can say: a link's certificate is presented with it.
    proof: String,
    audit: Arc<Audit>,
}

impl Access {
    /// The rules of a file, if there is one.
    pub(crate) fn of(file: Option<&Path>, audit: Arc<Audit>) -> Result<Self, Problem> {
        let rules = file.map(|file| Policy::from_file(file, None)).transpose()?;
        let proof = drawn().map_err(|problem| Problem {
            place: "access".into(),
            problem,
        })?;
        Ok(Self {
            rules: RwLock::new(rules.map(Arc::new)),
            file: file.map(Into::into),
            proof,
            audit,
        })
    }

    fn rules(&self) -> Option<Arc<Policy>> {
        let rules = self.rules.read();
        rules.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says whether there are rules.
    pub(crate) fn is_restricted(&self) -> bool {
        self.rules().is_some()
    }

    /// What of the rules lets in more than is usual, in sentences.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.rules().map_or_else(Vec::new, |rules| rules.warnings())
    }

    /// Reads the file again. What is wrong with it leaves the rules as they are; else says how many
    /// entries lost their standing.
    pub(crate) fn reload(&self) -> Result<usize, Problem> {
        let (Some(file), Some(before)) = (&self.file, self.rules()) else {
            return Ok(0);
        };
        let next = Policy::from_file(file, Some(&before))?;
        let revoked = before.replaced_by(&next);
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(next));
        revoked.iter().for_each(|(_, standing)| standing.revoke());
        for (entry, _) in &revoked {
            self.audit.note("entry-revoked", entry, "");
        }
        Ok(revoked.len())
    }

    /// Takes the standing of those whose tokens have expired; says how many.
    pub(crate) fn expire(&self, now: Time) -> usize {
        let issuers = self.issuers();
        issuers.iter().map(|issuer| issuer.expire(now)).sum()
    }

    /// When the next token expires.
    pub(crate) fn next_expiry(&self) -> Option<Time> {
        let issuers = self.issuers();
        issuers.iter().filter_map(|it| it.next_expiry()).min()
    }

    /// Who issues tokens.
    pub(crate) fn issuers(&self) -> Vec<Arc<Issuer>> {
        let rules = self.rules();
        rules.map_or_else(Vec::new, |rules| rules.issuers.clone())
    }

    /// What a link presents whose peer has proved this certificate (DER) to be its own.
    pub(crate) fn presented(&self, certificate: &[u8]) -> String {
        format!("Certificate {} {}", self.proof, sha256_hex(certificate))
    }

    /// Who presents this credential; `checkers` hash passwords.
    pub(crate) fn principal(&self, credential: Option<&str>, checkers: &dyn Workers) -> Identity {
        let Some(policy) = self.rules() else {
            return Identity::Known(Ok(Principal::unrestricted()));
        };
        let Some(credential) = credential else {
            return Identity::Known(Ok(policy.anonymous.clone()));
        };
        if let Some(proved) = credential.strip_prefix("Certificate ") {
            let proved = proved.strip_prefix(&self.proof).map(str::trim);
            return Identity::Known(match proved {
                Some(fingerprint) => Ok(policy.of_certificate(fingerprint)),
                None => self.refused("a certificate is presented in the TLS handshake".into()),
            });
        }
        self.found_out(&policy, policy.identify(credential), checkers)
    }

    /// Who logs in with a name and a password, or with a token in the password's place.
    pub(crate) fn authenticate(
        &self,
        user: &str,
        password: &[u8],
        checkers: &dyn Workers,
    ) -> Identity {
        match self.rules() {
            None => Identity::Known(Ok(Principal::unrestricted())),
            Some(policy) => self.found_out(&policy, policy.log_in(user, password), checkers),
        }
    }

    /// Who a user is that another server has let in.
    pub(crate) fn vouched(&self, name: &str) -> Principal {
        match self.rules() {
            None => Principal::unrestricted(),
            Some(policy) => policy.vouched(name),
        }
    }

    /// Who has a name now.
    pub(crate) fn named(&self, name: &str) -> Option<Principal> {
        match self.rules() {
            None => Some(Principal::unrestricted()),
            Some(policy) => policy.named(name),
        }
    }

    /// How clients can say who they are.
    pub(crate) fn logins(&self) -> Logins {
        self.rules().map_or_else(Logins::default, |it| it.logins())
    }

    /// Secrets that devices share with the gateway.
    pub(crate) fn keys(&self) -> Vec<SharedKey> {
        self.rules().map_or_else(Vec::new, |it| it.keys.clone())
    }

    fn refused(&self, reason: String) -> Result<Principal, String> {
        self.audit.note_refusal(LOGIN_REFUSED, &"".into(), &reason);
        Err(reason)
    }

    fn found_out(&self, policy: &Arc<Policy>, claim: Claim, checkers: &dyn Workers) -> Identity {
        match claim {
            Claim::Known(Err(reason)) => Identity::Known(self.refused(reason)),
            Claim::Known(identified) => Identity::Known(identified),
            Claim::Password(login) => {
                let (policy, audit) = (policy.clone(), self.audit.clone());
                let checked = hand_over(checkers, Length::Short, move || {
                    let checked = policy.check(&login);
                    match &checked {
                        Ok(principal) => audit.note("login", &principal.name, "password"),
                        Err(reason) => {
                            audit.note_refusal(LOGIN_REFUSED, &login.name().into(), reason);
                        }
                    }
                    checked
                });
                checked.map_or(Identity::Busy, Identity::Checking)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::policy::REFUSED;
    use crate::secrets::{hash_password, new_token};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use std::task::{Context, Poll, Waker};
    use weir_binding::Drawer;
    use weir_hub::Verb;

    fn under(policy: Policy) -> Access {
        let access = Access::of(None, Arc::default()).unwrap();
        *access.rules.write().unwrap() = Some(Arc::new(policy));
        access
    }

    fn policy() -> (Policy, String) {
        let (token, hash) = new_token().unwrap();
        let password = hash_password("open sesame").unwrap();
        let text = format!(
            "[role.reader]\nread = [\"heating/#\"]\n[user.ada]\npassword = \"{password}\"\n\
             role = \"reader\"\n[token.board]\nsha256 = \"{hash}\"\nrole = \"reader\"\n"
        );
        (
            Policy::from_table(&text.parse().unwrap(), None).unwrap(),
            token,
        )
    }

    fn basic(login: &str) -> String {
        format!("Basic {}", STANDARD.encode(login))
    }

    /// Who it is in the end, and whether a password was hashed for it on another thread.
    fn identified(access: &Access, credential: Option<&str>) -> (Result<Principal, String>, bool) {
        let drawer = Drawer::with_room(1);
        let identity = access.principal(credential, &drawer);
        settled(identity, &drawer)
    }

    fn settled(identity: Identity, drawer: &Drawer) -> (Result<Principal, String>, bool) {
        match identity {
            Identity::Known(identified) => (identified, false),
            Identity::Checking(mut outcome) => {
                let mut cx = Context::from_waker(Waker::noop());
                assert!(outcome.poll(&mut cx).is_pending());
                assert_eq!(drawer.work_off(), 1);
                match outcome.poll(&mut cx) {
                    Poll::Ready(Some(identified)) => (identified, true),
                    _ => panic!("not found out"),
                }
            }
            Identity::Busy => panic!("busy"),
        }
    }

    #[test]
    fn users_and_tokens_get_their_roles_and_others_nothing() {
        let (policy, token) = policy();
        let access = under(policy);
        let reads = |credential: Option<&str>| {
            let principal = identified(&access, credential).0.unwrap();
            assert!(!principal.grants.allow(Verb::Publish, "heating/x"));
            principal.grants.allow(Verb::Read, "heating/x")
        };
        assert!(reads(Some(&basic("ada:open sesame"))));
        assert!(reads(Some(&format!("Bearer {token}"))));
        assert!(!reads(None));
        for wrong in [
            "Bearer guess",
            "Basic ?",
            &basic("ada:guess"),
            &basic("no colon"),
            "Digest x",
        ] {
            assert!(identified(&access, Some(wrong)).0.is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_login_without_a_header_takes_a_password_or_a_token() {
        let (policy, token) = policy();
        let access = under(policy);
        let login = |user: &str, password: &[u8]| {
            let drawer = Drawer::with_room(1);
            let identity = access.authenticate(user, password, &drawer);
            settled(identity, &drawer)
        };
        let (right, hashed) = login("ada", b"open sesame");
        assert_eq!((&*right.unwrap().name, hashed), ("ada", true));
        assert!(!login("ada", b"open sesame").1, "it is remembered");
        assert!(login("", token.as_bytes()).0.is_ok());
        for (user, password) in [
            ("ada", &b"guess"[..]),
            ("adao", b"pen sesame"),
            ("ada", b"\xff"),
            ("nobody", b""),
        ] {
            assert!(login(user, password).0.is_err(), "{user}");
        }
    }

    #[test]
    fn passwords_are_hashed_elsewhere_and_right_ones_once() {
        let access = under(policy().0);
        for login in ["ada:guess", "nobody:guess", "nobody:open sesame"] {
            let (refused, hashed) = identified(&access, Some(&basic(login)));
            assert_eq!(
                (refused.err().as_deref(), hashed),
                (Some(REFUSED), true),
                "{login}"
            );
        }
        let right = basic("ada:open sesame");
        assert!(identified(&access, Some(&right)).1);
        let (again, hashed) = identified(&access, Some(&right));
        assert_eq!((&*again.unwrap().name, hashed), ("ada", false));
    }

    #[test]
    fn a_name_that_nobody_has_is_compared_with_a_hash_all_the_same() {
        let (policy, _) = policy();
        let (hash, whose) = policy.account("nobody");
        assert_eq!((hash, whose.is_none()), (policy.account("ada").0, true));
    }

    #[test]
    fn guesses_that_wait_are_bounded() {
        let access = under(policy().0);
        let drawer = Drawer::with_room(1);
        let guess = |login: &str| access.principal(Some(&basic(login)), &drawer);
        assert!(matches!(guess("ada:1"), Identity::Checking(_)));
        assert!(matches!(guess("ada:2"), Identity::Busy));
        assert!(matches!(
            access.principal(None, &drawer),
            Identity::Known(Ok(_))
        ));
    }

    #[test]
    fn a_policy_with_a_mistake_is_refused_by_name() {
        let error = |text: &str| {
            Policy::from_table(&text.parse().unwrap(), None)
                .err()
                .unwrap()
        };
        assert!(error("[role.r]\nraed = [\"#\"]").contains("`raed`"));
        assert!(error("[role.r]\nread = [\"a/#/b\"]").contains("byte 2"));
        assert!(error("[role.r]\nread = \"#\"").contains("must be a list"));
        assert!(error("[token.t]\nsha256 = \"0\"\nrole = \"x\"").contains("no role `x`"));
    }

    #[test]
    fn entries_that_are_as_they_were_keep_their_standing() {
        let (_, hash) = new_token().unwrap();
        let text = |filter: &str, other: &str| {
            format!(
                "[role.r]\nread = [\"{filter}\"]\n[role.s]\nread = [\"s\"]\nrate = 9\n\
                 [token.a]\nsha256 = \"{hash}\"\nrole = \"r\"\n\
                 [token.b]\nsha256 = \"{other}\"\nrole = \"s\"\n"
            )
        };
        let read = |text: String, before: Option<&Policy>| {
            Policy::from_table(&text.parse().unwrap(), before).unwrap()
        };
        let revoked = |first: &str, second: &str, other: &str| {
            let before = read(text(first, "b"), None);
            let next = read(text(second, other), Some(&before));
            let gone = before.replaced_by(&next);
            gone.into_iter().map(|(entry, _)| entry).collect::<Vec<_>>()
        };
        assert!(revoked("x", "x", "b").is_empty());
        assert_eq!(revoked("x", "y", "b"), ["token a"]);
        assert_eq!(revoked("x", "x", "c"), ["token b"]);
    }

    #[test]
    fn an_address_with_an_entry_of_its_own_ends_its_domains() {
        let text = |more: &str| {
            let text = "[role.r]\nread = [\"#\"]\n[role.s]\nread = [\"s\"]\n[jid.\"a.org\"]\nrole = \"r\"\n\
                        [jid.\"b.org\"]\nrole = \"r\"\n";
            format!("{text}{more}").parse().unwrap()
        };
        let before = Policy::from_table(&text(""), None).unwrap();
        let stricter = text("[jid.\"ann@A.org\"]\nrole = \"s\"\n");
        let next = Policy::from_table(&stricter, Some(&before)).unwrap();
        let gone = before.replaced_by(&next).into_iter();
        assert_eq!(
            gone.map(|(entry, _)| entry).collect::<Vec<_>>(),
            ["jid a.org"]
        );
        let again = Policy::from_table(&stricter, Some(&next)).unwrap();
        assert!(next.replaced_by(&again).is_empty());
        assert!(again.vouched("bob@a.org").grants.allow(Verb::Read, "x"));
        assert!(!again.vouched("ann@a.org").grants.allow(Verb::Read, "x"));
    }

    #[test]
    fn an_address_that_gets_an_entry_ends_what_it_began_as_anybody() {
        let text = |more: &str| {
            let text =
                "[role.r]\nread = [\"#\"]\n[role.s]\nread = [\"s\"]\n[anonymous]\nrole = \"r\"\n";
            format!("{text}{more}").parse().unwrap()
        };
        let before = Policy::from_table(&text(""), None).unwrap();
        let named = text("[jid.\"ann@a.org\"]\nrole = \"s\"\n");
        let next = Policy::from_table(&named, Some(&before)).unwrap();
        let gone: Vec<_> = before.replaced_by(&next).into_iter().collect();
        assert_eq!(gone.len(), 1);
        assert_eq!(gone[0].0, "jid *");
        gone.iter().for_each(|(_, standing)| standing.revoke());
        assert!(before.vouched("ann@a.org").standing.is_revoked());
        assert!(!before.anonymous.standing.is_revoked());
        assert!(!next.vouched("ann@a.org").grants.allow(Verb::Read, "x"));
        assert!(next.vouched("bob@a.org").grants.allow(Verb::Read, "x"));
    }

    #[test]
    fn strangers_of_other_servers_share_the_rate_of_anybody() {
        let text = "[role.r]\nread = [\"#\"]\nrate = 1\n[anonymous]\nrole = \"r\"\n";
        let policy = Policy::from_table(&text.parse().unwrap(), None).unwrap();
        let folder = crate::testing::Folder::new("strangers");
        let opened = crate::run::open_data(&folder.config(""));
        let (_, hub) = opened.unwrap();
        let now = weir_model::Time::from_millis(1_795_000_000_000);
        assert!(hub.caller(now, &policy.anonymous).is_ok());
        let stranger = policy.vouched("ann@a.org");
        assert!(hub.caller(now, &stranger).is_err());
    }

    #[test]
    fn a_certificate_cannot_be_presented_in_a_header() {
        let text = format!(
            "[role.r]\nread = [\"#\"]\n[certificate.c]\nrole = \"r\"\nsha256 = \"{}\"",
            sha256_hex(b"der")
        );
        let access = under(Policy::from_table(&text.parse().unwrap(), None).unwrap());
        let who = identified(&access, Some(&access.presented(b"der")))
            .0
            .unwrap();
        assert_eq!(&*who.name, "c");
        let stranger = identified(&access, Some(&access.presented(b"other")))
            .0
            .unwrap();
        assert!(!stranger.grants.allow(Verb::Read, "x"));
        let forged = format!("Certificate {}", sha256_hex(b"der"));
        assert!(identified(&access, Some(&forged)).0.is_err());
        assert!(identified(&access, Some("Certificate  ")).0.is_err());
    }
}
