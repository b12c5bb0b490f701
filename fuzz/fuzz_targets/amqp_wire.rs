//! AMQP's bytes: none break what reads them, and what is read is written so that it reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_amqp::wire::{Framed, Message, Performative, Sasl, frame};

fuzz_target!(|bytes: Vec<u8>| {
    if let Ok(Framed::Whole(header)) = frame(&bytes, 1 << 20) {
        if let Ok(Some((read, payload))) = Performative::read(&header, &bytes) {
            let mut out = Vec::new();
            read.write(header.channel, payload.len(), &mut out);
            out.extend_from_slice(payload);
            let Ok(Framed::Whole(again)) = frame(&out, usize::MAX) else {
                panic!("no frame");
            };
            let back = Performative::read(&again, &out);
            // Numbers that are none differ from themselves.
            assert_eq!(
                format!("{:?}", back),
                format!("{:?}", Ok::<_, ()>(Some((&read, payload))))
            );
        }
        if let Ok(read) = Sasl::read(&header, &bytes) {
            let mut out = Vec::new();
            read.write(&mut out);
            let Ok(Framed::Whole(again)) = frame(&out, usize::MAX) else {
                panic!("no frame");
            };
            assert_eq!(Sasl::read(&again, &out), Ok(read));
        }
    }
    if let Ok(message) = Message::read(&bytes.into()) {
        let mut out = Vec::new();
        message.write(&mut out);
        let back = Message::read(&out.into());
        assert_eq!(format!("{back:?}"), format!("{:?}", Ok::<_, ()>(message)));
    }
});
