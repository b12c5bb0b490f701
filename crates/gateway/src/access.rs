//! Who is who and who may what: the policy file.
//!
//! Secrets are kept as hashes: passwords by argon2, tokens (which are random) by SHA-256. Hashing a
//! password takes some 20 ms, so it is done on a thread of its own, and for names that nobody has too:
//! how long an answer takes must not tell who has an account. A credential that was right once is
//! remembered until the gateway ends, by its SHA-256: the policy is read at the start only, so what was
//! right stays right, and only right ones are remembered, so guesses fill no memory.

use crate::config::Problem;
use crate::limits::VERIFIED_MAX;
use argon2::Argon2;
use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toml::Table;
use weir_binding::{Identity, Logins, SharedKey, Workers, hand_over};
use weir_hub::{Grants, Principal, Verb};
use weir_model::Filter;

/// The rules in force.
pub(crate) enum Access {
    /// None were set: everyone may everything.
    Open,
    /// Those of a policy file.
    Policy(Arc<Policy>),
}

/// A policy file, read.
pub(crate) struct Policy {
    users: HashMap<String, (String, Principal)>,
    /// A password's hash, to be compared with where a name is nobody's.
    decoy: Option<String>,
    tokens: HashMap<String, Principal>,
    /// Users of other servers, and whole domains of them, by address.
    jids: HashMap<String, Principal>,
    anonymous: Principal,
    keys: Vec<SharedKey>,
    verified: Mutex<HashMap<Vec<u8>, Principal>>,
}

impl Access {
    /// Who presents this credential; `checkers` hash passwords.
    pub(crate) fn principal(&self, credential: Option<&str>, checkers: &dyn Workers) -> Identity {
        let (policy, credential) = match (self, credential) {
            (Access::Open, _) => return Identity::Known(Ok(Principal::unrestricted())),
            (Access::Policy(policy), None) => {
                return Identity::Known(Ok(policy.anonymous.clone()));
            }
            (Access::Policy(policy), Some(credential)) => (policy, credential),
        };
        found_out(policy, policy.identify(credential), checkers)
    }

    /// Who a user is that another server has let in.
    pub(crate) fn vouched(&self, name: &str) -> Principal {
        match self {
            Access::Open => Principal::unrestricted(),
            Access::Policy(policy) => policy.vouched(name),
        }
    }

    /// How clients can say who they are.
    pub(crate) fn logins(&self) -> Logins {
        match self {
            Access::Open => Logins::default(),
            Access::Policy(policy) => Logins {
                users: !policy.users.is_empty(),
                tokens: !policy.tokens.is_empty(),
            },
        }
    }

    /// Secrets that devices share with the gateway.
    pub(crate) fn keys(&self) -> &[SharedKey] {
        match self {
            Access::Open => &[],
            Access::Policy(policy) => &policy.keys,
        }
    }

    /// Who logs in with a name and a password, or with a token in the password's place.
    pub(crate) fn authenticate(
        &self,
        user: &str,
        password: &[u8],
        checkers: &dyn Workers,
    ) -> Identity {
        match self {
            Access::Open => Identity::Known(Ok(Principal::unrestricted())),
            Access::Policy(policy) => found_out(policy, policy.log_in(user, password), checkers),
        }
    }
}

fn found_out(policy: &Arc<Policy>, claim: Claim, checkers: &dyn Workers) -> Identity {
    match claim {
        Claim::Known(identified) => Identity::Known(identified),
        Claim::Password(login) => {
            let policy = policy.clone();
            let checked = hand_over(checkers, move || policy.check(&login));
            checked.map_or(Identity::Busy, Identity::Checking)
        }
    }
}

/// What a credential comes to before any password is hashed.
enum Claim {
    Known(Result<Principal, String>),
    Password(Login),
}

/// A name and a password, and the digest of the credential that they came in.
struct Login {
    name: String,
    password: String,
    digest: Vec<u8>,
}

const REFUSED: &str = "wrong user name or password";

impl Policy {
    /// Reads a policy file.
    pub(crate) fn from_file(path: &Path) -> Result<Self, Problem> {
        let place = path.display().to_string();
        let fail = |problem: String| Problem {
            place: place.clone(),
            problem,
        };
        let text = std::fs::read_to_string(path)
            .map_err(|error| fail(format!("cannot be read: {error}")))?;
        let table: Table = text.parse().map_err(|error| fail(format!("{error}")))?;
        Self::from_table(&table).map_err(fail)
    }

