//! Runs that are killed and go on.

#![allow(clippy::unwrap_used)]

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("weir-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn terms(seed: &str) -> Terms {
    Terms::from([("seed".into(), seed.into())])
}

fn measured(cell: &str, value: f64) -> Vec<CellResult> {
    vec![CellResult {
        cell: cell.into(),
        target: "weir".into(),
        status: "ok".into(),
        samples: vec![Series::of(0, "rtt", "us", &[value])],
        ..CellResult::default()
    }]
}

fn measure(journal: &Journal, cell: &str, value: f64) -> Vec<CellResult> {
    journal.cell(cell, &mut Versions::new(), |_| measured(cell, value))
}

fn never(journal: &Journal, cell: &str) -> Vec<CellResult> {
    journal.cell(cell, &mut Versions::new(), |_| panic!("{cell} again"))
}

#[test]
fn a_killed_run_skips_what_is_done_and_ends_with_all_samples() {
    let folder = folder("journal");
    let first = Journal::begin(&folder, &terms("1")).unwrap();
    measure(&first, "a", 1.0);
    measure(&first, "b", 2.0);
    drop(first);
    let path = folder.join(FILE);
    let whole = std::fs::read(&path).unwrap();
    // Killed in the middle of the second cell's line.
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();

    let second = Journal::resume(&folder, &terms("1")).unwrap();
    assert!(second.has("a") && !second.has("b"));
    assert_eq!(never(&second, "a")[0].status, "ok");
    measure(&second, "b", 2.0);
    let mut run = Run {
        results: measured("c", 3.0),
        ..Run::default()
    };
    second.sheet(&mut run).unwrap();
    assert_eq!(cells_of(&folder.join(SHEET)), ["a", "b", "c"]);
    second.close();
    assert!(!path.exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn links_of_an_attempt_that_was_killed_are_told_with_those_of_the_next() {
    let folder = folder("journal-links");
    let used = |profile: &str| LinkUsed {
        profile: profile.into(),
        ..LinkUsed::default()
    };
    let first = Journal::begin(&folder, &terms("1")).unwrap();
    first.keep_link("3g", &used("slow"));
    measure(&first, "link=3g", 1.0);
    drop(first);
    let second = Journal::resume(&folder, &terms("1")).unwrap();
    never(&second, "link=3g");
    second.keep_link("lan", &used("fast"));
    let names: Vec<_> = second.links().into_keys().collect();
    assert_eq!(names, ["3g", "lan"]);
    second.sheet(&mut Run::default()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

fn cells_of(sheet: &Path) -> Vec<String> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    let file = SerializedFileReader::new(File::open(sheet).unwrap()).unwrap();
    let rows = file.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().get_string(1).unwrap().clone())
        .collect()
}

#[test]
fn another_run_is_refused_with_what_differs() {
    let folder = folder("journal-other");
    drop(Journal::begin(&folder, &terms("1")).unwrap());
    let refused = Journal::resume(&folder, &terms("2")).err().unwrap();
    assert!(
        refused.ends_with("another run: seed was \"1\", is \"2\""),
        "{refused}"
    );
    let refused = Journal::begin(&folder, &terms("1")).err().unwrap();
    assert!(refused.contains("--resume"), "{refused}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn where_nothing_was_begun_nothing_is_resumed() {
    let folder = folder("journal-none");
    let refused = Journal::resume(&folder, &terms("1")).err().unwrap();
    assert!(refused.starts_with("nothing to resume"), "{refused}");
    std::fs::write(folder.join("run.json"), "{}").unwrap();
    let refused = Journal::resume(&folder, &terms("1")).err().unwrap();
    assert!(refused.ends_with("its run is finished"), "{refused}");
    std::fs::remove_dir_all(&folder).unwrap();
}
