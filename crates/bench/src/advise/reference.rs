//! `weir bench reference`: the results that are shipped, written from runs.

use std::path::{Path, PathBuf};

use weir_advise::{Origin, trimmed, write_offers};

use super::{TABLE, offers, read, runs, source};

/// Cells that would make the reference large and say what others say: other data of the same kind, slower
/// processors; and those that are no way to deliver but a question of their own: a flood, a traced page.
const LEFT_OUT: [&str; 12] = [
    "data=a;",
    "data=b;",
    "data=io;",
    "data=io-series;",
    "data=sos-",
    "place=browser-4x",
    "place=browser-6x",
    ";cpu=4",
    ";cpu=6",
    ";pace=off",
    ";pace=on",
    ";trace=on",
];

/// Writes the files of the reference from runs, in their order; says what is in them.
pub(crate) fn write(folders: &[PathBuf], out: &Path) -> Result<String, String> {
    let mut text = String::new();
    let mut said = String::new();
    for folder in folders {
        for run in runs(folder)? {
            let part = part(&run)?;
            said += &format!("{}: {} rows\n", run.display(), part.lines().count());
            text += &part;
        }
    }
    keep(out, "runs.txt", &text)?;
    keep(out, "experiments.txt", &write_offers(&offers()))?;
    Ok(said)
}

/// A run: what it is, a line `# key: value` each, then its trimmed table.
fn part(run: &Path) -> Result<String, String> {
    let table = trimmed(&read(&run.join(TABLE))?, is_kept);
    let table = table.map_err(|fault| format!("{}: {fault}", run.display()))?;
    let first = table.lines().nth(1).and_then(|row| row.split_once(','));
    let (experiment, _) = first.ok_or_else(|| format!("{}: nothing in it", run.display()))?;
    let source = source(run, Origin::Reference);
    Ok(format!(
        "# experiment: {experiment}\n# command: {}\n# started: {}\n# machine: {}\n{table}",
        source.command, source.started, source.machine
    ))
}

fn is_kept(cell: &str) -> bool {
    let is_left_out = LEFT_OUT.iter().any(|word| cell.contains(word));
    !is_left_out && (!cell.contains("from=document") || is_exchange_of_observations(cell))
}

/// Documents of the corpus are left out but for one series over a link: observations from one to many, which
/// is what an owner who asks for a link sends. Capabilities, sensors and results travel as their size says.
fn is_exchange_of_observations(cell: &str) -> bool {
    cell.starts_with("link=") && cell.contains("data=obs;")
}

fn keep(out: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = out.join(name);
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::is_kept;

    #[test]
    fn a_flood_is_left_out_and_a_device_that_sends_its_next_packet_is_not() {
        assert!(!is_kept("link=local;delivery=websocket;pace=off"));
        assert!(is_kept("link=lan;protocol=coap-con;payload=100;pace=next"));
    }

    #[test]
    fn of_documents_the_observations_that_crossed_a_link_are_kept() {
        let of = |data| format!("place=native;data={data};file=1;from=document;format=exi");
        assert!(is_kept(&format!("link=3g;{}", of("obs"))));
        assert!(!is_kept(&format!("link=3g;{}", of("caps"))));
        assert!(!is_kept(&of("obs")));
    }
}
