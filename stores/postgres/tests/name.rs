//! The name of a log in a gateway's own folder, damaged.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: it starts a server and waits for it"
)]

mod server;

use server::{Server, options, own, server};
use weir_disk::{Disk, SimDisk};
use weir_postgres::PostgresHistory;
use weir_storage::History;

const FILE: &str = "postgres.log";

#[test]
fn a_damaged_name_of_a_log_is_put_aside_or_refused() {
    let Some(server) = server("a_damaged_name_of_a_log_is_put_aside_or_refused", &[]) else {
        return;
    };
    server.database("damaged");
    server.database("fresh");
    let (disk, url) = (SimDisk::new(), server.url("damaged"));
    let open = |disk: &SimDisk| PostgresHistory::open(options(&url), &own(disk));
    assert_eq!(open(&disk).unwrap().damage(), 0);
    server
        .sql("damaged", "UPDATE weir.progress SET cursor = 7")
        .unwrap();
    let whole = content(&disk, FILE);
    assert_eq!(whole.len(), 37);
    for (byte, bit) in (0..whole.len()).flat_map(|at| [0x01, 0x20, 0x80].map(|bit| (at, bit))) {
        let disk = SimDisk::new();
        let mut bad = whole.clone();
        bad[byte] ^= bit;
        put(&disk, FILE, &bad);
        let store = open(&disk).unwrap();
        assert_eq!(store.applied().bits(), 7, "{byte} {bit:x}");
        let kept: Vec<_> = disk.list().unwrap();
        let kept = kept.iter().filter(|name| name.ends_with(".damaged"));
        let kept: Vec<_> = kept.map(|name| content(&disk, name)).collect();
        match String::from_utf8(bad.clone()) {
            // Space behind the name is none of it.
            Ok(text) if text.trim_end().as_bytes() == &whole[..36] => {
                assert_eq!((kept.len(), store.damage()), (0, 0));
            }
            _ => {
                assert_eq!((content(&disk, FILE), kept), (whole.clone(), vec![bad]));
                assert_eq!(store.damage(), 1);
            }
        }
    }
    what_is_no_name(&server, &whole);
}

/// What looks like nothing is refused where the database is somebody's, and left as it is.
fn what_is_no_name(server: &Server, whole: &[u8]) {
    let name = std::str::from_utf8(&whole[..36]).unwrap();
    for bad in [&b""[..], &[0; 37], b"no name", &[0xff; 300], &whole[..10]] {
        let disk = SimDisk::new();
        put(&disk, FILE, bad);
        let opened = PostgresHistory::open(options(&server.url("damaged")), &own(&disk));
        let told = opened.err().unwrap();
        assert!(told.contains("postgres.log is damaged"), "{told}");
        assert!(told.contains(name), "{told}");
        assert_eq!(content(&disk, FILE), bad);
        // A database that is nobody's yet is this log's, under a new name.
        let fresh = PostgresHistory::open(options(&server.url("fresh")), &own(&disk));
        drop(fresh.unwrap());
        assert_eq!(content(&disk, FILE).len(), 37);
        let names = disk.list().unwrap();
        let kept = names
            .iter()
            .find(|name| name.ends_with(".damaged"))
            .unwrap();
        assert_eq!(content(&disk, kept), bad);
        server
            .sql("fresh", "UPDATE weir.progress SET log = NULL")
            .unwrap();
    }
}

fn content(disk: &SimDisk, name: &str) -> Vec<u8> {
    let file = disk.open(name).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    weir_disk::read_full(&*file, &mut bytes, 0).unwrap();
    bytes
}

fn put(disk: &SimDisk, name: &str, bytes: &[u8]) {
    let file = disk.create(name).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.sync_data().unwrap();
    disk.sync_dir().unwrap();
}
