//! The policy file, read: who there is, and what each may.
//!
//! Secrets are kept as hashes: passwords by argon2, tokens (which are random) by SHA-256. A credential that
//! was right once is remembered as long as these rules are in force, by its SHA-256, and only right ones
//! are, so guesses fill no memory.

use crate::entries::{Holder, refuse_unknown, role, section, text};
use crate::fault::Problem;
use crate::issuers::Issuer;
use crate::jwt::Token;
use crate::limits::VERIFIED_MAX;
use crate::secrets::{is_hash, is_password, name_and_password, sha256, sha256_hex};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toml::{Table, Value};
use weir_binding::{Logins, SharedKey};
use weir_hub::{Principal, Standing, Verb};
use weir_model::Filter;

/// A policy file, read.
pub(crate) struct Policy {
    users: HashMap<String, (String, Principal)>,
    /// A password's hash, to be compared with where a name is nobody's.
    decoy: Option<String>,
    tokens: HashMap<String, Principal>,
    /// By the SHA-256 of the certificate.
    certificates: HashMap<String, Principal>,
    /// Users of other servers, and whole domains of them, by address.
    jids: HashMap<String, Principal>,
    /// All others of other servers.
    strangers: Principal,
    pub(crate) issuers: Vec<Arc<Issuer>>,
    pub(crate) anonymous: Principal,
    pub(crate) keys: Vec<SharedKey>,
    verified: Mutex<HashMap<Vec<u8>, Principal>>,
    /// Each entry as it stood, by its kind and name.
    entries: Entries,
}

type Entries = BTreeMap<(String, String), Entry>;

/// An entry of the file with its role, and who comes by it.
struct Entry {
    stood: (Value, Value),
    principal: Principal,
}

/// What a credential comes to before any password is hashed.
pub(crate) enum Claim {
    Known(Result<Principal, String>),
    Password(Login),
}

/// A name and a password, and the digest of the credential that they came in.
pub(crate) struct Login {
    name: String,
    password: String,
    digest: Vec<u8>,
}

impl Login {
    /// Whose it says it is.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

pub(crate) const REFUSED: &str = "wrong user name or password";

const SECTIONS: &[&str] = &[
    "role",
    "user",
    "token",
    "certificate",
    "issuer",
    "jid",
    "oscore",
    "anonymous",
];

impl Policy {
    /// Reads a policy file that takes the place of another; entries that are the same in both keep their
    /// standing.
    pub(crate) fn from_file(path: &Path, before: Option<&Self>) -> Result<Self, Problem> {
        let place = path.display().to_string();
        let fail = |problem: String| Problem {
            place: place.clone(),
            problem,
        };
        let text = std::fs::read_to_string(path)
            .map_err(|error| fail(format!("cannot be read: {error}")))?;
        let table: Table = text.parse().map_err(|error| fail(format!("{error}")))?;
        Self::from_table(&table, before).map_err(fail)
    }

    pub(crate) fn from_table(table: &Table, before: Option<&Self>) -> Result<Self, String> {
        refuse_unknown(table, "policy", SECTIONS)?;
        let mut roles = BTreeMap::new();
        for (name, value) in section(table, "role")? {
            roles.insert(name.clone(), role(name, value)?);
        }
        let entries = RefCell::new(Entries::new());
        let holder_beside = |what: &str, name: &str, value: &Value, other: Option<&Standing>| {
            let role = text(value, what, name, "role")?;
            let role = roles
                .get(role)
                .ok_or(format!("{what} `{name}`: no role `{role}`"))?;
            let key = (what.to_owned(), name.to_owned());
            let stood = (value.clone(), role.value().clone());
            let same = before.and_then(|before| before.entries.get(&key));
            let same = same.filter(|entry| entry.stood == stood);
            let standing = same.map(|entry| entry.principal.standing.clone());
            let principal = Principal {
                name: name.into(),
                grants: role.grants.clone(),
                standing: standing.unwrap_or_else(|| match other {
                    Some(other) => other.beside(role.rate),
                    None => Standing::new(role.rate),
                }),
            };
            let entry = Entry {
                stood,
                principal: principal.clone(),
            };
            entries.borrow_mut().insert(key, entry);
            Ok::<_, String>(principal)
        };
        let holder = |what: &str, name: &str, value: &Value| holder_beside(what, name, value, None);
        let users = users(table, &holder)?;
        let anonymous = match table.get("anonymous") {
            None => Principal {
                name: "anonymous".into(),
                grants: Arc::default(),
                standing: Standing::default(),
            },
            Some(value) => holder("anonymous", "anonymous", value)?,
        };
        let mut issuers = Vec::new();
        for (name, value) in section(table, "issuer")? {
            let known = before.map_or(&[][..], |before| &before.issuers);
            issuers.push(Issuer::read(name, value, &roles, known)?);
        }
        let decoy = users.values().map(|(hash, _)| hash.clone()).min();
        let fingerprints = by_hash(table, "certificate", &holder)?;
        Ok(Self {
            users,
            decoy,
            tokens: by_hash(table, "token", &holder)?,
            certificates: fingerprints,
            jids: jids(table, &holder)?,
            strangers: match stranger(table)? {
                Some(value) => holder_beside("jid", "*", &value, Some(&anonymous.standing))?,
                None => anonymous.clone(),
            },
            issuers,
            anonymous,
            keys: crate::keys::read(table, &holder)?,
            verified: Mutex::default(),
            entries: entries.into_inner(),
        })
    }

