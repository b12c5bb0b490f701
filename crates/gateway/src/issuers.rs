//! Bearer tokens that others have signed: JSON Web Tokens (RFC 7519) of OpenID Connect providers.
//!
//! What it deliberately does not do: log anybody in, ask a provider about a token, take a token that is
//! signed with a shared secret. A token counts if its signature is by one of the issuer's keys, `iss` and
//! `aud` are as the policy says, and `exp` is to come; what it may is the role that the policy gives its
//! claim. Keys are fetched by a thread of their own, so that nobody's request waits for a provider.

use crate::context::now;
use crate::limits::{ISSUER_KEYS_BYTES_MAX, ISSUER_TIME_MAX, TOKENS_OF_ONE_MAX, VERIFIED_MAX};
use crate::policy::{Role, refuse_unknown, text};
use crate::secrets::sha256;
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use toml::Value;
use weir_hub::{Principal, Standing};
use weir_model::Time;

/// How often keys are fetched that a provider may have changed.
const REFRESH: Duration = Duration::from_secs(600);
/// How soon they are fetched where none are there, or a token names another.
const RETRY: Duration = Duration::from_secs(10);
/// How often a file of keys is read.
const REREAD: Duration = Duration::from_secs(2);

const KNOWN: &[&str] = &["issuer", "audience", "jwks", "role", "claim", "roles"];

type Claims = Map<String, Json>;

/// Somebody whose signature is taken.
pub(crate) struct Issuer {
    name: String,
    /// The entry, and the roles that it names, as they stood.
    stood: (Value, Vec<(String, Value)>),
    issuer: String,
    audience: String,
    source: Source,
    role: Option<Role>,
    claim: Option<String>,
    roles: BTreeMap<String, Role>,
    keys: Mutex<Keys>,
    /// A token named a key that is not there.
    wanted: AtomicBool,
    /// A token gave way to another, and what was begun with it is to be ended.
    evicted: AtomicBool,
    /// The policy has it no more; written and read under the lock of the accounts.
    retired: AtomicBool,
    accounts: Mutex<Accounts>,
}

/// Where keys come from.
enum Source {
    /// A JSON Web Key Set.
    File(String),
    /// The same of the Web.
    Url(String),
    /// What OpenID Connect Discovery 1.0 section 4 says, as the URL of the configuration.
    Discovery(String),
}

#[derive(Default)]
struct Keys {
    set: Option<JwkSet>,
    asked: Option<Instant>,
}

/// By the digest of a token.
type Accounts = HashMap<Vec<u8>, Account>;

/// Whose token was right, and until when.
struct Account {
    principal: Principal,
    expires: u64,
}

impl Issuer {
    /// Reads an entry; where one of `known` was made of the same, it is that one.
    pub(crate) fn read(
        name: &str,
        value: &Value,
        all: &BTreeMap<String, Role>,
        known: &[Arc<Self>],
    ) -> Result<Arc<Self>, String> {
        let entry = Entry { name, value, all };
        let made = entry.issuer()?;
        let same = known
            .iter()
            .find(|it| it.name == name && it.stood == made.stood);
        Ok(same.cloned().unwrap_or_else(|| Arc::new(made)))
    }

    /// Whose token this is, by whichever of them has issued it.
    pub(crate) fn identify(issuers: &[Arc<Self>], token: &str) -> Result<Principal, String> {
        let digest = sha256(token.as_bytes());
        let mut reason = String::from("unknown token");
        for issuer in issuers {
            match issuer.principal(token, &digest) {
                Ok(principal) => return Ok(principal),
                Err(refused) => reason = refused,
            }
        }
        Err(reason)
    }

    fn principal(&self, token: &str, digest: &[u8]) -> Result<Principal, String> {
        if let Some(account) = self.accounts().get(digest) {
            return match account.expires > seconds(now()) {
                true => Ok(account.principal.clone()),
                false => Err(format!("issuer `{}`: the token has expired", self.name)),
            };
        }
        let fail = |error: jsonwebtoken::errors::Error| format!("issuer `{}`: {error}", self.name);
        let header = decode_header(token).map_err(fail)?;
        let key = self.key(&header)?;
        let mut rules = Validation::new(header.alg);
        rules.set_issuer(&[&self.issuer]);
        rules.set_audience(&[&self.audience]);
        rules.set_required_spec_claims(&["exp", "iss", "aud"]);
        rules.validate_nbf = true;
        rules.leeway = 5;
        let claims = decode::<Claims>(token, &key, &rules).map_err(fail)?.claims;
        self.account(digest, &claims)
    }

