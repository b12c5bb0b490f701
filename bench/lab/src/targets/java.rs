//! Targets that are Java programs of ours around other people's libraries, built by Maven.

use std::path::{Path, PathBuf};

use super::{Launch, Settings, bound_to_bench, find_program, of_the_project};

/// A program, in a folder of its own below the project's root.
pub(super) struct Program {
    /// The folder, where Maven leaves `target`.
    pub(super) folder: &'static str,
    /// The environment variable that names another place of `target`.
    pub(super) variable: &'static str,
    /// Its main class.
    pub(super) class: &'static str,
    /// How the name of the library begins whose version it tells, up to the version.
    pub(super) library: &'static str,
}

impl Program {
    /// The library's version, from the name of its file, or what is absent.
    pub(super) fn look(&self) -> Result<String, String> {
        find_program("java", "default-jdk-headless")?;
        let target = self.target();
        let files = std::fs::read_dir(target.join("dependency"));
        let names = files.into_iter().flatten().flatten();
        let version = names.map(|file| file.file_name().to_string_lossy().into_owned());
        let version = version.filter_map(|name| self.version_in(&name)).next();
        version.ok_or_else(|| self.absent(&target))
    }

    /// The command that starts it, without arguments of its own.
    pub(super) fn command(&self, settings: &Settings, flags: &[&str]) -> Result<Launch, String> {
        self.look()?;
        let target = self.target();
        let java = find_program("java", "default-jdk-headless")?;
        let mut command = bound_to_bench(settings, &java)?;
        let path = [target.join("classes"), target.join("dependency/*")];
        let path = path.map(|part| part.display().to_string()).join(":");
        command.args(flags).args(["-cp", &path, self.class]);
        Ok(command)
    }

    fn target(&self) -> PathBuf {
        let named = std::env::var_os(self.variable).map(PathBuf::from);
        // A program that starts elsewhere must find it all the same.
        of_the_project(&named.unwrap_or_else(|| Path::new(self.folder).join("target")))
    }

    fn version_in(&self, name: &str) -> Option<String> {
        let version = name.strip_prefix(self.library)?.strip_suffix(".jar")?;
        Some(version.into())
    }

    fn absent(&self, target: &Path) -> String {
        let (folder, variable) = (self.folder, self.variable);
        format!(
            "absent: no program in {}; from the project's root, `scripts/peers` or `mvn -q -f \
             {folder} package` puts it there, and {variable} names another folder",
            target.display()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_what_stands_between_name_and_ending() {
        let program = Program {
            folder: "nowhere",
            variable: "WEIR_NOWHERE",
            class: "weir.Nothing",
            library: "broker-",
        };
        assert_eq!(program.version_in("broker-1.2.jar"), Some("1.2".into()));
        assert_eq!(program.version_in("other-1.2.jar"), None);
    }
}
