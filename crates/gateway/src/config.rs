//! One TOML file, the command line over the environment over the file, each plug-in's section its own.
//!
//! A table within a section, and a list within that, are keys with dots: `[mqtt.bridge.site]` with
//! `in = ["a/#"]` sets `bridge.site.in.0` of the section `mqtt`.

use crate::acme::{DOMAINS, TLS_KEYS};
use crate::fault::Problem;
use crate::trace::TRACE_KEYS;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use weir_binding::{ConfigFault, Section, nearest};
use weir_registry::{BINDINGS, BUS_KEYS, HISTORY_KEYS, LOG_KEYS, SERVICES, STORE_KEYS};

/// Values as text by section and key, and where each was set.
#[derive(Clone, Debug, Default)]
pub struct Config {
    values: BTreeMap<(String, String), (String, Origin)>,
    file: Option<(PathBuf, String)>,
}

#[derive(Clone, Debug)]
enum Origin {
    /// Byte offset in the file.
    File(usize),
    Environment(String),
    CommandLine,
}

/// Sections that are the gateway's own, with their keys.
const OWN: &[(&str, &[&str])] = &[
    ("data", &["dir"]),
    ("tls", TLS_KEYS),
    ("access", &["policy", "audit"]),
    ("log", LOG_KEYS),
    ("bus", BUS_KEYS),
    ("history", HISTORY_KEYS),
    ("store", STORE_KEYS),
    ("trace", TRACE_KEYS),
    (
        "gateway",
        &[
            "threads",
            "log",
            "memory_bytes",
            "catalog_bytes",
            "stall_secs",
        ],
    ),
];

