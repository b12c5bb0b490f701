//! `weir bench reference`: the results that are shipped, written from runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use weir_advise::{Fault, Origin, measured, parts, runs, source, table, trimmed, write_offers};

use super::offers;

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

/// The runs, one behind the other.
const RUNS: &str = "runs.txt";

/// Writes the files of the reference from runs, in their order; what it had of other cells stays behind them, unless
/// it is written `anew`. Says what is in them.
pub(crate) fn write(folders: &[PathBuf], out: &Path, anew: bool) -> Result<String, String> {
    let mut text = String::new();
    let mut said = String::new();
    for folder in folders {
        for run in runs(folder).map_err(|fault| fault.to_string())? {
            let part = part(&run)?;
            said += &format!("{}: {} rows\n", run.display(), part.lines().count());
            text += &part;
        }
    }
    if !anew {
        let older = std::fs::read_to_string(out.join(RUNS)).unwrap_or_default();
        let stays = what_stays(&older, &text).map_err(|fault| fault.to_string())?;
        said += &format!("of what was there: {} rows\n", stays.lines().count());
        text += &stays;
    }
    keep(out, RUNS, &text)?;
    keep(out, "experiments.txt", &write_offers(&offers()))?;
    Ok(said)
}

/// Of an older reference what no newer run has measured: cell by cell, for each target.
fn what_stays(older: &str, newer: &str) -> Result<String, Fault> {
    let mut anew: BTreeMap<&str, BTreeSet<(String, String)>> = BTreeMap::new();
    for part in parts(newer) {
        anew.entry(part.experiment)
            .or_default()
            .extend(measured(part.table)?);
    }
    let mut text = String::new();
    for part in parts(older) {
        let anew = anew.get(part.experiment);
        let is_old = |target: &str, cell: &str| {
            !anew.is_some_and(|cells| cells.contains(&(target.into(), cell.into())))
        };
        let table = trimmed(part.table, is_old)?;
        if table.lines().count() > 1 {
            text += part.head;
            text += &table;
        }
    }
    Ok(text)
}

/// A run: what it is, a line `# key: value` each, then its trimmed table.
fn part(run: &Path) -> Result<String, String> {
    let table = trimmed(
        &table(run).map_err(|fault| fault.to_string())?,
        |_, cell| is_kept(cell),
    );
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
    use super::{is_kept, what_stays};

    const HEAD: &str =
        "experiment,target,cell,metric,unit,n,mean,p50,p90,p99,p999,max,ci_low,ci_high,lost,status";

    #[test]
    fn what_was_measured_anew_takes_the_place_of_what_was_there_and_the_rest_stays() {
        let of = |experiment: &str, cells: &[&str]| {
            let row = |cell: &&str| format!("{experiment},weir,{cell},rtt,us,9,5,,,,,,4,6,0,ok\n");
            let rows: String = cells.iter().map(row).collect();
            format!("# experiment: {experiment}\n# command: weir\n{HEAD}\n{rows}")
        };
        let older = of("services", &["link=lan", "link=3g"]) + &of("gateway", &["link=lan"]);
        let newer = of("services", &["link=lan"]);
        let expected = of("services", &["link=3g"]) + &of("gateway", &["link=lan"]);
        assert_eq!(what_stays(&older, &newer).unwrap(), expected);
        assert_eq!(
            what_stays(&older, &of("gateway", &["link=lan"])).unwrap(),
            of("services", &["link=lan", "link=3g"])
        );
    }

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
