//! The configuration, who may what, and until when the certificate holds.

use super::finding::Finding;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use weir_gateway::Config;

/// Seconds that a certificate should hold at least: authorities' shortest are of six days.
const CERTIFICATE_SECONDS_MIN: i64 = 2 * 86_400;

pub(super) fn look(config: &Config, open: bool) -> Vec<Finding> {
    let problems = weir_gateway::check(config);
    let mut found: Vec<_> = problems
        .iter()
        .map(|problem| Finding::bad(problem.to_string()))
        .collect();
    if found.is_empty() {
        found.push(Finding::good("the configuration is right"));
    }
    found.push(match (config.text("access", "policy"), open) {
        (Some(policy), _) => Finding::good(format!("{policy} says who may what")),
        (None, false) => Finding::good("no policy: it listens on loopback only"),
        (None, true) => Finding::look("--open: everyone may everything"),
    });
    let secret = [("access", "policy"), ("tls", "key")];
    let files = secret
        .iter()
        .filter_map(|(section, key)| config.text(section, key));
    found.extend(files.filter_map(|file| of_secret(Path::new(file))));
    found.extend(of_certificate(config));
    found
}

/// A file of secrets: its owner's, or that of the group which this user has for itself, as a service has.
fn of_secret(file: &Path) -> Option<Finding> {
    use std::os::unix::fs::MetadataExt;
    let told = std::fs::metadata(file).ok()?;
    let mode = told.mode() & 0o777;
    let place = file.display();
    let own_group = told.gid() == rustix::process::getegid().as_raw();
    Some(match mode & 0o077 {
        0 => Finding::good(format!("{place} is its owner's alone")),
        0o040 if own_group => Finding::good(format!(
            "{place} is read by its owner and by this user's group alone"
        )),
        _ => Finding::look(format!(
            "others may read {place} (mode {mode:o}, group {})",
            told.gid()
        )),
    })
}

fn of_certificate(config: &Config) -> Option<Finding> {
    let certificate = weir_gateway::certificate(config)?;
    let place = certificate.file.display().to_string();
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since.map_or(0, |since| since.as_secs() as i64);
    let Some(held) = certificate.validity else {
        // What is wrong with files of one's own is told with the configuration.
        let awaited = format!("{place} is not there yet: a start asks the authority for it");
        return certificate.is_asked_for.then(|| Finding::look(awaited));
    };
    let left = held.until - now;
    let (days, hours) = (left / 86_400, left % 86_400 / 3600);
    Some(match left {
        _ if held.from > now => Finding::bad(format!(
            "{place} does not hold yet: the clock, or the file, is wrong"
        )),
        ..=0 => Finding::bad(format!("{place} has ended: clients refuse it")),
        _ => Finding::of(
            left >= CERTIFICATE_SECONDS_MIN,
            format!("{place} holds for {days} days and {hours} hours"),
        ),
    })
}
