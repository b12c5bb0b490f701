//! Records of the log, and those that another gateway put into a shared one: no bytes break the reader; what is
//! read is written and read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_hub::Record;

fuzz_target!(|bytes: &[u8]| {
    let Ok(record) = Record::read(bytes) else {
        return;
    };
    let mut written = Vec::new();
    record.write(&mut written);
    assert_eq!(Record::read(&written), Ok(record));
});
