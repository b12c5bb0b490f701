//! Documents that are valid by `corpus/edges.xsd`, of values and structures at the borders where
//! representations and grammars change.

use crate::random::Random;
use std::fmt::Write;

/// A valid document.
pub(crate) fn document(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xED6E);
    let mut out = String::from(
        "<edges xmlns=\"urn:weir:edges\" xmlns:e=\"urn:weir:edges\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">",
    );
    for _ in 0..random.below(40) {
        match random.below(3) {
            0 => out.push_str(random.pick(STRUCTURES)),
            1 => tree(&mut random, &mut out, 0),
            _ => value(&mut random, &mut out),
        }
    }
    out.push_str("</edges>");
    out
}

fn value(random: &mut Random, out: &mut String) {
    let (name, values) = random.pick(VALUES);
    let value = random.pick(values);
    let _ = write!(out, "<{name}>{value}</{name}>");
}

fn tree(random: &mut Random, out: &mut String, depth: usize) {
    out.push_str("<tree>");
    if depth < 8 {
        (0..random.below(3)).for_each(|_| tree(random, out, depth + 1));
    }
    if random.one_in(2) {
        out.push_str(random.pick(&["<leaf>-128</leaf>", "<leaf>127</leaf>"]));
    }
    out.push_str("</tree>");
}

/// Elements of simple types, and values of theirs. The oracle prints no year beyond 9999 and no fraction
/// of a second beyond a 32-bit integer, and takes `5.` for no decimal.
const VALUES: &[(&str, &[&str])] = &[
    ("bits0", &["7", "+7", "007", " 7 "]),
    ("bits1", &["-1", "0", "-0"]),
    ("bits12", &["0", "4095", "2048"]),
    ("unsigned4097", &["0", "4096", "4095"]),
    ("signed4096", &["-2048", "2047", "0", "-1"]),
    ("signed4097", &["-2048", "2048", "0"]),
    ("open", &["0", "9", "5"]),
    (
        "positive",
        &[
            "1",
            "18446744073709551615",
            "18446744073709551616",
            "340282366920938463463374607431768211456",
        ],
    ),
    (
        "nonPositive",
        &["0", "-1", "-18446744073709551616", "-18446744073709551617"],
    ),
    ("unsignedShort", &["0", "65535", "128", "127"]),
    ("twoLong", &["9223372036854775806", "9223372036854775807"]),
    ("money", &["0.05", "-1234567.89", "10", "0.50"]),
    (
        "integer",
        &[
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "-9223372036854775809",
            "123456789012345678901234567890123456789012345678901234567890",
        ],
    ),
    (
        "decimal",
        &[
            "0.0",
            "-0.0",
            "-0.5",
            "1.000000000000000000000000000000001",
            "123456789012345678901234567890.0987654321",
            ".5",
            "+.25",
            "00.100",
            "-00010.0",
            "18446744073709551616.18446744073709551616",
        ],
    ),
    (
        "double",
        &[
            "-0",
            "0",
            "-0.0E5",
            "INF",
            "-INF",
            "NaN",
            "1E0",
            "1.0E-5",
            "9223372036854775807",
            "-9223372036854775808",
            "1.7976931348623157E308",
            "4.9E-324",
            "100",
            "1e10",
            "-1.E2",
            ".5e1",
            "12345678901234567",
        ],
    ),
    (
        "dateTime",
        &[
            "1999-12-31T24:00:00",
            "0001-01-01T00:00:00Z",
            "-0001-01-01T00:00:00Z",
            "2000-02-29T12:30:45.100",
            "2000-02-29T12:30:45.0010+14:00",
            "2000-02-29T12:30:45-14:00",
            "-2026-12-31T23:59:59+05:30",
            "2000-01-01T00:00:00+00:00",
            "2000-01-01T00:00:00-00:00",
        ],
    ),
    (
        "time",
        &[
            "24:00:00",
            "00:00:00Z",
            "23:59:59.990",
            "12:00:00+14:00",
            "12:00:00.0",
        ],
    ),
    ("date", &["2000-02-29", "0001-12-31Z", "-0044-03-15"]),
    ("gYear", &["2000", "-0001", "1999+14:00"]),
    ("gYearMonth", &["2000-01", "-0001-12", "1999-12Z"]),
    ("gMonthDay", &["--02-29", "--12-31Z", "--01-01+13:59"]),
    ("gDay", &["---01", "---31Z", "---15-00:01"]),
    ("hex", &["", "0a0B", "CAFE", " 00 "]),
    (
        "base64",
        &[
            "",
            "QQ==",
            "Q U J D",
            "QUI=",
            "\nQUJD\n  QUJD\n",
            "AAAAAAAA/+9z",
        ],
    ),
    ("boolean", &["true", "false", "0", "1", " true "]),
    ("qname", &["e:a", "a", "xs:int"]),
    (
        "string",
        &[
            "",
            " ",
            "\n",
            " a ",
            "&lt;&amp;",
            "a&#13;b",
            "\u{1F600}",
            "e\u{301}",
            "repeated",
            "repeated",
        ],
    ),
    ("token", &["", "a", "a b", "  a   b  "]),
    ("shade", &["red", "dark red", ""]),
    ("colors", &["", "a", "a b c c b a", " a  b "]),
    ("decimals", &["", "0.5 -0.5 12", "1.0"]),
    ("flags", &["true false 1 0", "", "1"]),
    (
        "instants",
        &["2000-01-01T00:00:00Z 2000-01-01T00:00:00.5-05:00", ""],
    ),
    ("either", &["1", "a", "2000-01-01T00:00:00Z", "007"]),
    ("eitherOf", &["1", "b"]),
    ("eithers", &["1 a", "", "b"]),
    ("sizes", &["1.50", "2", "-0.25", "1.5", "2.0"]),
    ("halves", &["0.5", "1E3", "INF", "1000", "5E-1"]),
    ("days", &["2026-01-01", "2026-06-30Z"]),
    ("bytes", &["00", "CAFE", "cafe"]),
    ("pairs", &["a b", "b c"]),
    ("one", &["only"]),
    ("digits", &["0", "123456789"]),
    ("notA", &["", "bcd", "\u{e9}"]),
    ("words", &["", "on", "off", "zy", "aaa"]),
    ("twice", &["4", "01234"]),
    ("faces", &["", "\u{1F600}a", "b\u{1F602}"]),
    ("many", &["", "\u{100}\u{1fe}", "\u{17f}"]),
    ("code", &["A1", "Z9"]),
    ("global", &["-2048", "2047"]),
];