    /// The key that a token is signed with; one that fits its algorithm, so that no public key is ever
    /// taken for a shared secret (RFC 8725 section 3.1).
    fn key(&self, header: &Header) -> Result<DecodingKey, String> {
        let keys = self.keys();
        let all = keys.set.as_ref().map_or(&[][..], |set| &set.keys);
        let fits = |key: &&Jwk| match &header.kid {
            Some(id) => key.common.key_id.as_ref() == Some(id),
            None => true,
        };
        let found = all.iter().filter(fits).find(|key| is_of(key, header.alg));
        let Some(found) = found else {
            self.wanted.store(true, Ordering::Relaxed);
            return Err(format!("issuer `{}`: no such key", self.name));
        };
        DecodingKey::from_jwk(found).map_err(|error| format!("issuer `{}`: {error}", self.name))
    }

    fn account(&self, digest: &[u8], claims: &Claims) -> Result<Principal, String> {
        let role = self.role_of(claims).ok_or_else(|| {
            let name = &self.name;
            format!("issuer `{name}`: the policy gives this token no role")
        })?;
        let subject = claims.get("sub").and_then(Json::as_str).unwrap_or("?");
        let name: Arc<str> = format!("{}:{subject}", self.name).into();
        let expires = claims.get("exp").and_then(Json::as_f64).unwrap_or(0.0) as u64;
        let mut accounts = self.accounts();
        if self.retired.load(Ordering::Relaxed) {
            return Err(format!("issuer `{}` is withdrawn", self.name));
        }
        // Another connection may have shown it meanwhile: one token has one standing.
        if let Some(known) = accounts.get(digest) {
            return Ok(known.principal.clone());
        }
        let evicted = make_room_of(&name, &mut accounts);
        self.evicted.fetch_or(evicted, Ordering::Relaxed);
        if accounts.len() >= VERIFIED_MAX {
            return Err("too many tokens are in use: try again later".into());
        }
        // Many tokens of somebody are no faster than one.
        let before = accounts.values().find(|it| it.principal.name == name);
        let standing = match before {
            Some(before) => before.principal.standing.beside(role.rate),
            None => Standing::new(role.rate),
        };
        let principal = Principal {
            name,
            grants: role.grants.clone(),
            standing,
        };
        let account = Account {
            principal: principal.clone(),
            expires,
        };
        accounts.insert(digest.to_vec(), account);
        Ok(principal)
    }

    /// The role of the first value of the claim that has one; else everybody's, if there is one.
    fn role_of(&self, claims: &Claims) -> Option<&Role> {
        let claim = self.claim.as_ref().and_then(|claim| claims.get(claim));
        let values: Vec<&str> = match claim {
            Some(Json::String(text)) => text.split(' ').collect(),
            Some(Json::Array(values)) => values.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        };
        let mut of_claim = values.iter().filter_map(|value| self.roles.get(*value));
        of_claim.next().or(self.role.as_ref())
    }

    /// Takes the standing of those whose tokens have expired; says how many.
    pub(crate) fn expire(&self, now: Time) -> usize {
        let now = seconds(now);
        let mut accounts = self.accounts();
        let before = accounts.len();
        accounts.retain(|_, account| {
            let holds = account.expires > now;
            if !holds {
                account.principal.standing.revoke();
            }
            holds
        });
        before - accounts.len() + usize::from(self.evicted.swap(false, Ordering::Relaxed))
    }

    /// Takes no token any more; gives the standings of all whose tokens are in use.
    pub(crate) fn retire(&self) -> Vec<(String, Standing)> {
        let accounts = self.accounts();
        self.retired.store(true, Ordering::Relaxed);
        let principals = accounts.values().map(|account| &account.principal);
        principals
            .map(|it| (format!("issuer {}", it.name), it.standing.clone()))
            .collect()
    }

    /// Fetches the keys, where they are due.
    pub(crate) fn refresh(&self) {
        if !self.is_due() {
            return;
        }
        self.keys().asked = Some(Instant::now());
        self.wanted.store(false, Ordering::Relaxed);
        match self.fetch() {
            Ok(set) => self.keys().set = Some(set),
            Err(problem) => {
                tracing::warn!(issuer = self.name, problem, "the keys stay as they are");
            }
        }
    }

