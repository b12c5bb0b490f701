//! XML Schemas from strangers: no text breaks the compiler, and a schema that it makes comes back from
//! its bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_exi::Schema;
use weir_exi::xsd::{Document, compile};

fuzz_target!(|text: &[u8]| {
    if let Ok(schema) = Schema::from_bytes(text) {
        assert_eq!(schema.to_bytes(), text);
    }
    let document = Document {
        location: "fuzz.xsd",
        bytes: text,
    };
    let mut itself = |location: &str| (location == "fuzz.xsd").then(|| text.to_vec());
    if let Ok(schema) = compile(&[document], &mut itself) {
        let bytes = schema.to_bytes();
        let again = Schema::from_bytes(&bytes).expect("what it wrote itself");
        assert_eq!(again.to_bytes(), bytes);
    }
});
