//! Documents of web services: no bytes break their readers, and what is read is written and read as the
//! same elements, attributes and texts, as XML and through EXI.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_codec::document::{exi, json, read_head, read_xml, soap};

fuzz_target!(|input: &[u8]| {
    let Some((&choice, body)) = input.split_first() else {
        return;
    };
    if choice & 1 == 1 {
        // What came as EXI may hold what XML has no letters for.
        let _read = exi::read(body);
        let _told = exi::to_xml(body);
        return;
    }
    let _head = read_head(body, &|local| local.len() == usize::from(choice >> 1));
    let Ok(root) = read_xml(body) else {
        return;
    };
    let xml = root.to_xml();
    let again = read_xml(xml.as_bytes()).expect("what was written is read");
    let told = |root| json::to_string(root, &[]);
    assert_eq!(told(&again), told(&root), "the same elements again");
    if soap::is_envelope(&root) {
        let _observations = weir_soap::client::observations(root);
    }
    if let Ok(packed) = exi::from_xml(xml.as_bytes()) {
        let unpacked = exi::read(&packed).expect("what was packed is read");
        assert_eq!(unpacked.local, again.local, "the same root");
    }
});