/// Elements with structure.
const STRUCTURES: &[&str] = &[
    "<counted a=\"b\"/>",
    "<counted z=\"-1\" a=\"c\" e:m=\"2000-01-01T24:00:00\" l=\"1 2.5\"><a>1</a><a>2</a>\
     <b>0</b><a>3</a><a>4</a><a>5</a><a>6</a><a>7</a></counted>",
    "<counted a=\"a\"><a>1</a><a>2</a><a>3</a><a>4</a><a>5</a><a>6</a><a>7</a></counted>",
    "<nested><a>x</a><b>1</b><c>2000-01-01</c><d>1</d><e xmlns=\"\">2</e><a>y</a><d>-0</d>\
     </nested>",
    "<nested><d>INF</d></nested>",
    "<everything><a>1</a></everything>",
    "<everything><b>x</b><a>1</a><c>2</c></everything>",
    "<nothing/>",
    "<nothing why=\"because\"></nothing>",
    "<nillable xsi:nil=\"true\"/>",
    "<nillable xsi:nil=\"1\" uom=\"u\"/>",
    "<nillable xsi:nil=\"false\" exact=\"0\">1.5</nillable>",
    "<nillable>2</nillable>",
    "<nillable xsi:type=\"measureSmall\" xsi:nil=\"true\"/>",
    "<nillable xsi:type=\"e:measureSmall\" uom=\"m\">9.5</nillable>",
    "<measure uom=\"urn:u\" exact=\"true\">-0.0</measure>",
    "<base/>",
    "<base id=\"x\"><n>1</n></base>",
    "<base xsi:type=\"base\"/>",
    "<base xsi:type=\"more\" aa=\"1\"><n>5</n><o>x</o><o>y</o></base>",
    "<base id=\"y\" xsi:type=\"e:most\"><o>x</o><q xsi:type=\"more\"><o/></q></base>",
    "<base xsi:type=\"most\"><o>x</o><p>4095</p></base>",
    "<base xsi:type=\"less\" id=\"z\"/>",
    "<simple>x</simple>",
    "<simple xsi:type=\"xs:int\">-5</simple>",
    "<simple xsi:type=\"xs:dateTime\">2000-01-01T00:00:00.50Z</simple>",
    "<simple xsi:type=\"tone\">b</simple>",
    "<simple xsi:type=\"xs:NMTOKENS\">a b</simple>",
    "<wide/>",
    "<wide own=\"1\"><before>1</before><o:x xmlns:o=\"urn:o\"/><after>2</after>\
     <loc xmlns=\"\"/></wide>",
    "<wide o:a=\"b\" xmlns:o=\"urn:o\"><o:x o:y=\"z\">t<o:x/></o:x><o:x>u</o:x></wide>",
    "<narrow><global>5</global><o:a xmlns:o=\"urn:one\"/><loc xmlns=\"\">x<loc/></loc></narrow>",
    "<narrow e:known=\"4095\" o:a=\"x\" xmlns:o=\"urn:one\"><dog><o>w</o></dog></narrow>",
    "<text>a<b>c<b/></b>d</text>",
    "<text/>",
    "<text><b>x</b> <b>y</b><o:p xmlns:o=\"urn:o\">z</o:p> tail</text>",
    "<twin z=\"s\"><a>2000-01-01</a><b xsi:nil=\"true\"/><n>1</n></twin>",
    "<twin><b>CAFE</b></twin>",
    "<defaults/>",
    "<defaults g=\"0\"><i>5</i><f>fixed</f></defaults>",
    "<dog aa=\"5\" id=\"rex\"><n>0</n><o>bone</o></dog>",
    "<cat/>",
    "<kitten id=\"k\"/>",
    "<cat xsi:type=\"more\"><o>x</o></cat>",
];