    fn from_table(table: &Table) -> Result<Self, String> {
        let known = ["role", "user", "token", "jid", "oscore", "anonymous"];
        refuse_unknown(table, "policy", &known)?;
        let mut roles = BTreeMap::new();
        for (name, role) in section(table, "role")? {
            roles.insert(name.clone(), Arc::new(grants(name, role)?));
        }
        let holder = |what: &str, name: &str, value: &toml::Value| {
            let role = text(value, what, name, "role")?;
            let grants = roles
                .get(role)
                .ok_or(format!("{what} `{name}`: no role `{role}`"))?;
            Ok::<_, String>(Principal {
                name: name.into(),
                grants: grants.clone(),
            })
        };
        let mut users = HashMap::new();
        for (name, user) in section(table, "user")? {
            let hash = text(user, "user", name, "password")?;
            PasswordHash::new(hash).map_err(|_| {
                format!("user `{name}`: `password` must be what `weir user` prints")
            })?;
            users.insert(name.clone(), (hash.to_owned(), holder("user", name, user)?));
        }
        let mut tokens = HashMap::new();
        for (name, token) in section(table, "token")? {
            let hash = text(token, "token", name, "sha256")?;
            tokens.insert(hash.to_ascii_lowercase(), holder("token", name, token)?);
        }
        let mut jids = HashMap::new();
        for (name, jid) in section(table, "jid")? {
            jids.insert(name.to_lowercase(), holder("jid", name, jid)?);
        }
        let decoy = users
            .values()
            .map(|(hash, _): &(String, _)| hash.clone())
            .min();
        let anonymous = match table.get("anonymous") {
            None => Principal {
                name: "anonymous".into(),
                grants: Arc::default(),
            },
            Some(value) => holder("anonymous", "anonymous", value)?,
        };
        Ok(Self {
            users,
            decoy,
            tokens,
            jids,
            anonymous,
            keys: crate::keys::read(table, &holder)?,
            verified: Mutex::default(),
        })
    }

    /// What is said of the address, else of its domain, else of anybody; whoever it is keeps the name.
    fn vouched(&self, name: &str) -> Principal {
        let address = name.to_lowercase();
        let domain = address
            .split_once('@')
            .map_or(address.as_str(), |(_, domain)| domain);
        let known = self.jids.get(&address).or_else(|| self.jids.get(domain));
        Principal {
            name: name.into(),
            grants: known.unwrap_or(&self.anonymous).grants.clone(),
        }
    }

    fn identify(&self, credential: &str) -> Claim {
        let digest = digest(&SHA256, credential.as_bytes()).as_ref().to_vec();
        if let Some(principal) = self.verified().get(&digest) {
            return Claim::Known(Ok(principal.clone()));
        }
        let (scheme, secret) = credential.split_once(' ').unwrap_or((credential, ""));
        if scheme.eq_ignore_ascii_case("bearer") {
            let known = self.tokens.get(&sha256_hex(secret.trim())).cloned();
            return Claim::Known(known.ok_or_else(|| "unknown token".to_owned()));
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            let problem = "authorization must be `Bearer TOKEN` or `Basic ...`";
            return Claim::Known(Err(problem.into()));
        }
        match name_and_password(secret) {
            Some((name, password)) => Claim::Password(Login {
                name,
                password,
                digest,
            }),
            None => Claim::Known(Err(REFUSED.into())),
        }
    }

    /// The same for a name and a password that no header carried.
    fn log_in(&self, user: &str, password: &[u8]) -> Claim {
        let Ok(password) = std::str::from_utf8(password) else {
            return Claim::Known(Err(REFUSED.into()));
        };
        if let Some(principal) = self.tokens.get(&sha256_hex(password)) {
            return Claim::Known(Ok(principal.clone()));
        }
        // The length keeps apart what would join to the same text.
        let login = [
            &user.len().to_le_bytes()[..],
            user.as_bytes(),
            password.as_bytes(),
        ]
        .concat();
        let digest = digest(&SHA256, &login).as_ref().to_vec();
        if let Some(principal) = self.verified().get(&digest) {
            return Claim::Known(Ok(principal.clone()));
        }
        Claim::Password(Login {
            name: user.to_owned(),
            password: password.to_owned(),
            digest,
        })
    }

    fn verified(&self) -> MutexGuard<'_, HashMap<Vec<u8>, Principal>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hash that a password is compared with, and whose it is, where it is anybody's.
    fn account(&self, name: &str) -> (Option<&str>, Option<&Principal>) {
        match self.users.get(name) {
            Some((hash, principal)) => (Some(hash), Some(principal)),
            None => (self.decoy.as_deref(), None),
        }
    }

    /// Hashes the password, and remembers the credential if it is right.
    fn check(&self, login: &Login) -> Result<Principal, String> {
        let (hash, principal) = self.account(&login.name);
        let hash = hash.and_then(|hash| PasswordHash::new(hash).ok());
        let right = hash.is_some_and(|hash| {
            let compared = Argon2::default().verify_password(login.password.as_bytes(), &hash);
            compared.is_ok()
        });
        let principal = principal.filter(|_| right).ok_or(REFUSED)?;
        let mut verified = self.verified();
        if verified.len() >= VERIFIED_MAX {
            verified.clear();
        }
        verified.insert(login.digest.clone(), principal.clone());
        Ok(principal.clone())
    }
}

