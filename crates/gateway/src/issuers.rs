//! Bearer tokens that others have signed: JSON Web Tokens (RFC 7519) of OpenID Connect providers.
//!
//! What it deliberately does not do: log anybody in, ask a provider about a token, take a token that is
//! signed with a shared secret. A token counts if its signature is by one of the issuer's keys, as long as
//! that key is published, and what it claims holds (`jwt::Expected`); what it may is the role that the
//! policy gives its claim. Keys are fetched by a thread of their own, so that nobody's request waits for a
//! provider.

use crate::clock::now;
use crate::entries::{Role, refuse_unknown, text};
use crate::fetch::{agent, is_private};
use crate::jwt::{Claims, Expected, Holder, Keys, NoKey, Signer, Token, media_type};
use crate::limits::{ISSUER_KEYS_BYTES_MAX, ISSUER_TIME_MAX, TOKENS_OF_ONE_MAX, VERIFIED_MAX};
use crate::secrets::sha256;
use serde_json::Value as Json;
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

/// How far `nbf` and `iat` may lie ahead where nothing is said, and at most, seconds.
const LEEWAY: u32 = 5;
const LEEWAY_MAX: u32 = 300;
/// The types of tokens that are taken where nothing is said, beside those that say none (RFC 8725 section 3.11).
const TYPES: &[&str] = &["jwt", "at+jwt"];

const KNOWN: &[&str] = &[
    "issuer",
    "audience",
    "jwks",
    "role",
    "claim",
    "roles",
    "types",
    "leeway_seconds",
];

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
    /// The only types of tokens that are taken, where the policy names some.
    types: Option<Vec<String>>,
    leeway: u32,
    keys: Mutex<Fetched>,
    /// A token named a key that is not there.
    wanted: AtomicBool,
    /// A token gave way to another or lost its key, and what was begun with it is to be ended.
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
struct Fetched {
    set: Option<Arc<Keys>>,
    asked: Option<Instant>,
}

/// By the digest of a token.
type Accounts = HashMap<Vec<u8>, Account>;

/// Whose token was right, by which key, and until when.
struct Account {
    principal: Principal,
    signer: Signer,
    expires: Time,
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

    /// Whose token this is, by the one of them that has issued it.
    pub(crate) fn identify(issuers: &[Arc<Self>], token: &str) -> Result<Principal, String> {
        Self::identify_at(issuers, token, now())
    }

    fn identify_at(issuers: &[Arc<Self>], text: &str, now: Time) -> Result<Principal, String> {
        let digest = sha256(text.as_bytes());
        let mut known = issuers.iter().filter_map(|it| it.known(&digest, now));
        if let Some(known) = known.next() {
            return known;
        }
        let token = Token::read(text).map_err(|problem| format!("token: {problem}"))?;
        let mut reason = String::from("token: `iss` is no issuer of the policy");
        let claimed = token.claims.get("iss").and_then(Json::as_str);
        for issuer in issuers.iter().filter(|it| claimed == Some(&it.issuer)) {
            match issuer.principal(&token, &digest, now) {
                Ok(principal) => return Ok(principal),
                Err(refused) => reason = format!("issuer `{}`: {refused}", issuer.name),
            }
        }
        Err(reason)
    }

    /// Who has shown a token before.
    fn known(&self, digest: &[u8], now: Time) -> Option<Result<Principal, String>> {
        let accounts = self.accounts();
        let account = accounts.get(digest)?;
        Some(match account.expires > now {
            true => Ok(account.principal.clone()),
            false => Err(format!("issuer `{}`: the token has expired", self.name)),
        })
    }

    fn principal(&self, token: &Token, digest: &[u8], now: Time) -> Result<Principal, String> {
        if !self.takes_type(token.kind.as_deref()) {
            return Err("`typ` is of a token that is for something else".into());
        }
        let signer = self.signer(token)?;
        let expected = Expected {
            issuer: &self.issuer,
            audience: &self.audience,
            leeway: self.leeway,
            now,
        };
        let holder = expected.check(&token.claims)?;
        self.account(digest, &token.claims, holder, signer)
    }

    fn takes_type(&self, kind: Option<&str>) -> bool {
        match (&self.types, kind) {
            (None, None) => true,
            (None, Some(kind)) => TYPES.contains(&kind),
            (Some(types), kind) => types.iter().any(|it| Some(&**it) == kind),
        }
    }

    /// The key that has signed a token.
    fn signer(&self, token: &Token) -> Result<Signer, String> {
        let set = self.keys().set.clone().unwrap_or_default();
        match token.signer(&set) {
            Ok(Some(signer)) => Ok(signer),
            Ok(None) => Err("the signature is not by its key".into()),
            Err(NoKey::Ambiguous) => Err("too many keys, and it names none".into()),
            Err(NoKey::Unknown) => {
                self.wanted.store(true, Ordering::Relaxed);
                Err("no such key".into())
            }
        }
    }

