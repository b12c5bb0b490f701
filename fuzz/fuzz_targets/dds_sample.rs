//! Samples of DDS: no bytes of a participant break the reader; what is read is written and read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_dds::wire::{Encapsulation, Sample, write};

fuzz_target!(|input: ([u8; 2], &[u8])| {
    let (identifier, bytes) = input;
    let Some(layout) = Encapsulation::of(identifier) else {
        return;
    };
    let Ok(sample) = Sample::read(bytes, layout) else {
        return;
    };
    let written = bytes_of(&sample);
    let Ok(again) = Sample::read(&written, Encapsulation::WRITTEN) else {
        panic!("what was written is not read: {sample:?}");
    };
    // By their bytes: a NaN is not equal to itself.
    assert_eq!(bytes_of(&again), written);
});

fn bytes_of(sample: &Sample<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&sample.observation, sample.cursor, sample.gap, &mut out);
    out
}