impl Config {
    /// Reads a file; a missing one is an error only where it was asked for by name.
    pub fn from_file(path: &Path) -> Result<Self, Problem> {
        let place = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Problem {
            place,
            problem: format!("cannot be read: {error}"),
        })?;
        Self::from_text(path, text)
    }

    /// Reads the text of a file.
    pub fn from_text(path: &Path, text: String) -> Result<Self, Problem> {
        let mut config = Self {
            file: Some((path.into(), text.clone())),
            ..Self::default()
        };
        let table = DeTable::parse(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            config.problem_at(at, error.message().to_owned())
        })?;
        for (section, value) in table.get_ref() {
            let DeValue::Table(keys) = value.get_ref() else {
                let problem = format!("`{}` must be a section: [name]", section.get_ref());
                return Err(config.problem_at(section.span().start, problem));
            };
            for (key, value) in keys {
                let at = key.span().start;
                let Some(text) = list(value.get_ref()) else {
                    config.take_value(section.get_ref(), key.get_ref(), value.get_ref(), at)?;
                    continue;
                };
                if !is_list(section.get_ref(), key.get_ref()) {
                    let problem = format!("`{}` must be a single value", key.get_ref());
                    return Err(config.problem_at(at, problem));
                }
                let text = text.map_err(|problem| {
                    config.problem_at(at, format!("`{}`: {problem}", key.get_ref()))
                })?;
                let name = (section.get_ref().to_string(), key.get_ref().to_string());
                config.values.insert(name, (text, Origin::File(at)));
            }
        }
        Ok(config)
    }

    /// Takes a value, or all that a table or a list holds.
    fn take_value(
        &mut self,
        section: &str,
        key: &str,
        value: &DeValue<'_>,
        at: usize,
    ) -> Result<(), Problem> {
        match value {
            DeValue::Table(keys) => keys.iter().try_for_each(|(inner, value)| {
                let (key, at) = (format!("{key}.{}", inner.get_ref()), inner.span().start);
                self.take_value(section, &key, value.get_ref(), at)
            }),
            DeValue::Array(values) => values.iter().enumerate().try_for_each(|(place, value)| {
                let (key, at) = (format!("{key}.{place}"), value.span().start);
                self.take_value(section, &key, value.get_ref(), at)
            }),
            single => {
                let text = scalar(single).ok_or_else(|| {
                    self.problem_at(at, format!("`{key}` must be a text, a number or a boolean"))
                })?;
                let name = (section.to_owned(), key.to_owned());
                self.values.insert(name, (text, Origin::File(at)));
                Ok(())
            }
        }
    }

    /// Sets `section.key=value` from the command line.
    pub fn set(&mut self, assignment: &str) -> Result<(), Problem> {
        let parsed = assignment.split_once('=').and_then(|(name, value)| {
            name.split_once('.')
                .map(|(section, key)| (section, key, value))
        });
        let (section, key, value) = parsed.ok_or_else(|| Problem {
            place: format!("--set {assignment}"),
            problem: "expected section.key=value such as http.listen=127.0.0.1:8080".into(),
        })?;
        let list = as_list(section, key, value).transpose();
        let list = list.map_err(|problem| Problem {
            place: format!("--set {assignment}"),
            problem,
        })?;
        let value = list.as_deref().unwrap_or(value);
        self.put(section, key, value, Origin::CommandLine);
        Ok(())
    }

    /// Takes `WEIR_SECTION_KEY` variables, without replacing what the command line set. A dot of a key is
    /// two underscores there: `WEIR_MQTT_BRIDGE__SITE__URL`.
    pub fn take_environment(&mut self, variables: impl Iterator<Item = (String, String)>) {
        for (name, value) in variables {
            let Some(rest) = name.strip_prefix("WEIR_").map(str::to_ascii_lowercase) else {
                continue;
            };
            // What is nearly a section is put as it is, for the check to refuse; what is far from all is another
            // program's (`WEIR_SERVICE_HOST` is Kubernetes').
            let misspelt = misspelt_section(&rest);
            for section in sections().into_iter().chain(misspelt) {
                let key = rest
                    .strip_prefix(section)
                    .and_then(|rest| rest.strip_prefix('_'));
                if let Some(key) = key.filter(|key| !key.is_empty()) {
                    let key = key.replace("__", ".");
                    // What is no good list stays as it is, for its key to refuse.
                    let list = as_list(section, &key, &value).and_then(Result::ok);
                    let value = list.as_deref().unwrap_or(&value);
                    self.put(section, &key, value, Origin::Environment(name.clone()));
                }
            }
        }
    }

    fn put(&mut self, section: &str, key: &str, value: &str, origin: Origin) {
        self.values
            .insert((section.into(), key.into()), (value.into(), origin));
    }

    /// A value of the gateway's own sections.
    pub fn text(&self, section: &str, key: &str) -> Option<&str> {
        let found = self.values.get(&(section.to_owned(), key.to_owned()));
        found
            .map(|(text, _)| text.as_str())
            .filter(|text| !text.is_empty())
    }

    /// The section of a plug-in.
    pub fn section(&self, name: &str) -> Section {
        let mut section = Section::new(name);
        let of_section = self.values.iter().filter(|((known, _), _)| known == name);
        of_section.for_each(|((_, key), (value, _))| section.set(key, value));
        section
    }

    /// Network threads, where their number is set.
    pub(crate) fn threads(&self) -> Result<Option<usize>, Problem> {
        let section = &mut self.section("gateway");
        let threads = section.parsed("threads", 0, "a number of threads");
        match threads {
            Ok(0) => Ok(None),
            Ok(threads) => Ok(Some(threads)),
            Err(fault) => Err(self.locate(&fault)),
        }
    }

    /// Keys and sections that nobody knows.
    pub(crate) fn unknown(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (section, key) in self.values.keys() {
            let own = OWN.iter().find(|(name, _)| name == section);
            let known = BINDINGS.iter().any(|line| line.name == section)
                || SERVICES.iter().any(|line| line.has_section(section));
            let problem = match own {
                Some((_, keys)) if !keys.contains(&list_of(key)) => {
                    format!("unknown key; {}", nearest(list_of(key), keys))
                }
                None if !known => format!("unknown section; {}", nearest(section, &sections())),
                _ => continue,
            };
            problems.push(self.locate(&ConfigFault {
                key: format!("{section}.{key}"),
                problem,
            }));
        }
        problems
    }

    /// A fault with the place where its key was set.
    pub fn locate(&self, fault: &ConfigFault) -> Problem {
        let (section, key) = fault.key.split_once('.').unwrap_or((&fault.key, ""));
        match self.origin(section, key) {
            Some(Origin::File(at)) => self.problem_at(*at, fault.to_string()),
            Some(Origin::Environment(name)) => Problem {
                place: name.clone(),
                problem: fault.to_string(),
            },
            Some(Origin::CommandLine) => Problem {
                place: "--set".into(),
                problem: fault.to_string(),
            },
            None => Problem {
                place: "configuration".into(),
                problem: fault.to_string(),
            },
        }
    }

    /// Where a key was set, or the first that is beside or above it where it was not.
    fn origin(&self, section: &str, key: &str) -> Option<&Origin> {
        let of = |key: &str| self.values.get(&(section.to_owned(), key.to_owned()));
        if let Some((_, origin)) = of(key) {
            return Some(origin);
        }
        let (above, _) = key.rsplit_once('.')?;
        let beside = format!("{above}.");
        let mut known = self.values.iter();
        let near = known.find(|((of, key), _)| of == section && key.starts_with(&beside));
        match near {
            Some((_, (_, origin))) => Some(origin),
            None => self.origin(section, above),
        }
    }

    fn problem_at(&self, at: usize, problem: String) -> Problem {
        let Some((path, text)) = &self.file else {
            return Problem {
                place: "configuration".into(),
                problem,
            };
        };
        let before = &text[..at.min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .map_or(0, |tail| tail.chars().count())
            + 1;
        Problem {
            place: format!("{}:{line}:{column}", path.display()),
            problem,
        }
    }
}

