//! XMPP's streams: no bytes of a server break the reader, the client or the component.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_sansio::{Duration, Instant, Output, Session};
use weir_xmpp::session::{Client, ClientOptions, Component, SessionEvent};
use weir_xmpp::xml::Framer;

fuzz_target!(|input: (bool, Vec<(u8, Vec<u8>)>)| {
    let (is_client, pieces) = input;
    let mut framer = Framer::default();
    for (_, piece) in &pieces {
        framer.push(piece);
        for _ in 0..pieces.len() + piece.len() + 1 {
            if !matches!(framer.next_frame(), Ok(Some(_))) {
                break;
            }
        }
    }
    match is_client {
        true => run(Client::new(Instant::START, options()), &pieces, |client| {
            client.handled()
        }),
        false => run(
            Component::new(Instant::START, "weir.a", "b"),
            &pieces,
            |_| {},
        ),
    }
});

fn options() -> ClientOptions {
    ClientOptions {
        domain: "a".into(),
        user: "b".into(),
        password: "c".into(),
        nonce: "d".into(),
        may_be_clear: true,
        ..ClientOptions::default()
    }
}

fn run<S>(mut session: S, pieces: &[(u8, Vec<u8>)], handled: impl Fn(&mut S))
where
    S: Session<Event = SessionEvent, Transmit = Vec<u8>>,
{
    let mut now = Instant::START;
    for (secs, piece) in pieces {
        now = now + Duration::from_secs(u64::from(*secs));
        session.handle_timeout(now);
        let _never_fails = session.handle_input(now, piece);
        loop {
            match session.poll_output() {
                Output::Timeout(_) => break,
                Output::Transmit(_) => {}
                Output::Event(SessionEvent::Stanza(..) | SessionEvent::Skipped(_)) => {
                    handled(&mut session)
                }
                Output::Event(_) => {}
            }
        }
    }
}
