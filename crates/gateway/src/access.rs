//! Who is who and who may what: the policy file.
//!
//! Secrets are kept as hashes: passwords by argon2, tokens (which are random) by SHA-256.

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
use std::sync::{Arc, Mutex, PoisonError};
use toml::Table;
use weir_hub::{Grants, Principal, Verb};
use weir_model::Filter;

/// The rules in force.
pub(crate) enum Access {
    /// None were set: everyone may everything.
    Open,
    /// Those of a policy file.
    Policy(Policy),
}

/// A policy file, read.
pub(crate) struct Policy {
    users: HashMap<String, (String, Principal)>,
    tokens: HashMap<String, Principal>,
    anonymous: Principal,
    verified: Mutex<HashMap<Vec<u8>, Principal>>,
}

impl Access {
    /// Who presents this credential.
    pub(crate) fn principal(&self, credential: Option<&str>) -> Result<Principal, String> {
        match (self, credential) {
            (Access::Open, _) => Ok(Principal::unrestricted()),
            (Access::Policy(policy), None) => Ok(policy.anonymous.clone()),
            (Access::Policy(policy), Some(credential)) => policy.authenticate(credential),
        }
    }
}

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
        refuse_unknown(table, "policy", &["role", "user", "token", "anonymous"])?;
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
        let anonymous = match table.get("anonymous") {
            None => Principal {
                name: "anonymous".into(),
                grants: Arc::default(),
            },
            Some(value) => holder("anonymous", "anonymous", value)?,
        };
        Ok(Self {
            users,
            tokens,
            anonymous,
            verified: Mutex::default(),
        })
    }

    fn authenticate(&self, credential: &str) -> Result<Principal, String> {
        let remembered = digest(&SHA256, credential.as_bytes()).as_ref().to_vec();
        let lock = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(principal) = lock().get(&remembered) {
            return Ok(principal.clone());
        }
        // Outside of the lock: who guesses passwords holds up no one whose credential is known.
        let principal = self.verify(credential)?;
        let mut verified = lock();
        if verified.len() >= VERIFIED_MAX {
            verified.clear();
        }
        verified.insert(remembered, principal.clone());
        Ok(principal)
    }

    fn verify(&self, credential: &str) -> Result<Principal, String> {
        let (scheme, secret) = credential.split_once(' ').unwrap_or((credential, ""));
        if scheme.eq_ignore_ascii_case("bearer") {
            let known = self.tokens.get(&sha256_hex(secret.trim()));
            return known.cloned().ok_or_else(|| "unknown token".to_owned());
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return Err("authorization must be `Bearer TOKEN` or `Basic ...`".into());
        }
        let refused = || "wrong user name or password".to_owned();
        let decoded = STANDARD.decode(secret.trim()).map_err(|_| refused())?;
        let decoded = String::from_utf8(decoded).map_err(|_| refused())?;
        let (name, password) = decoded.split_once(':').ok_or_else(refused)?;
        let (hash, principal) = self.users.get(name).ok_or_else(refused)?;
        let hash = PasswordHash::new(hash).map_err(|_| refused())?;
        let verified = Argon2::default().verify_password(password.as_bytes(), &hash);
        verified.map(|()| principal.clone()).map_err(|_| refused())
    }
}

fn refuse_unknown(table: &Table, whose: &str, known: &[&str]) -> Result<(), String> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!(
            "{whose}: unknown key `{key}`; known here: {}",
            known.join(", ")
        )),
    }
}

fn section<'a>(
    table: &'a Table,
    name: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a toml::Value)>, String> {
    match table.get(name) {
        None => Ok(None.into_iter().flatten()),
        Some(toml::Value::Table(entries)) => Ok(Some(entries.iter()).into_iter().flatten()),
        Some(_) => Err(format!("`{name}` must hold sections: [{name}.NAME]")),
    }
}

fn text<'a>(value: &'a toml::Value, what: &str, name: &str, key: &str) -> Result<&'a str, String> {
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

    fn policy() -> (Policy, String) {
        let (token, hash) = new_token().unwrap();
        let password = hash_password("open sesame").unwrap();
        let text = format!(
            "[role.reader]\nread = [\"heating/#\"]\n[user.ada]\npassword = \"{password}\"\n\
             role = \"reader\"\n[token.board]\nsha256 = \"{hash}\"\nrole = \"reader\"\n"
        );
        (Policy::from_table(&text.parse().unwrap()).unwrap(), token)
    }

    #[test]
    fn users_and_tokens_get_their_roles_and_others_nothing() {
        let (policy, token) = policy();
        let access = Access::Policy(policy);
        let basic = format!("Basic {}", STANDARD.encode("ada:open sesame"));
        for credential in [basic, format!("Bearer {token}")] {
            let principal = access.principal(Some(&credential)).unwrap();
            assert!(principal.grants.allow(Verb::Read, "heating/x"));
            assert!(!principal.grants.allow(Verb::Publish, "heating/x"));
        }
        assert!(access.principal(Some("Bearer guess")).is_err());
        assert!(access.principal(Some("Basic YWRhOmd1ZXNz")).is_err());
        assert!(
            !access
                .principal(None)
                .unwrap()
                .grants
                .allow(Verb::Read, "heating/x")
        );
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