/// Names of all sections.
fn sections() -> Vec<&'static str> {
    let own = OWN.iter().map(|(section, _)| *section);
    let services = SERVICES.iter().filter(|line| line.check.is_some());
    own.chain(BINDINGS.iter().map(|line| line.name))
        .chain(services.map(|line| line.name))
        .collect()
}

/// What stands for the section in a variable's name, where it is none but one letter more, less or other would make
/// it one.
fn misspelt_section(rest: &str) -> Option<&str> {
    let (first, key) = rest.split_once('_')?;
    let sections = sections();
    let is_near = || {
        sections
            .iter()
            .any(|section| is_one_letter_off(first, section))
    };
    (!key.is_empty() && !sections.contains(&first) && is_near()).then_some(first)
}

fn is_one_letter_off(one: &str, other: &str) -> bool {
    let (short, long) = match one.len() <= other.len() {
        true => (one.as_bytes(), other.as_bytes()),
        false => (other.as_bytes(), one.as_bytes()),
    };
    let alike = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[alike..], &long[alike..]);
    match long.len() - short.len() {
        0 => long.is_empty() || short[1..] == long[1..],
        1 => *short == long[1..],
        _ => false,
    }
}

/// The list that a key is a place of, or the key.
fn list_of(key: &str) -> &str {
    let place = key
        .strip_prefix(DOMAINS)
        .and_then(|it| it.strip_prefix('.'));
    let is_place = place.is_some_and(|place| place.parse::<usize>().is_ok());
    if is_place { DOMAINS } else { key }
}

/// A list as it is written in one text, its items behind commas; `None` of what is no list.
fn list(value: &DeValue<'_>) -> Option<Result<String, String>> {
    let DeValue::Array(items) = value else {
        return None;
    };
    let texts = items.iter().map(|item| {
        let text = scalar(item.get_ref()).filter(|text| !text.contains(','));
        text.ok_or_else(|| "a list holds texts without a comma, numbers or booleans".to_owned())
    });
    Some(
        texts
            .collect::<Result<Vec<_>, _>>()
            .map(|texts| texts.join(",")),
    )
}

/// Keys whose value is a list: in one text with commas, or as TOML writes lists.
const LISTS: [(&str, &str); 4] = [
    ("http", "cors"),
    ("http", "hosts"),
    ("http", "trusted_proxies"),
    ("dds", "topics"),
];

fn is_list(section: &str, key: &str) -> bool {
    LISTS.contains(&(section, key))
}

