//! Devices against servers of their own protocols' machines, in threads: every byte of an exchange is known.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};

use weir_carrier::websocket::{Message as Text, Opcode, Reader, Role, accept, write_frame};
use weir_coap::limits::Limits;
use weir_coap::session::{Arrival, Endpoint, Event as CoapEvent, Parameters};
use weir_coap::wire::{Code, Message};
use weir_sansio::{Instant, Output};

use super::page::markdown;
use weir_bench_lab::order::Order;
use weir_bench_lab::targets::Settings;
use weir_bench_load::load::job::Task;
use weir_bench_model::clock::now_ns;
use weir_bench_model::effort::Effort;
use weir_bench_model::results::Run;
use weir_bench_peers::device::job::{
    CoapOver, CoapWay, Conversation, EchoOutcome, EchoPlan, Method,
};

const PACKETS: u32 = 20;

fn plan(conversation: Conversation, payload_bytes: usize) -> EchoPlan {
    EchoPlan {
        conversation,
        payload_bytes,
        warm_up: 2,
        packets: PACKETS,
        rest_ms: 0,
        is_on_link: false,
        modem: false,
        certificate: None,
        wait_ms: 300,
    }
}

/// Bytes of the application that one exchange takes.
fn bytes_of(outcome: &EchoOutcome) -> u64 {
    assert_eq!(outcome.lost, 0);
    assert_eq!(outcome.rtt.count(), u64::from(PACKETS));
    assert_eq!(outcome.traffic.application_bytes % u64::from(PACKETS), 0);
    outcome.traffic.application_bytes / u64::from(PACKETS)
}

/// A server of one connection.
fn stream_server(serve: impl FnOnce(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        serve(stream);
    });
    address
}

fn datagram_server(serve: impl FnOnce(UdpSocket) + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || serve(socket));
    address
}

/// Sends back every datagram but each of these, counted from 1.
fn echo_but(dropped: &'static [usize]) -> SocketAddr {
    datagram_server(move |socket| {
        let mut buffer = [0; 2048];
        for count in 1.. {
            let (length, peer) = socket.recv_from(&mut buffer).unwrap();
            if !dropped.contains(&count) {
                socket.send_to(&buffer[..length], peer).unwrap();
            }
        }
    })
}

/// As much of a WebSocket server as shakes hands and sends texts back.
fn websocket_server(mut tcp: TcpStream) {
    let mut request = vec![0; 4096];
    let length = tcp.read(&mut request).unwrap();
    let head = String::from_utf8_lossy(&request[..length]).into_owned();
    let key = head
        .lines()
        .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
    let accepted = accept(key.unwrap()).unwrap();
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accepted}\r\n\r\n"
    );
    tcp.write_all(answer.as_bytes()).unwrap();
    let mut reader = Reader::new(Role::Server, false, 1 << 20);
    let mut buffer = vec![0; 4096];
    while let Ok(length @ 1..) = tcp.read(&mut buffer) {
        let (mut texts, mut frames) = (Vec::new(), Vec::new());
        reader.read(&buffer[..length], &mut texts).unwrap();
        for text in texts {
            if let Text::Text(text) = text {
                write_frame(Opcode::TEXT, &text, &mut frames);
            }
        }
        tcp.write_all(&frames).unwrap();
    }
}

/// A CoAP server that answers each request with its own payload.
fn coap_server(socket: UdpSocket) {
    let now = || Instant::from_nanos(now_ns());
    let mut endpoint: Endpoint<SocketAddr> =
        Endpoint::new(Parameters::default(), Limits::default(), 7);
    let mut buffer = [0; 2048];
    loop {
        let (length, peer) = socket.recv_from(&mut buffer).unwrap();
        endpoint.receive(now(), peer, Arrival::default(), &buffer[..length]);
        loop {
            match endpoint.poll() {
                Output::Transmit(datagram) => {
                    _ = socket.send_to(&datagram.bytes, datagram.peer).unwrap();
                }
                Output::Event(CoapEvent::Request(incoming)) => {
                    let answer = Message::new(Code::CHANGED).with_payload(incoming.message.payload);
                    endpoint.respond(now(), incoming.exchange, answer, false);
                }
                Output::Event(_) => {}
                Output::Timeout(_) => break,
            }
        }
    }
}

/// As much of a broker of MQTT 3.1.1 as takes one client's packets in their order and hands them back.
fn broker(mut tcp: TcpStream, qos: u8, payload_bytes: usize) -> std::io::Result<()> {
    let mut connect = [0; 20];
    tcp.read_exact(&mut connect)?;
    tcp.write_all(&[0x20, 2, 0, 0])?;
    let mut subscribe = [0; 11];
    tcp.read_exact(&mut subscribe)?;
    tcp.write_all(&[0x90, 3, subscribe[2], subscribe[3], qos])?;
    let mut publish = vec![0; 2 + 6 + usize::from(qos > 0) * 2 + payload_bytes];
    let mut four = [0; 4];
    loop {
        tcp.read_exact(&mut publish)?;
        let acknowledgment = |kind: u8| [kind, 2, publish[8], publish[9]];
        match qos {
            0 => tcp.write_all(&publish)?,
            1 => {
                tcp.write_all(&acknowledgment(0x40))?;
                tcp.write_all(&publish)?;
                tcp.read_exact(&mut four)?;
            }
            _ => {
                tcp.write_all(&acknowledgment(0x50))?;
                tcp.read_exact(&mut four)?;
                tcp.write_all(&acknowledgment(0x70))?;
                tcp.write_all(&publish)?;
                tcp.read_exact(&mut four)?;
                tcp.write_all(&acknowledgment(0x62))?;
                tcp.read_exact(&mut four)?;
            }
        }
    }
}

