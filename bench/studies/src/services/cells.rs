//! The cells: a stack, a message, how many calls are under way, and over what.

use weir_bench_model::cell::LOCAL;
use weir_bench_model::effort::Effort;

/// A stack: what carries the call, and in which encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    /// The protocol, as a level.
    pub protocol: &'static str,
    /// What it runs over.
    pub transport: &'static str,
    /// What secures it.
    pub security: &'static str,
    /// How the message is encoded.
    pub format: &'static str,
    /// What the paper calls it.
    pub published: Option<&'static str>,
}

/// All stacks; those of the paper in their plain form, and what it left for later.
/// OSCORE stands in the place of DTLS, which the gateway does not speak.
pub(super) const STACKS: [Stack; 16] = [
    stack(["soap", "http-1.1", "none", "soap"], Some("Axis2")),
    stack(["soap", "http-1.1", "tls", "soap"], None),
    stack(["soap", "http-2", "none", "soap"], None),
    stack(["soap", "http-2", "tls", "soap"], None),
    stack(["soap", "http-1.1", "none", "exi"], None),
    stack(["soap", "coap", "none", "soap"], None),
    stack(["soap", "coap", "none", "exi"], None),
    stack(["dpws", "http-1.1", "none", "soap"], Some("DPWS")),
    stack(["rest", "http-1.1", "none", "protobuf"], Some("REST")),
    stack(["rest", "http-1.1", "tls", "protobuf"], None),
    stack(["rest", "http-2", "none", "protobuf"], None),
    stack(["rest", "http-2", "tls", "protobuf"], None),
    stack(["coap", "udp", "none", "protobuf"], Some("CoAP")),
    stack(["coap", "udp", "oscore", "protobuf"], None),
    stack(["coap", "tcp", "none", "protobuf"], None),
    stack(["coap", "tcp", "tls", "protobuf"], None),
];

const fn stack(
    [protocol, transport, security, format]: [&'static str; 4],
    published: Option<&'static str>,
) -> Stack {
    Stack {
        protocol,
        transport,
        security,
        format,
        published,
    }
}

impl Stack {
    /// Whether several calls may be under way: whoever looks for a device first makes one.
    fn is_pipelined(&self) -> bool {
        self.protocol != "dpws"
    }

    /// Whether calls go by datagrams.
    pub(super) fn by_datagrams(&self) -> bool {
        matches!(self.transport, "udp" | "coap")
    }
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// What carries the call.
    pub stack: &'static Stack,
    /// Bytes of the message in Protobuf.
    pub payload_bytes: usize,
    /// Calls under way at once.
    pub depth: usize,
    /// `ipv4` or `ipv6`.
    pub family: &'static str,
    /// The link's name.
    pub link: &'static str,
    /// Bytes that may wait for the link's medium; nothing: as its profile says.
    pub queue_bytes: Option<usize>,
}

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Interleaved rounds.
    pub rounds: usize,
    /// The same of cells that are not chief.
    pub rounds_of_others: usize,
    /// Messages a round.
    pub messages: u32,
    /// Messages a round over a link: what a round trip there allows.
    pub messages_over_link: u32,
    /// Messages before counting starts.
    pub warm_up: u32,
    /// The same over a link.
    pub warm_up_over_link: u32,
    /// The same where a Java virtual machine serves.
    pub warm_up_jvm: u32,
}

impl Scale {
    /// Of an effort: in full as many messages as the paper's, over five rounds; over a link, where a
    /// round trip may take half a second, 500.
    pub(super) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self {
                rounds: 3,
                rounds_of_others: 2,
                messages: 200,
                messages_over_link: 8,
                warm_up: 30,
                warm_up_over_link: 2,
                warm_up_jvm: 2000,
            },
            Effort::Full => Self {
                rounds: 5,
                rounds_of_others: 5,
                messages: 2000,
                messages_over_link: 100,
                warm_up: 100,
                warm_up_over_link: 5,
                warm_up_jvm: 10_000,
            },
        }
    }

    /// Messages of one round of a cell: before counting starts, and then. A virtual machine compiles what
    /// it has run often, so those before the first round are more for one, which is cold.
    pub(super) fn messages_of(&self, setting: &Setting, is_cold: bool) -> (u32, u32) {
        let (warm_up, messages) = match setting.link {
            LOCAL => (self.warm_up, self.messages),
            _ => (self.warm_up_over_link, self.messages_over_link),
        };
        (if is_cold { self.warm_up_jvm } else { warm_up }, messages)
    }

    /// Interleaved rounds of a cell.
    pub(super) fn rounds_of(&self, setting: &Setting) -> usize {
        match setting.is_chief() {
            true => self.rounds,
            false => self.rounds_of_others,
        }
    }
}

