//! How many places one touches for one more: files of code outside its own that name one that is there.
//!
//! One of each kind stands for all, one that nothing else is built on: a format, a protocol, an experiment.

use crate::house::survey::Survey;
use crate::lexer::words;
use std::fs;
use std::path::{Path, PathBuf};

/// Kind, and the names of the one that is looked for.
const KINDS: [(&str, &[&str]); 3] = [
    ("format", &["bson"]),
    ("protocol", &["xmpp", "Xmpp", "XMPP"]),
    ("experiment", &["sensor_web", "SensorWeb"]),
];

/// Of each kind, the files to touch.
pub(super) fn count(root: &Path, survey: &Survey) -> Vec<(&'static str, Vec<PathBuf>)> {
    let manifests = survey
        .parts
        .iter()
        .map(|part| Path::new(&part.folder).join("Cargo.toml"));
    let mut manifests: Vec<PathBuf> = manifests.chain([PathBuf::from("Cargo.toml")]).collect();
    manifests.retain(|file| root.join(file).is_file());
    KINDS
        .into_iter()
        .map(|(kind, names)| {
            let code = survey
                .texts
                .iter()
                .map(|(file, text)| (file.clone(), text.clone()));
            let manifests = manifests.iter().map(|file| {
                let text = fs::read_to_string(root.join(file)).unwrap_or_default();
                (file.clone(), text)
            });
            let named = code.chain(manifests).filter(|(file, text)| {
                let own = names
                    .iter()
                    .any(|name| file.to_string_lossy().contains(&name.to_lowercase()));
                !own && words(&text.replace('-', "_")).any(|word| names.contains(&word))
            });
            (kind, named.map(|(file, _)| file).collect())
        })
        .collect()
}
