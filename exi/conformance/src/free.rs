//! Documents without a schema: namespaces, mixed content, comments, instructions, document types, deep
//! and wide trees, long and strange strings.

use crate::random::Random;

const NAMES: &[&str] = &[
    "a",
    "bb",
    "temperature",
    "x-y",
    "é",
    "_1",
    "Observation",
    "type",
    "nil",
    "数",
];
const URIS: &[&str] = &[
    "urn:u",
    "http://example.org/a",
    "http://www.opengis.net/om/2.0",
    "v",
];
const WORDS: &[&str] = &[
    "",
    "1",
    "12.50",
    "true",
    "2026-11-20T09:41:00Z",
    "repeated value",
    "&lt;&amp;&gt;",
    "&#13;",
    "\n  ",
    "äöü",
    "日本語",
    "😀𝄞",
    "\u{E000}",
    "a\tb",
    "]]",
    "http://example.org/a/long/uri?with=query",
];

/// A document of this shape.
pub(crate) fn document(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut writer = Writer {
        out: String::new(),
        bound: Vec::new(),
        budget: 10 + random.below(200),
    };
    writer.prolog(&mut random);
    match seed % 6 {
        0 => writer.deep(&mut random),
        1 => writer.wide(&mut random),
        2 => writer.long(&mut random),
        _ => writer.element(&mut random, 0),
    }
    if random.one_in(4) {
        writer.out.push_str("<!-- after --><?end?>");
    }
    if writer.has_entities() {
        // Where entities of its own are kept, the oracle keeps predefined ones too, and drops blanks
        // beside them.
        for word in ["&lt;", "&amp;", "&gt;"] {
            writer.out = writer.out.replace(word, "");
        }
    }
    writer.out
}

struct Writer {
    out: String,
    bound: Vec<(String, &'static str)>,
    budget: usize,
}

impl Writer {
    fn prolog(&mut self, random: &mut Random) {
        if random.one_in(3) {
            self.out
                .push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        }
        if random.one_in(3) {
            self.out.push_str("<!-- before --><?begin now?>\n");
        }
        if random.one_in(4) {
            self.out
                .push_str("<!DOCTYPE a [<!ENTITY own \"its text\"> <!ENTITY two \"2\"> ]>\n");
        }
    }

    fn has_entities(&self) -> bool {
        self.out.contains("<!ENTITY own")
    }

    fn deep(&mut self, random: &mut Random) {
        let depth = 20 + random.below(180);
        let names: Vec<_> = (0..depth).map(|_| random.pick(NAMES)).collect();
        names
            .iter()
            .for_each(|name| self.out += &format!("<{name}>"));
        self.text(random);
        names
            .iter()
            .rev()
            .for_each(|name| self.out += &format!("</{name}>"));
    }

    fn wide(&mut self, random: &mut Random) {
        self.out.push_str("<table>");
        for row in 0..50 + random.below(300) {
            let value = random.below(40);
            self.out += &format!(
                "<row n=\"{row}\"><v>{value}.{}</v><w>{}</w></row>",
                row % 7,
                random.pick(WORDS)
            );
        }
        self.out.push_str("</table>");
    }

    fn long(&mut self, random: &mut Random) {
        let word = random
            .pick(&["x", "ab ", "é", "😀", "12.5,"])
            .repeat(1 + random.below(5000));
        let lengths = 1 + random.below(4);
        self.out.push_str("<long>");
        for index in 0..lengths {
            self.out += &format!("<s a=\"{index}\">{word}</s><s>{word}{index}</s>");
        }
        self.out.push_str("</long>");
    }

    fn element(&mut self, random: &mut Random, depth: usize) {
        let scope = self.bound.len();
        let mut declarations = String::new();
        if random.one_in(if depth == 0 { 2 } else { 8 }) {
            let (prefix, uri) = (random.pick(&["p", "q", "om", ""]), random.pick(URIS));
            declarations = match prefix {
                "" => format!(" xmlns=\"{uri}\""),
                _ => format!(" xmlns:{prefix}=\"{uri}\""),
            };
            self.bound.push((prefix.into(), uri));
        }
        let name = self.name(random, false);
        self.out += &format!("<{name}{declarations}");
        self.attributes(random);
        let children = if depth > 12 || self.budget == 0 {
            0
        } else {
            random.below(6)
        };
        if children == 0 && random.one_in(2) {
            self.out.push_str("/>");
        } else {
            self.out.push('>');
            self.children(random, depth, children);
            self.out += &format!("</{name}>");
        }
        self.bound.truncate(scope);
    }

    fn children(&mut self, random: &mut Random, depth: usize, count: usize) {
        if count == 0 {
            return self.text(random);
        }
        let mixed = random.one_in(3);
        for _ in 0..count {
            self.budget = self.budget.saturating_sub(1);
            match random.below(12) {
                0 if mixed => self.out.push_str("<!--c-->"),
                1 if mixed => self.out.push_str("<?pi data?>"),
                2 if mixed => self.out.push_str("<![CDATA[<raw> & ]]>"),
                3 if mixed && self.has_entities() => self.out.push_str("&own;"),
                4..=6 if mixed => self.text(random),
                _ => self.element(random, depth + 1),
            }
        }
    }

    fn attributes(&mut self, random: &mut Random) {
        let mut names = Vec::new();
        for _ in 0..random.below(4) {
            let name = self.name(random, true);
            // Two prefixes may mean one namespace, in which a name stands once.
            let local = name.rsplit(':').next().unwrap_or_default().to_owned();
            if names.contains(&local) {
                continue;
            }
            let value = random
                .pick(WORDS)
                .replace('\n', "&#10;")
                .replace('\t', "&#9;");
            self.out += &format!(" {name}=\"{value}\"");
            names.push(local);
        }
        if random.one_in(20) {
            self.out.push_str(
                " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\"",
            );
        }
        if random.one_in(20) {
            self.out.push_str(" xml:lang=\"sr\"");
        }
    }

    fn name(&self, random: &mut Random, attribute: bool) -> String {
        let local = random.pick(NAMES);
        let usable: Vec<_> = self
            .bound
            .iter()
            .filter(|(prefix, _)| !prefix.is_empty())
            .collect();
        if usable.is_empty() || attribute && random.one_in(2) || random.one_in(3) {
            return local.into();
        }
        format!("{}:{local}", random.pick(&usable).0)
    }

    fn text(&mut self, random: &mut Random) {
        for _ in 0..1 + random.below(2) {
            self.out.push_str(random.pick(WORDS));
        }
    }
}