    fn is_due(&self) -> bool {
        let keys = self.keys();
        let wanted = self.wanted.load(Ordering::Relaxed) || keys.set.is_none();
        let every = match (&self.source, wanted) {
            (Source::File(_), _) => REREAD,
            (_, true) => RETRY,
            (_, false) => REFRESH,
        };
        keys.asked.is_none_or(|asked| asked.elapsed() >= every)
    }

    fn fetch(&self) -> Result<JwkSet, String> {
        let text = match &self.source {
            Source::File(path) => {
                std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?
            }
            Source::Url(url) => fetched(url)?,
            Source::Discovery(url) => fetched(&self.discovered(url)?)?,
        };
        key_set(&text).map_err(|problem| format!("not a JSON Web Key Set: {problem}"))
    }

    /// Where the keys are (OpenID Connect Discovery 1.0 section 4.3: the issuer is the one asked for).
    fn discovered(&self, url: &str) -> Result<String, String> {
        let text = fetched(url)?;
        let found: Json = serde_json::from_str(&text).map_err(|error| format!("{url}: {error}"))?;
        if found["issuer"].as_str() != Some(&self.issuer) {
            return Err(format!("{url} is of another issuer"));
        }
        let keys = found["jwks_uri"].as_str().ok_or("no `jwks_uri`")?;
        safe(keys)?;
        Ok(keys.to_owned())
    }

    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who has this name by one of its tokens.
    pub(crate) fn named(&self, name: &str) -> Option<Principal> {
        let accounts = self.accounts();
        let mut principals = accounts.values().map(|account| &account.principal);
        principals.find(|it| &*it.name == name).cloned()
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says whether a key is of the kind that an algorithm signs with; no shared secret is.
fn is_of(key: &Jwk, algorithm: Algorithm) -> bool {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match &key.algorithm {
        AlgorithmParameters::RSA(_) => {
            matches!(algorithm, RS256 | RS384 | RS512 | PS256 | PS384 | PS512)
        }
        AlgorithmParameters::EllipticCurve(_) => matches!(algorithm, ES256 | ES384),
        AlgorithmParameters::OctetKeyPair(_) => algorithm == EdDSA,
        AlgorithmParameters::OctetKey(_) => false,
    }
}

/// The keys of a set that are understood; others are left out (RFC 7517 section 5).
fn key_set(text: &str) -> Result<JwkSet, String> {
    let set: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let keys = set["keys"].as_array().ok_or("no array `keys`")?;
    let read = |key: &Json| serde_json::from_value(key.clone()).ok();
    Ok(JwkSet {
        keys: keys.iter().filter_map(read).collect(),
    })
}

/// Has one of a subject's tokens give way where it has as many as it may, so that it alone cannot take all places;
/// says whether one did.
fn make_room_of(name: &Arc<str>, accounts: &mut Accounts) -> bool {
    let of_one = accounts.iter().filter(|(_, it)| it.principal.name == *name);
    let (count, first) = of_one.fold(
        (0, None::<(u64, &Vec<u8>)>),
        |(count, first), (digest, it)| {
            let earlier = first.filter(|(expires, _)| *expires <= it.expires);
            (count + 1, earlier.or(Some((it.expires, digest))))
        },
    );
    let Some(digest) = first
        .filter(|_| count >= TOKENS_OF_ONE_MAX)
        .map(|(_, it)| it.clone())
    else {
        return false;
    };
    if let Some(gone) = accounts.remove(&digest) {
        gone.principal.standing.revoke();
    }
    true
}

fn seconds(time: Time) -> u64 {
    u64::try_from(time.nanos() / 1_000_000_000).unwrap_or(0)
}

fn fetched(url: &str) -> Result<String, String> {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(ISSUER_TIME_MAX))
        .build()
        .new_agent();
    let mut answer = agent
        .get(url)
        .call()
        .map_err(|error| format!("{url}: {error}"))?;
    let body = answer.body_mut().with_config().limit(ISSUER_KEYS_BYTES_MAX);
    body.read_to_string()
        .map_err(|error| format!("{url}: {error}"))
}

/// Keys come by TLS, or from this machine.
fn safe(url: &str) -> Result<(), String> {
    let local = ["http://127.0.0.1:", "http://[::1]:", "http://localhost:"];
    let may = url.starts_with("https://") || local.iter().any(|begin| url.starts_with(begin));
    match may {
        true => Ok(()),
        false => Err(format!(
            "`{url}`: keys must come by https, or from this machine"
        )),
    }
}

/// An entry of the policy file.
struct Entry<'a> {
    name: &'a str,
    value: &'a Value,
    all: &'a BTreeMap<String, Role>,
}