    /// The entries, and the tokens of issuers, that another policy has not as they are here.
    pub(crate) fn replaced_by(&self, next: &Self) -> Vec<(String, Standing)> {
        let gone = self.entries.iter().filter(|(key, entry)| {
            let known = next.entries.get(*key);
            known.is_none_or(|known| known.stood != entry.stood)
        });
        let gone = gone.map(|((what, name), entry)| {
            let standing = entry.principal.standing.clone();
            (format!("{what} {name}"), standing)
        });
        let is_kept = |issuer: &Arc<Issuer>| next.issuers.iter().any(|it| Arc::ptr_eq(it, issuer));
        let issuers = self.issuers.iter().filter(|issuer| !is_kept(issuer));
        gone.chain(issuers.flat_map(|issuer| issuer.retire()))
            .collect()
    }

    /// How clients can say who they are.
    pub(crate) fn logins(&self) -> Logins {
        Logins {
            users: !self.users.is_empty(),
            tokens: !self.tokens.is_empty() || !self.issuers.is_empty(),
        }
    }

    /// What lets in more than is usual.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let everything = Filter::parse("#").ok();
        let may = |verb| {
            let wanted = everything.as_ref();
            wanted.is_some_and(|filter| self.anonymous.grants.may_overlap(verb, filter))
        };
        let told = [
            (Verb::Publish, "publish"),
            (Verb::Change, "change the catalog"),
        ];
        let open = told.into_iter().filter(|(verb, _)| may(*verb));
        open.map(|(_, what)| format!("who has no credential may {what}: [anonymous] of the policy"))
            .collect()
    }

    /// Whose certificate has this SHA-256; what nobody has is nobody's.
    pub(crate) fn of_certificate(&self, fingerprint: &str) -> Principal {
        let known = self.certificates.get(fingerprint);
        known.unwrap_or(&self.anonymous).clone()
    }

    /// Who has this name now, by an entry or by a token of an issuer that has not expired.
    pub(crate) fn named(&self, name: &str) -> Option<Principal> {
        let mut entries = self.entries.values().map(|entry| &entry.principal);
        let known = entries.find(|principal| &*principal.name == name).cloned();
        let anonymous = || (name == &*self.anonymous.name).then(|| self.anonymous.clone());
        let issued = || self.issuers.iter().find_map(|issuer| issuer.named(name));
        known.or_else(anonymous).or_else(issued)
    }

    /// What is said of the address, else of its domain, else of anybody; whoever it is keeps the name.
    pub(crate) fn vouched(&self, name: &str) -> Principal {
        let address = name.to_lowercase();
        let known = self.jids.get(&address);
        let known = known.or_else(|| self.jids.get(domain_of(&address)));
        let known = known.unwrap_or(&self.strangers);
        Principal {
            name: name.into(),
            ..known.clone()
        }
    }

