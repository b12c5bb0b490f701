//! Where the other program stands.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The program of this name in the folder of the running one, else the first on the `PATH`.
pub fn beside(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let own = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(name)).find(is_program)
}

/// Whether it is a file that somebody may execute.
fn is_program(path: &PathBuf) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