/// The user-id and the password of `Basic` (RFC 7617 section 2).
fn name_and_password(secret: &str) -> Option<(String, String)> {
    let decoded = STANDARD.decode(secret.trim()).ok()?;
    let decoded = String::from_utf8(decoded).ok()?;
    let (name, password) = decoded.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

pub(crate) fn refuse_unknown(table: &Table, whose: &str, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!(
            "{whose}: unknown key `{key}`; known here: {}",
            known.join(", ")
        )),
    }
}

pub(crate) fn section<'a>(
    table: &'a Table,
    name: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a toml::Value)>, String> {
    match table.get(name) {
        None => Ok(None.into_iter().flatten()),
        Some(toml::Value::Table(entries)) => Ok(Some(entries.iter()).into_iter().flatten()),
        Some(_) => Err(format!("`{name}` must hold sections: [{name}.NAME]")),
    }
}

pub(crate) fn text<'a>(
    value: &'a toml::Value,
    what: &str,
    name: &str,
    key: &str,
) -> Result<&'a str, String> {
    let found = value.get(key).and_then(toml::Value::as_str);
    found.ok_or_else(|| format!("{what} `{name}`: needs `{key}`"))
}

/// `read = ["heating/#"]`: filters by verb.
fn grants(name: &str, role: &toml::Value) -> Result<Grants, String> {
    let table = role
        .as_table()
        .ok_or_else(|| format!("role `{name}` must be a section"))?;
    let verbs: Vec<_> = Verb::ALL.iter().map(|(verb, _)| *verb).collect();
    refuse_unknown(table, &format!("role `{name}`"), &verbs)?;
    let mut rules = Vec::new();
    for (verb_name, verb) in Verb::ALL {
        let Some(filters) = table.get(*verb_name) else {
            continue;
        };
        let listed = || format!("role `{name}`: {verb_name} must be a list of topic filters");
        for filter in filters.as_array().ok_or_else(listed)? {
            let filter = filter.as_str().ok_or_else(listed)?;
            let parsed = Filter::parse(filter)
                .map_err(|error| format!("role `{name}`: {verb_name} `{filter}`: {error}"))?;
            rules.push((*verb, parsed));
        }
    }
    Ok(Grants::new(rules))
}

fn sha256_hex(secret: &str) -> String {
    let hash = digest(&SHA256, secret.as_bytes());
    hash.as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The argon2 hash of a password, as the policy file keeps it.
pub fn hash_password(password: &str) -> Result<String, String> {
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string())
        .map_err(|error| error.to_string())
}

/// A new token (192 random bits) and the SHA-256 that the policy file keeps.
pub fn new_token() -> Result<(String, String), String> {
    let mut bytes = [0; 24];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| "no randomness to be had".to_owned())?;
    let token = URL_SAFE_NO_PAD.encode(bytes);
    let hash = sha256_hex(&token);
    Ok((token, hash))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::task::{Context, Poll, Waker};
    use weir_binding::Drawer;

    fn policy() -> (Policy, String) {
        let (token, hash) = new_token().unwrap();
        let password = hash_password("open sesame").unwrap();
        let text = format!(
            "[role.reader]\nread = [\"heating/#\"]\n[user.ada]\npassword = \"{password}\"\n\
             role = \"reader\"\n[token.board]\nsha256 = \"{hash}\"\nrole = \"reader\"\n"
        );
        (Policy::from_table(&text.parse().unwrap()).unwrap(), token)
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
        let access = Access::Policy(Arc::new(policy));
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
    fn a_login_without_a_header_takes_a_password_or_a_token_in_its_place() {
        let (policy, token) = policy();
        let access = Access::Policy(Arc::new(policy));
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
    fn passwords_are_hashed_elsewhere_for_every_name_and_a_right_one_only_once() {
        let access = Access::Policy(Arc::new(policy().0));
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
        let access = Access::Policy(Arc::new(policy().0));
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
        let error = |text: &str| Policy::from_table(&text.parse().unwrap()).err().unwrap();
        assert!(error("[role.r]\nraed = [\"#\"]").contains("`raed`"));
        assert!(error("[role.r]\nread = [\"a/#/b\"]").contains("byte 2"));
        assert!(error("[role.r]\nread = \"#\"").contains("must be a list"));
        assert!(error("[token.t]\nsha256 = \"0\"\nrole = \"x\"").contains("no role `x`"));
    }
}
