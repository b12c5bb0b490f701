//! `cargo xtask licences`: whether every package that is built may be used, comes from where packages
//! may come from, and is none of those that are banned; by the lists of `deny.toml`.
//!
//! What it deliberately does not do: read licence texts, look for known vulnerabilities, or fetch
//! anything. `make advisories` runs cargo-deny itself, on the same file. That takes minutes to build on
//! a bare machine, and this a second, so this is what every run of the tests asks.

use crate::finding::Finding;
use serde::Deserialize;
use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::path::Path;
use std::process::Command;

/// The one registry; packages without a source are folders of this repository.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
const LOCK: &str = "Cargo.lock";
const RULES: &str = "deny.toml";

pub(crate) const USAGE: &str = "cargo xtask licences";

#[derive(Deserialize)]
struct Rules {
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    name: String,
    reason: String,
}

/// Checks all packages that any feature of the workspace brings.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let rules = std::fs::read_to_string(root.join(RULES)).map_err(|e| format!("{RULES}: {e}"))?;
    let rules: Rules = toml::from_str(&rules).map_err(|e| format!("{RULES}: {e}"))?;
    let lock = std::fs::read_to_string(root.join(LOCK)).map_err(|e| format!("{LOCK}: {e}"))?;
    let metadata = metadata(root)?;
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata names no packages")?;
    let mut findings = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let breaches = breaches(package, &rules);
        findings.extend(
            breaches
                .map(|rule| Finding::new(LOCK, line_of(&lock, name), format!("{name}: {rule}"))),
        );
    }
    findings.sort();
    Ok(findings)
}

fn metadata(root: &Path) -> Result<Value, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--all-features",
        ])
        .current_dir(root)
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Where the lock file names a package; 1 where it does not.
fn line_of(lock: &str, name: &str) -> usize {
    let line = format!("name = \"{name}\"");
    lock.lines()
        .position(|other| other == line)
        .map_or(1, |index| index + 1)
}

fn breaches(package: &Value, rules: &Rules) -> impl Iterator<Item = String> {
    [
        licence(package, &rules.licenses.allow),
        source(package),
        ban(package, &rules.bans.deny),
        wildcard(package),
    ]
    .into_iter()
    .flatten()
}

/// The expression must be one that the allowed licences satisfy (SPDX 2.3, annex D; `/` stands for OR in
/// manifests of old).
fn licence(package: &Value, allow: &[String]) -> Option<String> {
    let Some(text) = package["license"].as_str() else {
        return Some("names no licence".to_owned());
    };
    let expression = match Expression::parse_mode(text, ParseMode::LAX) {
        Ok(expression) => expression,
        Err(reason) => return Some(format!("licence `{text}`: {}", reason.reason)),
    };
    let is_allowed =
        expression.evaluate(|licence| allow.iter().any(|name| *name == licence.to_string()));
    (!is_allowed).then(|| format!("licence `{text}` is not allowed by {RULES}"))
}

fn source(package: &Value) -> Option<String> {
    let source = package["source"].as_str()?;
    (source != REGISTRY).then(|| format!("comes from `{source}`"))
}

fn ban(package: &Value, deny: &[Ban]) -> Option<String> {
    let ban = deny
        .iter()
        .find(|ban| package["name"] == ban.name.as_str())?;
    Some(format!("is banned: {}", ban.reason))
}

/// A dependency of ours on any version whatever.
fn wildcard(package: &Value) -> Option<String> {
    if package["source"].is_string() {
        return None;
    }
    let wants = package["dependencies"].as_array()?;
    let wild = wants
        .iter()
        .find(|want| want["req"] == "*" && want["path"].is_null())?;
    Some(format!("takes any version of {}", wild["name"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules() -> Rules {
        let text = "licenses.allow = [\"MIT\", \"Apache-2.0 WITH LLVM-exception\"]\n\
                    [[bans.deny]]\nname = \"bad\"\nreason = \"worse\"";
        toml::from_str(text).expect("rules")
    }

    fn found(package: &Value) -> Vec<String> {
        breaches(package, &rules()).collect()
    }

    #[test]
    fn one_of_several_licences_is_enough() {
        for text in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Unlicense",
            "(GPL-2.0 OR MIT) AND MIT",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(
                found(&json!({"name": "a", "license": text, "source": REGISTRY})).is_empty(),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_allowed_is_told() {
        for text in ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0"] {
            let told = found(&json!({"name": "a", "license": text, "source": REGISTRY}));
            assert_eq!(
                told,
                [format!("licence `{text}` is not allowed by deny.toml")]
            );
        }
        let told = found(&json!({"name": "a", "source": REGISTRY}));
        assert_eq!(told, ["names no licence"]);
    }

    #[test]
    fn other_sources_bans_and_any_version_are_told() {
        let told =
            found(&json!({"name": "bad", "license": "MIT", "source": "git+https://example.org"}));
        assert_eq!(
            told,
            ["comes from `git+https://example.org`", "is banned: worse"]
        );
        let wants = json!([{"name": "b", "req": "*", "path": null}]);
        let told = found(&json!({"name": "ours", "license": "MIT", "dependencies": wants}));
        assert_eq!(told, ["takes any version of \"b\""]);
    }
}