/// The paper's simple message, and larger ones of the same fields. Bytes of Protobuf.
pub(super) const PAYLOADS: [usize; 3] = [100, 1000, 10_000];
/// The paper's own: as small a message as its words allow.
pub(super) const PAYLOAD: usize = PAYLOADS[0];
/// Calls under way at once, beside one.
const DEPTHS: [usize; 2] = [8, 32];
/// Queues of the link that a burst of calls fills, bytes.
pub(super) const QUEUES: [usize; 2] = [8 * 1024, 256 * 1024];

/// Links other than the machine itself: the paper's LAN, and those of paper 004.
pub(super) fn links(effort: Effort) -> Vec<&'static str> {
    match effort {
        Effort::Quick => vec!["wifi"],
        Effort::Full => vec!["lan", "wifi", "3g"],
    }
}

/// All cells, in the order of the report.
pub(super) fn settings(effort: Effort) -> Vec<Setting> {
    let full = effort == Effort::Full;
    let mut all = Vec::new();
    for stack in &STACKS {
        let payloads = match (full, stack.published) {
            (true, _) => &PAYLOADS[..],
            (false, Some(_)) => &PAYLOADS[..2],
            (false, None) => &PAYLOADS[..1],
        };
        all.extend(payloads.iter().map(|&payload| simple(stack, payload)));
    }
    let depths = if full { &DEPTHS[..] } else { &DEPTHS[1..] };
    let deep = |stack| {
        depths.iter().map(move |&depth| Setting {
            depth,
            ..simple(stack, PAYLOAD)
        })
    };
    let of_paper = || STACKS.iter().filter(|stack| stack.published.is_some());
    let deepened: Vec<&Stack> = match full {
        true => STACKS.iter().collect(),
        false => of_paper().collect(),
    };
    let deepened = deepened.into_iter().filter(|stack| stack.is_pipelined());
    all.extend(deepened.flat_map(deep));
    all.extend(of_paper().map(|stack| Setting {
        family: "ipv6",
        ..simple(stack, PAYLOAD)
    }));
    for link in links(effort) {
        let stacks: Vec<&Stack> = if full {
            STACKS.iter().collect()
        } else {
            of_paper().collect()
        };
        all.extend(stacks.into_iter().map(|stack| Setting {
            link,
            ..simple(stack, PAYLOAD)
        }));
    }
    if full {
        let filling = of_paper().filter(|stack| stack.is_pipelined());
        all.extend(filling.flat_map(|stack| QUEUES.map(|queue| queued(stack, queue))));
    }
    all
}

/// A call alone on this machine.
pub(super) fn simple(stack: &'static Stack, payload_bytes: usize) -> Setting {
    Setting {
        stack,
        payload_bytes,
        depth: 1,
        family: "ipv4",
        link: LOCAL,
        queue_bytes: None,
    }
}

/// Many larger calls at once, so that the slow link's queue fills.
pub(super) fn queued(stack: &'static Stack, queue_bytes: usize) -> Setting {
    Setting {
        depth: 32,
        link: "3g",
        queue_bytes: Some(queue_bytes),
        ..simple(stack, PAYLOADS[1])
    }
}

impl Setting {
    /// The cell's name: `factor=level;factor=level`.
    pub(super) fn name(&self) -> String {
        let Stack {
            protocol,
            transport,
            security,
            format,
            ..
        } = self.stack;
        let Self {
            payload_bytes,
            depth,
            family,
            link,
            ..
        } = self;
        let queue = self
            .queue_bytes
            .map_or(String::new(), |bytes| format!(";queue={bytes}"));
        format!(
            "protocol={protocol};transport={transport};security={security};format={format};\
             payload={payload_bytes};depth={depth};family={family};link={link}{queue}"
        )
    }

    /// Whether it is one of the paper's: its message, one call at a time, no link between.
    pub(super) fn is_chief(&self) -> bool {
        (self.payload_bytes, self.depth, self.link) == (PAYLOAD, 1, LOCAL)
    }

    /// The link with what is changed of it.
    pub(super) fn link(&self) -> String {
        match self.queue_bytes {
            Some(bytes) => format!("{},queue={bytes} B", self.link),
            None => self.link.into(),
        }
    }
}

/// The names of all cells.
pub(super) fn names(effort: Effort) -> Vec<String> {
    settings(effort).iter().map(Setting::name).collect()
}
