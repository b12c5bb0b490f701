//! What the program `weir-bench` does, where it is and where it is not.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use crate::process;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Says its arguments, each in brackets, and ends as one of them says.
const SAYS: &str = "#!/bin/sh\nfor it in \"$@\"; do printf '[%s]' \"$it\"; done\nexit 7\n";

/// What it says. A program that was just written is busy for as long as another test that starts one has not ended
/// its fork, which has what was open for writing.
fn in_folder(folder: &Path, arguments: &[&str]) -> Output {
    loop {
        let mut command = Command::new(folder.join("weir"));
        let output = command.args(arguments).env("PATH", "").output();
        let is_busy = match &output {
            Ok(output) => String::from_utf8_lossy(&output.stderr).contains("Text file busy"),
            Err(error) => error.kind() == ErrorKind::ExecutableFileBusy,
        };
        if !is_busy {
            return output.unwrap();
        }
        std::thread::yield_now();
    }
}

#[test]
fn it_stands_beside_and_gets_what_was_typed() {
    let folder = process::folder("beside");
    std::fs::copy(env!("CARGO_BIN_EXE_weir"), folder.join("weir")).unwrap();
    for command in ["bench", "link", "sim", "board"] {
        let absent = in_folder(&folder, &[command, "--help"]);
        let said = String::from_utf8(absent.stderr).unwrap();
        assert_eq!(absent.status.code(), Some(1), "{said}");
        assert!(
            said.contains("weir-bench") && said.contains("make bench"),
            "{said}"
        );
    }
    let other = folder.join("weir-bench");
    std::fs::write(&other, SAYS).unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (typed, passed) in [
        (
            &["bench", "run", "gateway", "--help"][..],
            "[run][gateway][--help]",
        ),
        (&["bench"], ""),
        (
            &["link", "--", "sh", "-c", "a b"],
            "[link][--][sh][-c][a b]",
        ),
        (&["sim", "--version"], "[sim][--version]"),
        (
            &["board", "lm3s811", "--", "ls", "--", "-l"],
            "[board][lm3s811][--][ls][--][-l]",
        ),
    ] {
        let done = in_folder(&folder, typed);
        assert_eq!(String::from_utf8(done.stdout).unwrap(), passed);
        assert_eq!(done.status.code(), Some(7), "{typed:?}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
