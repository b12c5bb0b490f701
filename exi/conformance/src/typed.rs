//! Documents that are valid by `corpus/types.xsd`.

use crate::random::Random;
use std::fmt::Write;

/// A valid document.
pub(crate) fn document(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut out = String::from(
        "<all xmlns=\"urn:weir:types\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
    );
    if random.one_in(2) {
        let _ = write!(out, " id=\"{}\"", random.below(1000));
    }
    if random.one_in(2) {
        let _ = write!(out, " when=\"{}\"", date_time(&mut random));
    }
    out.push('>');
    for _ in 0..random.below(40) {
        item(&mut random, &mut out);
    }
    out.push_str("</all>");
    out
}

/// The elements with simple content, and how their values are made.
type Make = fn(&mut Random) -> String;
const SIMPLE: &[(&str, Make)] = &[
    ("string", string),
    ("normalizedString", |random| {
        string(random).replace(['\n', '\t'], " ")
    }),
    ("token", |random| {
        (random.pick(&["a", "a b", "", "token"])).into()
    }),
    ("NMTOKEN", |random| {
        (random.pick(&["a", "1", "x.y-z"])).into()
    }),
    ("NMTOKENS", |random| {
        (random.pick(&["a", "1 b c", "x.y z"])).into()
    }),
    ("anyURI", |random| {
        (random.pick(&["http://a/b?c#d", "urn:x", ""])).into()
    }),
    ("duration", |random| {
        (random.pick(&["P1D", "-PT1.5S", "P1Y2M3DT4H5M6S"])).into()
    }),
    ("boolean", |random| {
        (random.pick(&["true", "false", "1", "0"])).into()
    }),
    ("decimal", decimal),
    ("float", float),
    ("double", float),
    ("integer", integer),
    ("nonNegativeInteger", |random| {
        integer(random).trim_start_matches(['-', '+']).into()
    }),
    ("negativeInteger", |random| {
        format!("-{}", 1 + random.below(1 << 40))
    }),
    ("long", |random| (random.next() as i64).to_string()),
    ("int", |random| (random.next() as i32).to_string()),
    ("short", |random| (random.next() as i16).to_string()),
    ("byte", |random| (random.next() as i8).to_string()),
    ("unsignedLong", |random| random.next().to_string()),
    ("unsignedByte", |random| (random.next() as u8).to_string()),
    ("dateTime", date_time),
    ("time", time),
    ("date", |random| date(random) + zone(random)),
    ("gYearMonth", |random| {
        date(random)[..7].to_owned() + zone(random)
    }),
    ("gYear", |random| {
        date(random)[..4].to_owned() + zone(random)
    }),
    ("gMonthDay", |random| {
        format!("-{}{}", &date(random)[4..], zone(random))
    }),
    ("gMonth", |random| {
        format!("--{:02}{}", 1 + random.below(12), zone(random))
    }),
    ("gDay", |random| {
        format!("---{:02}{}", 1 + random.below(28), zone(random))
    }),
    ("hexBinary", |random| {
        (0..random.below(20))
            .map(|_| format!("{:02X}", random.next() as u8))
            .collect()
    }),
    ("base64Binary", base64),
    ("small", |random| {
        (random.below(1006) as i64 - 5).to_string()
    }),
    ("letters", |random| {
        (0..random.below(9))
            .map(|_| random.pick(&['a', 'b', 'c', 'd', 'e', 'f']))
            .collect()
    }),
    ("color", |random| {
        (random.pick(&["red", "green", "blue"])).into()
    }),
    ("level", |random| (random.pick(&["10", "20"])).into()),
    ("numbers", |random| {
        (0..random.below(5))
            .map(|_| integer(random))
            .collect::<Vec<_>>()
            .join(" ")
    }),
    ("either", |random| (random.pick(&["17", "blue"])).into()),
    ("flag", |random| {
        (random.pick(&["true", "false", "1", "0"])).into()
    }),
    ("circle", |random| random.below(100).to_string()),
    ("square", |random| random.below(100).to_string()),
];

fn item(random: &mut Random, out: &mut String) {
    let choice = random.below(SIMPLE.len() + 8);
    if let Some((name, make)) = SIMPLE.get(choice) {
        let value = make(random)
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('\r', "&#13;");
        let _ = write!(out, "<{name}>{value}</{name}>");
        return;
    }
    match choice - SIMPLE.len() {
        0 | 1 => record(random, out),
        2 => mixed(random, out),
        3 => open(random, out),
        4 => out.push_str("<group><x>1</x><z>t</z></group>"),
        5 => out.push_str("<maybe xsi:nil=\"true\"/>"),
        6 => out.push_str("<maybe>12</maybe>"),
        _ => out.push_str("<anything a=\"1\">t<b xmlns=\"\">u</b></anything>"),
    }
}