#[test]
fn each_quality_of_mqtt_takes_its_acknowledgments_both_ways() {
    // Fixed header 2, topic 2 + 4; packet identifiers 2; acknowledgments of 4 bytes each.
    for (qos, overhead) in [(0, 2 * 8), (1, 2 * 10 + 2 * 4), (2, 2 * 10 + 6 * 4)] {
        let conversation = Conversation::Mqtt {
            qos,
            topic: "echo".into(),
        };
        let address = stream_server(move |tcp| _ = broker(tcp, qos, 100));
        let outcome = plan(conversation, 100).run(address).unwrap();
        assert_eq!(bytes_of(&outcome), 200 + overhead, "quality {qos}");
    }
}

#[test]
fn a_text_and_its_echo_take_two_frames_of_which_one_is_masked() {
    let conversation = || Conversation::WebSocket {
        target: "/echo".into(),
        subprotocol: None,
        commits: false,
    };
    for (payload, overhead) in [(1, 2 + 4 + 2), (1000, 4 + 4 + 4)] {
        let address = stream_server(websocket_server);
        let outcome = plan(conversation(), payload).run(address).unwrap();
        assert_eq!(bytes_of(&outcome), 2 * payload as u64 + overhead);
        assert!(outcome.traffic.packets >= 2 * u64::from(PACKETS));
    }
}

#[test]
fn a_coap_exchange_takes_two_datagrams_whether_confirmable_or_not() {
    for over in [CoapOver::Confirmable, CoapOver::NonConfirmable] {
        let conversation = Conversation::Coap {
            over,
            path: "echo".into(),
            format: None,
            way: CoapWay::Answer {
                prepare: None,
                ask: Method::Put,
            },
        };
        let address = datagram_server(coap_server);
        let outcome = plan(conversation, 100).run(address).unwrap();
        // Header and token 4 + 4, Uri-Path 5, marker 1; and back without the path.
        assert_eq!(
            bytes_of(&outcome),
            (4 + 4 + 5 + 1 + 100) + (4 + 4 + 1 + 100)
        );
        assert_eq!(outcome.traffic.packets, 2 * u64::from(PACKETS));
    }
}

#[test]
fn a_bare_datagram_takes_its_header_and_nothing_else() {
    let outcome = plan(Conversation::Datagrams, 10)
        .run(echo_but(&[]))
        .unwrap();
    assert_eq!(bytes_of(&outcome), 20);
    assert_eq!(
        outcome.traffic.transport_bytes(),
        u64::from(PACKETS) * (20 + 16)
    );
}

#[test]
fn a_packet_without_an_echo_counts_as_lost() {
    let outcome = plan(Conversation::Datagrams, 10)
        .run(echo_but(&[5]))
        .unwrap();
    assert_eq!(outcome.lost, 1);
    assert_eq!(outcome.rtt.count(), u64::from(PACKETS) - 1);
}

#[test]
fn a_server_that_goes_away_is_an_error() {
    let address = stream_server(drop);
    assert!(plan(Conversation::Stream, 10).run(address).is_err());
    let conversation = Conversation::Mqtt {
        qos: 1,
        topic: "echo".into(),
    };
    let address = stream_server(|mut tcp| {
        // CONNECT of a client called "device".
        tcp.read_exact(&mut [0; 20]).unwrap();
        // CONNACK of MQTT 3.1.1 with return code 5: not authorized.
        tcp.write_all(&[0x20, 2, 0, 5]).unwrap();
    });
    assert!(plan(conversation, 10).run(address).is_err());
}

#[test]
fn a_run_without_any_server_says_what_is_absent() {
    let work = std::env::temp_dir().join(format!("weir-link-{}", std::process::id()));
    std::fs::create_dir_all(&work).unwrap();
    let run = super::run(&Order {
        experiment: super::EXPERIMENT.name,
        source: super::EXPERIMENT.source,
        effort: Effort::Quick,
        only: "link=local;modem=none;protocol=websocket;security=none;\
               echo=subscription;payload=100;pace=next",
        seed: 1,
        settings: &Settings::default(),
        work: &work,
        journal: &weir_bench_model::journal::Journal::none(),
        command: "weir bench run link-efficiency".into(),
    });
    std::fs::remove_dir_all(&work).unwrap();
    let again: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    let page = markdown(&again, "runs/link");
    assert!(
        page.contains("## Not measured") && page.contains("absent"),
        "{page}"
    );
}
