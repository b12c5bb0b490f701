//! Where the packets of a run's links are written down: a file a link, as `weir link --pcap` has it.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use weir_bench_model::limits::CAPTURES_MAX;

/// A folder of captures.
#[derive(Clone, Debug)]
pub struct Captures {
    folder: PathBuf,
    /// Bytes of each packet that are kept; 0 are all.
    pub snap: u32,
}

impl Captures {
    /// In a folder, which is made.
    pub fn open(folder: &Path, snap: u32) -> Result<Self, String> {
        let told = |error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(told)?;
        let folder = std::fs::canonicalize(folder).map_err(told)?;
        Ok(Self { folder, snap })
    }

    /// A new file for a link; cells side by side have links of one name.
    pub fn file(&self, link: &str) -> Result<PathBuf, String> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = link.chars().map(plain).collect();
        for number in 1..=CAPTURES_MAX {
            let path = self.folder.join(format!("{name}-{number}.pcapng"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => return Ok(path),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
        let folder = self.folder.display();
        Err(format!(
            "{folder}: {CAPTURES_MAX} captures of {link} are there"
        ))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn links_of_one_name_are_written_to_files_of_their_own() {
        let folder = format!("weir-captures-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let captures = Captures::open(&folder, 0).unwrap();
        let files: Vec<PathBuf> = ["3g,rate=1 Mbit/s", "3g,rate=1 Mbit/s", "isp"]
            .map(|link| captures.file(link).unwrap())
            .into();
        let names = files.iter().map(|file| file.file_name().unwrap());
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        assert_eq!(
            names,
            [
                "3g-rate-1-Mbit-s-1.pcapng",
                "3g-rate-1-Mbit-s-2.pcapng",
                "isp-1.pcapng"
            ]
        );
        assert!(files.iter().all(|file| file.is_file()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
