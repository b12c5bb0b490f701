use super::*;

/// What the board says next, and hears in answer.
struct Dialogue<'a> {
    modem: Modem<'a>,
}

impl Dialogue<'_> {
    fn hears(&mut self, text: &str) {
        for byte in text.bytes() {
            assert!(self.modem.takes(), "at {byte} of {text:?}");
            self.modem.receive(byte);
        }
    }

    fn says(&mut self, text: &str) {
        self.modem.poll(0);
        let said: Vec<u8> = core::iter::from_fn(|| self.modem.transmit()).collect();
        assert_eq!(String::from_utf8(said).unwrap(), text);
    }

    fn begins(&mut self) {
        self.says("");
        self.hears("\r\nready\r\n");
        self.says("ATE0\r\n");
        // Said twice, since nobody answered in time.
        self.hears("\r\nready\r\nATE0\r\r\n\r\nOK\r\n");
        self.says("AT+CIPMUX=1\r\n");
        self.hears("\r\nOK\r\n");
        self.says("AT+CIPSTART=0,\"UDP\",\"10.9.0.1\",4002,4003,0\r\n");
        self.hears("0,CONNECT\r\n\r\nOK\r\n");
        self.says("");
    }

    fn connects(&mut self, kind: &str) {
        let server = "10.9.0.1:1883".parse().unwrap();
        self.modem.connect(server, kind == "TCP");
        self.says(&format!("AT+CIPSTART=1,\"{kind}\",\"10.9.0.1\",1883\r\n"));
        assert!(!self.modem.is_connected(true));
        self.hears("1,CONNECT\r\n\r\nOK\r\n");
        assert!(self.modem.is_connected(true));
    }
}

fn filled(bytes: &[u8]) -> Buffer {
    let mut buffer = Buffer::new();
    buffer.push(bytes);
    buffer
}

#[test]
fn a_stream_is_opened_spoken_by_and_closed() {
    let mut memory = Memory::new();
    let modem = Modem::new(&mut memory);
    let mut dialogue = Dialogue { modem };
    dialogue.begins();
    dialogue.connects("TCP");
    let mut out = filled(b"hello");
    dialogue.modem.send(&mut out, true);
    assert!(out.bytes().is_empty());
    dialogue.says("AT+CIPSEND=1,5\r\n");
    // What is said meanwhile waits, and what comes meanwhile is heard.
    let mut more = filled(b"again");
    dialogue.modem.send(&mut more, true);
    assert_eq!(more.bytes(), b"again");
    dialogue.hears("\r\n+IPD,1,3:OK\r\r\nOK\r\n>");
    dialogue.says("hello");
    dialogue.hears("\r\nRecv 5 bytes\r\n\r\nSEND OK\r\n");
    let mut heard = Buffer::new();
    assert!(dialogue.modem.hear_stream(&mut heard));
    assert_eq!(heard.bytes(), b"OK\r");
    assert!(!dialogue.modem.hear_stream(&mut heard));
    dialogue.modem.close();
    dialogue.says("AT+CIPCLOSE=1\r\n");
    dialogue.hears("1,CLOSED\r\n\r\nOK\r\n");
    dialogue.says("");
    dialogue.connects("UDP");
}

#[test]
fn datagrams_come_one_at_a_time_and_the_modem_waits_for_the_first_to_be_read() {
    let mut memory = Memory::new();
    let modem = Modem::new(&mut memory);
    let mut dialogue = Dialogue { modem };
    dialogue.begins();
    dialogue.connects("UDP");
    dialogue.hears("\r\n+IPD,1,2:ab\r\n+IPD,1,2:");
    assert!(!dialogue.modem.takes());
    let mut heard = Buffer::new();
    assert!(dialogue.modem.hear_datagram(&mut heard));
    assert_eq!(heard.bytes(), b"ab");
    dialogue.hears("cd");
    assert!(dialogue.modem.hear_datagram(&mut heard));
    assert_eq!(heard.bytes(), b"cd");
    assert!(!dialogue.modem.hear_datagram(&mut heard));
}

#[test]
fn a_server_that_refuses_or_leaves_ends_the_conversation_alone() {
    let mut memory = Memory::new();
    let modem = Modem::new(&mut memory);
    let mut dialogue = Dialogue { modem };
    dialogue.begins();
    let server = "10.9.0.1:1".parse().unwrap();
    dialogue.modem.connect(server, true);
    assert!(!dialogue.modem.is_over(true));
    dialogue.says("AT+CIPSTART=1,\"TCP\",\"10.9.0.1\",1\r\n");
    dialogue.hears("\r\nERROR\r\n");
    assert!(dialogue.modem.is_over(true));
    dialogue.modem.close();
    dialogue.connects("TCP");
    dialogue.modem.send(&mut filled(b"hello"), true);
    dialogue.says("AT+CIPSEND=1,5\r\n");
    dialogue.hears("1,CLOSED\r\n\r\nERROR\r\n");
    assert!(dialogue.modem.is_over(true));
    dialogue.modem.report(b"id=1 state=failed");
    dialogue.says("AT+CIPSEND=0,18\r\n");
    dialogue.hears("\r\nOK\r\n\r\n> ");
    dialogue.says("id=1 state=failed\n");
}

#[test]
fn orders_are_read_whole_and_what_comes_for_nobody_is_dropped() {
    let mut memory = Memory::new();
    let modem = Modem::new(&mut memory);
    let mut dialogue = Dialogue { modem };
    dialogue.begins();
    dialogue.hears("\r\n+IPD,1,3:old\r\n+IPD,0,4:what");
    assert!(matches!(dialogue.modem.order(), Some(None)));
    assert!(dialogue.modem.order().is_none());
    let order = "id=3 protocol=mqtt-qos-1 server=10.9.0.1:1883 payload=100 packets=1000 \
                 warm-up=5 rest-ms=60 wait-ms=20000 target=echo peer=echo";
    dialogue.hears(&format!("\r\n+IPD,0,{}:{order}", order.len()));
    assert!(matches!(dialogue.modem.order(), Some(Some(it)) if it.id == 3));
}
