//! What was asked for, by the command line.

use std::path::PathBuf;

/// What was asked for.
pub(crate) struct Arguments {
    pub(crate) all: bool,
    pub(crate) seed: u64,
    pub(crate) documents: usize,
    pub(crate) cases: usize,
    pub(crate) keep: Option<PathBuf>,
    /// Where to write a page of the counts.
    pub(crate) write: Option<PathBuf>,
    /// Only the document of this name.
    pub(crate) only: Option<String>,
    pub(crate) corpora: Vec<PathBuf>,
    /// Single documents, and the schemas of some.
    pub(crate) files: Vec<(PathBuf, Option<PathBuf>)>,
    pub(crate) oracle: PathBuf,
}

impl Arguments {
    /// Reads them; what is none of them is the error.
    pub(crate) fn read(mut given: impl Iterator<Item = String>) -> Result<Self, String> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut arguments = Self {
            all: false,
            seed: 1,
            documents: 60,
            cases: 12,
            keep: None,
            write: None,
            only: None,
            corpora: Vec::new(),
            files: Vec::new(),
            oracle: root.join("build/exi-oracle"),
        };
        while let Some(name) = given.next() {
            if name == "--all" {
                (arguments.all, arguments.documents, arguments.cases) = (true, 300, 64);
                continue;
            }
            let value = given
                .next()
                .ok_or_else(|| format!("{name} needs a value"))?;
            let number = || value.parse().map_err(|_| format!("{name} {value}"));
            match name.as_str() {
                "--seed" => arguments.seed = number()? as u64,
                "--documents" => arguments.documents = number()?,
                "--cases" => arguments.cases = number()?,
                "--only" => arguments.only = Some(value),
                "--write" => arguments.write = Some(value.into()),
                "--keep" => arguments.keep = Some(value.into()),
                "--file" => arguments.files.push(match value.split_once('=') {
                    Some((document, schema)) => (document.into(), Some(schema.into())),
                    None => (value.into(), None),
                }),
                "--corpus" => arguments.corpora.push(value.into()),
                _ => return Err(name),
            }
        }
        Ok(arguments)
    }
}
