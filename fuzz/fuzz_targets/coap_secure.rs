//! OSCORE: no datagram breaks a guard or is believed without its keys, and a header is written as it was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};
use weir_coap::secure::{Context, Contexts, Guard, Header, Material, Numbers, Opened, Remote};

static CONTEXTS: LazyLock<Arc<Contexts>> = LazyLock::new(|| {
    let material = Material {
        secret: vec![1; 16],
        salt: Vec::new(),
        own: Vec::new(),
        peer: vec![1],
        id_context: None,
    };
    let context = Context::derive(&material).expect("keys");
    let numbers = Arc::new(Numbers::from(0));
    numbers.reserve(u64::MAX);
    Arc::new(Contexts::new(vec![(context, [7; 8])], numbers))
});

fuzz_target!(|bytes: &[u8]| {
    if let Some(header) = Header::parse(bytes) {
        let written = header.write();
        assert_eq!(Header::parse(&written), Some(header));
    }
    let mut guard = Guard::new(CONTEXTS.clone());
    match guard.open(1u8, bytes) {
        Opened::Taken(..) => panic!("nobody has the keys"),
        Opened::Untouched(peer) => assert_eq!(peer, Remote::plain(1)),
        Opened::Answer(_) | Opened::Dropped => {}
    }
});