    pub(crate) fn identify(&self, credential: &str) -> Claim {
        let (scheme, secret) = credential.split_once(' ').unwrap_or((credential, ""));
        if scheme.eq_ignore_ascii_case("bearer") {
            let known = self.of_token(secret.trim());
            return Claim::Known(known.unwrap_or_else(|| Err("unknown token".to_owned())));
        }
        let digest = sha256(credential.as_bytes());
        if let Some(principal) = self.verified().get(&digest) {
            return Claim::Known(Ok(principal.clone()));
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

    /// Whose token this is: one of the file, or what an issuer has signed; `None` where it is neither.
    fn of_token(&self, token: &str) -> Option<Result<Principal, String>> {
        let known = self.tokens.get(&sha256_hex(token.as_bytes()));
        if let Some(principal) = known {
            return Some(Ok(principal.clone()));
        }
        let is_meant = !self.issuers.is_empty() && Token::is_meant(token);
        is_meant.then(|| Issuer::identify(&self.issuers, token))
    }

    /// The same for a name and a password that no header carried.
    pub(crate) fn log_in(&self, user: &str, password: &[u8]) -> Claim {
        let Ok(password) = std::str::from_utf8(password) else {
            return Claim::Known(Err(REFUSED.into()));
        };
        if let Some(identified) = self.of_token(password) {
            return Claim::Known(identified);
        }
        // The length keeps apart what would join to the same text.
        let login = [
            &user.len().to_le_bytes()[..],
            user.as_bytes(),
            password.as_bytes(),
        ]
        .concat();
        let digest = sha256(&login);
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
    pub(crate) fn account(&self, name: &str) -> (Option<&str>, Option<&Principal>) {
        match self.users.get(name) {
            Some((hash, principal)) => (Some(hash), Some(principal)),
            None => (self.decoy.as_deref(), None),
        }
    }

    /// Hashes the password, and remembers the credential if it is right.
    pub(crate) fn check(&self, login: &Login) -> Result<Principal, String> {
        let (hash, principal) = self.account(&login.name);
        let right = hash.is_some_and(|hash| is_password(&login.password, hash));
        let principal = principal.filter(|_| right).ok_or(REFUSED)?;
        let mut verified = self.verified();
        if verified.len() >= VERIFIED_MAX {
            verified.clear();
        }
        verified.insert(login.digest.clone(), principal.clone());
        Ok(principal.clone())
    }
}

fn users(
    table: &Table,
    holder: Holder<'_>,
) -> Result<HashMap<String, (String, Principal)>, String> {
    let mut users = HashMap::new();
    for (name, user) in section(table, "user")? {
        let hash = text(user, "user", name, "password")?;
        if !is_hash(hash) {
            return Err(format!(
                "user `{name}`: `password` must be what `weir user` prints"
            ));
        }
        users.insert(name.clone(), (hash.to_owned(), holder("user", name, user)?));
    }
    Ok(users)
}

/// Tokens and certificates, by their SHA-256; colons between the digits are passed over.
fn by_hash(
    table: &Table,
    what: &str,
    holder: Holder<'_>,
) -> Result<HashMap<String, Principal>, String> {
    let mut known = HashMap::new();
    for (name, value) in section(table, what)? {
        let hash = text(value, what, name, "sha256")?.to_ascii_lowercase();
        known.insert(hash.replace(':', ""), holder(what, name, value)?);
    }
    Ok(known)
}

/// An address with an entry of its own is an exception from its domain's: with one more or fewer, the domain's entry
/// is another one, and what it began ends.
fn jids(table: &Table, holder: Holder<'_>) -> Result<HashMap<String, Principal>, String> {
    let names: BTreeSet<String> = section(table, "jid")?
        .map(|(name, _)| name.to_lowercase())
        .collect();
    let mut jids = HashMap::new();
    for (name, jid) in section(table, "jid")? {
        let (name, mut jid) = (name.to_lowercase(), jid.clone());
        let is_within = |one: &&String| domain_of(one) == name && **one != name;
        let exceptions = names.iter().filter(is_within).cloned().map(Value::from);
        if let Value::Table(jid) = &mut jid {
            jid.insert("exceptions".into(), exceptions.collect::<Vec<_>>().into());
        }
        jids.insert(name.clone(), holder("jid", &name, &jid)?);
    }
    Ok(jids)
}

/// The entry of whom no other names: what anybody has, at the rate of all of them together. With other addresses named
/// it is another entry, and what was begun by it ends.
fn stranger(table: &Table) -> Result<Option<Value>, String> {
    let Some(Value::Table(anybody)) = table.get("anonymous") else {
        return Ok(None);
    };
    let named = section(table, "jid")?.map(|(name, _)| Value::from(name.to_lowercase()));
    let mut stranger = anybody.clone();
    stranger.insert("exceptions".into(), named.collect::<Vec<_>>().into());
    Ok(Some(Value::Table(stranger)))
}

/// The domain of an address: what has no `@` is one.
fn domain_of(address: &str) -> &str {
    address
        .split_once('@')
        .map_or(address, |(_, domain)| domain)
}