fn record(random: &mut Random, out: &mut String) {
    let long = random.one_in(3);
    let kind = if long { " xsi:type=\"longRecord\"" } else { "" };
    let quality = if random.one_in(2) {
        " quality=\"red\""
    } else {
        ""
    };
    let _ = write!(
        out,
        "<record unit=\"Cel\"{quality}{kind}><a>{}</a>",
        random.below(99)
    );
    if random.one_in(2) {
        out.push_str("<b>text</b>");
    }
    for _ in 0..random.below(4) {
        let _ = write!(out, "<c>{}</c>", decimal(random));
    }
    for _ in 0..random.below(3) {
        match random.below(3) {
            0 => out.push_str("<d>true</d>"),
            1 => out.push_str("<e>2026-11-20</e>"),
            _ => out.push_str("<e>2026-11-21</e><f>3</f>"),
        }
    }
    if long {
        out.push_str("<g>1.5</g><g>-2E3</g>");
    }
    out.push_str("</record>");
}

fn mixed(random: &mut Random, out: &mut String) {
    out.push_str("<mixed>");
    for _ in 0..random.below(5) {
        out.push_str(random.pick(&["some text", "<i>x</i>", "<n>12</n>"]));
    }
    out.push_str("</mixed>");
}

fn open(random: &mut Random, out: &mut String) {
    let attribute = if random.one_in(2) {
        " p:q=\"r\" xmlns:p=\"urn:p\""
    } else {
        ""
    };
    let _ = write!(out, "<open{attribute}><first>1</first>");
    for _ in 0..random.below(3) {
        out.push_str(random.pick(&[
            "<circle>5</circle>",
            "<o:any xmlns:o=\"urn:o\" a=\"b\">c<o:d/></o:any>",
            "<unknown/>",
        ]));
    }
    out.push_str("</open>");
}

fn string(random: &mut Random) -> String {
    let words = [
        "",
        "a",
        "repeated",
        "äé",
        "😀",
        "two\nlines",
        " blank ",
        "<&>",
    ];
    (0..random.below(4)).map(|_| random.pick(&words)).collect()
}

fn decimal(random: &mut Random) -> String {
    let digits = |random: &mut Random, count: usize| -> String {
        (0..count)
            .map(|_| char::from(b'0' + random.below(10) as u8))
            .collect()
    };
    let sign = random.pick(&["", "", "-", "+"]);
    let (whole, part) = (1 + random.below(22), 1 + random.below(22));
    match random.below(3) {
        0 => format!("{sign}{}", random.below(1000)),
        1 => format!("{sign}{}.{}", random.below(100), digits(random, 2)),
        _ => format!("{sign}{}.{}", digits(random, whole), digits(random, part)),
    }
}

fn float(random: &mut Random) -> String {
    match random.below(8) {
        0 => (random.pick(&["INF", "-INF", "NaN", "0", "-0", "1.0"])).into(),
        1 => format!("{}E{}", random.below(10_000), random.below(40) as i64 - 20),
        2 => format!("-{}.{}e-3", random.below(10), random.below(100)),
        _ => format!("{}.{}", random.below(100), random.below(1000)),
    }
}

fn integer(random: &mut Random) -> String {
    match random.below(4) {
        0 => format!("-{}{}", 1 + random.next() % 1000, random.next()),
        1 => format!("{}{}{}", 1 + random.below(9), random.next(), random.next()),
        2 => "0".into(),
        _ => random.below(1000).to_string(),
    }
}

fn date(random: &mut Random) -> String {
    format!(
        "{:04}-{:02}-{:02}",
        1900 + random.below(200),
        1 + random.below(12),
        1 + random.below(28)
    )
}

fn time(random: &mut Random) -> String {
    let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
    let fraction = random.pick(&["", "", ".5", ".250", ".000001"]);
    format!(
        "{hour:02}:{minute:02}:{second:02}{fraction}{}",
        zone(random)
    )
}

fn date_time(random: &mut Random) -> String {
    format!("{}T{}", date(random), time(random))
}

fn zone(random: &mut Random) -> &'static str {
    random.pick(&["", "Z", "+02:00", "-11:30"])
}

fn base64(random: &mut Random) -> String {
    let letters = ["QUJD", "AAAA", "/+9z", "abcd"];
    let mut text: String = (0..random.below(6))
        .map(|_| random.pick(&letters))
        .collect();
    if random.one_in(2) {
        text.push_str(random.pick(&["QQ==", "QUI="]));
    }
    text
}