    fn account(
        &self,
        digest: &[u8],
        claims: &Claims,
        holder: Holder,
        signer: Signer,
    ) -> Result<Principal, String> {
        let role = self.role_of(claims);
        let role = role.ok_or("the policy gives this token no role")?;
        let name: Arc<str> = format!("{}:{}", self.name, holder.subject).into();
        let mut accounts = self.accounts();
        if self.retired.load(Ordering::Relaxed) {
            return Err("it is withdrawn".into());
        }
        // The keys may be others since it was checked; whoever takes one away looks at the accounts then.
        if !self.holds(&signer) {
            return Err("its key is withdrawn".into());
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
            signer,
            expires: holder.expires,
        };
        accounts.insert(digest.to_vec(), account);
        Ok(principal)
    }

    fn holds(&self, signer: &Signer) -> bool {
        let keys = self.keys();
        keys.set.as_ref().is_some_and(|set| set.hold(signer))
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

    /// Takes the standing of those whose tokens have expired; says of how many what was begun is to be ended.
    pub(crate) fn expire(&self, now: Time) -> usize {
        let expired = self.keep(|account| account.expires > now);
        expired + usize::from(self.evicted.swap(false, Ordering::Relaxed))
    }

    /// When the next token expires.
    pub(crate) fn next_expiry(&self) -> Option<Time> {
        self.accounts().values().map(|it| it.expires).min()
    }

    /// Takes the standing of all but some; says of how many.
    fn keep(&self, holds: impl Fn(&Account) -> bool) -> usize {
        let mut accounts = self.accounts();
        let before = accounts.len();
        accounts.retain(|_, account| {
            let holds = holds(account);
            if !holds {
                account.principal.standing.revoke();
            }
            holds
        });
        before - accounts.len()
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
            Ok(set) => self.take_over(set),
            Err(problem) => {
                tracing::warn!(issuer = self.name, problem, "the keys stay as they are");
            }
        }
    }

    /// Takes a new set in the place of the one before; what a key has signed that is not in it ends.
    fn take_over(&self, set: Keys) {
        let set = Arc::new(set);
        self.keys().set = Some(set.clone());
        let withdrawn = self.keep(|account| set.hold(&account.signer)) > 0;
        self.evicted.fetch_or(withdrawn, Ordering::Relaxed);
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

    fn fetch(&self) -> Result<Keys, String> {
        let text = match &self.source {
            Source::File(path) => {
                std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?
            }
            Source::Url(url) => fetched(url)?,
            Source::Discovery(url) => fetched(&self.discovered(url)?)?,
        };
        Keys::read(&text).map_err(|problem| format!("not a JSON Web Key Set: {problem}"))
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

    fn keys(&self) -> MutexGuard<'_, Fetched> {
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

/// Has one of a subject's tokens give way where it has as many as it may, so that it alone cannot take all places;
/// says whether one did.
fn make_room_of(name: &Arc<str>, accounts: &mut Accounts) -> bool {
    let of_one = accounts.iter().filter(|(_, it)| it.principal.name == *name);
    let (count, first) = of_one.fold(
        (0, None::<(Time, &Vec<u8>)>),
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

fn fetched(url: &str) -> Result<String, String> {
    let fail = |error: ureq::Error| format!("{url}: {error}");
    // What is asked for elsewhere instead would not have to come by TLS.
    let agent = agent(&None, ISSUER_TIME_MAX);
    let mut answer = agent.get(url).call().map_err(fail)?;
    if answer.status() != 200 {
        return Err(format!("{url}: answered with {}", answer.status()));
    }
    let body = answer.body_mut().with_config().limit(ISSUER_KEYS_BYTES_MAX);
    body.read_to_string().map_err(fail)
}

/// Keys come by TLS, or from this machine.
fn safe(url: &str) -> Result<(), String> {
    match is_private(url) {
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
            types: self.types()?,
            leeway: self.leeway()?,
            keys: Mutex::default(),
            wanted: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            accounts: Mutex::default(),
        })
    }

    fn types(&self) -> Result<Option<Vec<String>>, String> {
        let Some(types) = self.value.get("types") else {
            return Ok(None);
        };
        let texts = types.as_array().filter(|all| !all.is_empty());
        let texts = texts.map(|all| all.iter().map(|it| it.as_str().map(media_type)).collect());
        match texts.flatten() {
            Some(types) => Ok(Some(types)),
            None => Err(self.fault("`types` must be a list of texts such as \"at+jwt\"")),
        }
    }

    fn leeway(&self) -> Result<u32, String> {
        let Some(seconds) = self.value.get("leeway_seconds") else {
            return Ok(LEEWAY);
        };
        let seconds = seconds.as_integer().and_then(|it| u32::try_from(it).ok());
        let seconds = seconds.filter(|seconds| *seconds <= LEEWAY_MAX);
        seconds.ok_or_else(|| self.fault(&format!("`leeway_seconds` must be 0 to {LEEWAY_MAX}")))
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
mod tests;