impl Entry<'_> {
    fn issuer(&self) -> Result<Issuer, String> {
        let whose = format!("issuer `{}`", self.name);
        let table = self
            .value
            .as_table()
            .ok_or_else(|| self.fault("must be a section"))?;
        refuse_unknown(table, &whose, KNOWN)?;
        let issuer = text(self.value, "issuer", self.name, "issuer")?.to_owned();
        let optional = |key: &str| self.value.get(key).and_then(Value::as_str);
        let mut named = Vec::new();
        let role = optional("role")
            .map(|role| self.role(role, &mut named))
            .transpose()?;
        let mut roles = BTreeMap::new();
        for (value, role) in table
            .get("roles")
            .and_then(Value::as_table)
            .into_iter()
            .flatten()
        {
            let role = role
                .as_str()
                .ok_or_else(|| self.fault("`roles` name roles"))?;
            roles.insert(value.clone(), self.role(role, &mut named)?);
        }
        if role.is_none() && roles.is_empty() {
            return Err(self.fault("needs `role`, or `claim` and `roles`"));
        }
        if table.contains_key("claim") == roles.is_empty() {
            return Err(self.fault("`claim` and `roles` go together"));
        }
        Ok(Issuer {
            name: self.name.into(),
            stood: (self.value.clone(), named),
            source: self.source(optional("jwks"), &issuer)?,
            issuer,
            audience: text(self.value, "issuer", self.name, "audience")?.to_owned(),
            role,
            claim: optional("claim").map(Into::into),
            roles,
            keys: Mutex::default(),
            wanted: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            accounts: Mutex::default(),
        })
    }

    fn source(&self, jwks: Option<&str>, issuer: &str) -> Result<Source, String> {
        let checked = |url: &str| safe(url).map_err(|problem| self.fault(&problem));
        match jwks {
            Some(url) if url.contains("://") => {
                checked(url)?;
                Ok(Source::Url(url.into()))
            }
            Some(file) => Ok(Source::File(file.into())),
            None => {
                checked(issuer)?;
                let issuer = issuer.trim_end_matches('/');
                let url = format!("{issuer}/.well-known/openid-configuration");
                Ok(Source::Discovery(url))
            }
        }
    }

    fn role(&self, name: &str, named: &mut Vec<(String, Value)>) -> Result<Role, String> {
        let found = self.all.get(name);
        let role = found.ok_or_else(|| self.fault(&format!("no role `{name}`")))?;
        named.push((name.to_owned(), role.value().clone()));
        Ok(role.clone())
    }

    fn fault(&self, problem: &str) -> String {
        format!("issuer `{}`: {problem}", self.name)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn keys_of_a_kind_that_is_not_known_cost_the_others_nothing() {
        let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let known = format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"a","x":"{x}"}}"#);
        let other = r#"{"kty":"AKP","alg":"ML-DSA-44","pub":"AA"}"#;
        let set = format!(r#"{{"keys":[{other},{{}},7,{known}]}}"#);
        let read = key_set(&set).unwrap();
        assert_eq!(read.keys.len(), 1);
        assert_eq!(read.keys[0].common.key_id.as_deref(), Some("a"));
        for wrong in ["{}", "[]", r#"{"keys":{}}"#, "x"] {
            assert!(key_set(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn many_tokens_of_one_subject_leave_room_for_others() {
        let account = |name: &str, expires| Account {
            principal: Principal {
                name: name.into(),
                grants: Arc::default(),
                standing: Standing::new(None),
            },
            expires,
        };
        let mut accounts = Accounts::new();
        accounts.insert(b"other".to_vec(), account("site:bob", 1));
        let first = account("site:ann", 2);
        let standing = first.principal.standing.clone();
        accounts.insert(b"first".to_vec(), first);
        for n in 0..2 * TOKENS_OF_ONE_MAX as u64 {
            let is_full = make_room_of(&"site:ann".into(), &mut accounts);
            assert_eq!(is_full, n + 1 >= TOKENS_OF_ONE_MAX as u64, "{n}");
            accounts.insert(n.to_le_bytes().to_vec(), account("site:ann", 3 + n));
        }
        assert_eq!(accounts.len(), TOKENS_OF_ONE_MAX + 1);
        assert!(standing.is_revoked(), "what it began ends");
        assert!(accounts.contains_key(&b"other"[..]));
    }
}