/// The same of a text that is a list in TOML, as a command line or an environment may have it.
fn as_list(section: &str, key: &str, text: &str) -> Option<Result<String, String>> {
    let is_one = is_list(section, key) && text.starts_with('[');
    let value = is_one.then(|| DeValue::parse(text))?;
    list(value.ok()?.get_ref())
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn config(text: &str) -> Config {
        Config::from_text(Path::new("weir.toml"), text.into()).unwrap()
    }

    #[test]
    fn a_list_is_one_however_it_is_written() {
        let path = Path::new("weir.toml");
        let of = |text: &str| Config::from_text(path, format!("[http]\n{text}\n"));
        let cors = |config: &Config| config.text("http", "cors").map(str::to_owned);
        let config = of(r#"cors = ["https://a", "https://b:8"]"#).unwrap();
        assert_eq!(cors(&config).as_deref(), Some("https://a,https://b:8"));
        for bad in [r#"cors = ["a,b"]"#, "cors = [[1]]", "cors = [{a = 1}]"] {
            let problem = of(bad).err().map(|problem| problem.to_string());
            let problem = problem.unwrap_or_default();
            assert!(
                problem.starts_with("weir.toml:2:1") && problem.contains("list"),
                "{problem}"
            );
        }
        let mut config = Config::default();
        config.set(r#"http.cors=["https://a"]"#).unwrap();
        assert_eq!(cors(&config).as_deref(), Some("https://a"));
        config.set("http.cors=https://b").unwrap();
        assert_eq!(cors(&config).as_deref(), Some("https://b"));
        assert!(config.set("http.cors=[[1]]").is_err());
        config.set("http.listen=[::1]:8080").unwrap();
        assert_eq!(config.text("http", "listen"), Some("[::1]:8080"));
        let variable = ("WEIR_HTTP_CORS".to_owned(), r#"["https://c"]"#.to_owned());
        config = Config::default();
        config.take_environment([variable].into_iter());
        assert_eq!(cors(&config).as_deref(), Some("https://c"));
    }

    #[test]
    fn an_unknown_key_is_said_with_line_and_column() {
        let problems = crate::settings::check(&config("[data]\ndir = \"x\"\n  dri = \"y\"\n"));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place, "weir.toml:3:3");
        assert!(
            problems[0].problem.contains("did you mean `dir`?"),
            "{}",
            problems[0]
        );
    }

    #[test]
    fn a_value_that_cannot_be_is_said_before_anything_is_opened() {
        let text = "[gateway]\nthreads = \"many\"\n[access]\npolicy = \"/nowhere.toml\"\n";
        let problems = crate::settings::check(&config(text));
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!(problems[0].place, "weir.toml:2:1");
        assert_eq!(problems[1].place, "/nowhere.toml");
    }

    #[test]
    fn all_that_a_start_would_refuse_is_said_at_once() {
        let text = "[http]\nlisten = 9090\n[log]\nretention_age = \"x\"\n\
            [history]\nretention_bytes = \"y\"\n[tls]\nkey = \"k\"\n[acces]\npolicy = \"p\"\n";
        let mut places: Vec<_> = crate::settings::check(&config(text))
            .into_iter()
            .map(|p| p.place)
            .collect();
        places.sort_unstable();
        let lines = [10, 2, 4, 6, 8].map(|line| format!("weir.toml:{line}:1"));
        assert_eq!(places, lines);
    }

    #[test]
    fn tables_and_lists_within_a_section_are_keys_with_dots() {
        let text = "[mqtt.bridge.site]\nurl = \"mqtt://site\"\n\
            in = [\"a/#\", { filter = \"b\", qos = 2 }]\n";
        let mut config = config(text);
        config.set("mqtt.bridge.site.user=ann").unwrap();
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let environment = [
            variable("WEIR_MQTT_BRIDGE__SITE__URL", "mqtt://other"),
            variable("WEIR_MQTT_SYS_SECONDS", "7"),
        ];
        config.take_environment(environment.into_iter());
        let mut section = config.section("mqtt");
        let keys = section.take_under("bridge.site.");
        let named = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let expected = [
            ("in.0", "a/#"),
            ("in.1.filter", "b"),
            ("in.1.qos", "2"),
            ("url", "mqtt://other"),
            ("user", "ann"),
        ];
        assert_eq!(keys, expected.map(named));
        assert_eq!(section.text("sys_seconds", ""), "7");
        let fault = |key: &str| ConfigFault {
            key: key.into(),
            problem: String::new(),
        };
        let place = |key: &str| config.locate(&fault(key)).place;
        assert_eq!(place("mqtt.bridge.site.in.1.qos"), "weir.toml:3:30");
        assert_eq!(place("mqtt.bridge.site.in.1.retain"), "weir.toml:3:16");
        assert_eq!(place("mqtt.bridge.site.in.0.filter"), "weir.toml:3:7");
    }

    #[test]
    fn a_list_where_one_value_belongs_is_refused() {
        let text = "[http]\nlisten = [\"a\"]\n".to_owned();
        let problem = Config::from_text(Path::new("weir.toml"), text).unwrap_err();
        assert_eq!(problem.place, "weir.toml:2:1");
    }

    #[test]
    fn a_syntax_error_is_said_with_line_and_column() {
        let text = "[http]\nlisten = \n".to_owned();
        let problem = Config::from_text(Path::new("weir.toml"), text).unwrap_err();
        assert!(problem.place.starts_with("weir.toml:2:"), "{problem}");
    }

    #[test]
    fn a_variable_whose_section_is_misspelt_is_refused() {
        for (name, refused) in [
            ("WEIR_HTP_LISTEN", true),
            ("WEIR_MQTTT_LISTEN", true),
            ("WEIR_DAFA_DIR", true),
            ("WEIR_SERVICE_HOST", false),
            ("WEIR_PORT_8080_TCP", false),
            ("WEIR_TOKEN", false),
            ("WEIR_BIN", false),
        ] {
            let mut config = config("");
            config.take_environment([(name.to_owned(), "1".to_owned())].into_iter());
            let problems = crate::settings::check(&config);
            assert_eq!(!problems.is_empty(), refused, "{name} {problems:?}");
            assert!(problems.iter().all(|problem| problem.place.contains(name)));
        }
    }

    #[test]
    fn the_command_line_goes_over_the_environment_over_the_file() {
        let mut config = config("[data]\ndir = \"file\"\n");
        let variable = ("WEIR_DATA_DIR".to_owned(), "environment".to_owned());
        config.take_environment([variable].into_iter());
        assert_eq!(config.text("data", "dir"), Some("environment"));
        config.set("data.dir=line").unwrap();
        assert_eq!(config.text("data", "dir"), Some("line"));
        assert!(config.set("nonsense").is_err());
    }
}
