//! Documents without a schema that are odd each in its own way: encodings, line ends, white space,
//! attributes without number, names that collide, references, long runs of everything.

use crate::random::Random;

/// A document of the kinds below, by turns.
pub(crate) fn document(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed ^ 0x0DD);
    let kinds: [fn(&mut Random) -> Vec<u8>; 12] = [
        |_| utf16(false),
        |_| utf16(true),
        |_| "\u{FEFF}<a>mark \u{1F600}</a>".into(),
        |_| b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a b='\xE9'>\xFC</a>".to_vec(),
        |random| text(random).into_bytes(),
        |random| attributes(random).into_bytes(),
        |random| nesting(random).into_bytes(),
        |random| prefixes(random).into_bytes(),
        |random| values(random).into_bytes(),
        |random| document_type(random).into_bytes(),
        |random| instance(random).into_bytes(),
        |random| around(random).into_bytes(),
    ];
    kinds[(seed % 12) as usize](&mut random)
}

fn utf16(big: bool) -> Vec<u8> {
    let text = "\u{FEFF}<?xml version='1.0' encoding='UTF-16'?><a b='\u{20AC}'>\u{1F600}\r\nx</a>";
    let units = text.encode_utf16();
    units
        .flat_map(|unit| {
            if big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            }
        })
        .collect()
}

/// Line ends, sections, references beside text.
fn text(random: &mut Random) -> String {
    let parts = [
        "\r\n",
        "\r",
        "\n",
        "\t",
        " ",
        "x",
        "&#13;",
        "&#10;",
        "&#x9;",
        "<![CDATA[]]>",
        "<![CDATA[ ]]>",
        "<![CDATA[a]]>b<![CDATA[c]]>",
        "<![CDATA[]]]]><![CDATA[>]]>",
        "&lt;",
        "]]&gt;",
        "&apos;&quot;",
        "<b/>",
        "<b> </b>",
        "<b>\r\n</b>",
        "<!---->",
        "<?p?>",
        "\u{10FFFD}",
        "\u{FFFD}",
        "\u{85}",
        "\u{2028}",
    ];
    let content: String = (0..5 + random.below(40))
        .map(|_| random.pick(&parts))
        .collect();
    format!("<a>{content}</a>")
}

/// Many attributes, and values that normalization changes.
fn attributes(random: &mut Random) -> String {
    let mut out = String::from("<a");
    for index in 0..random.pick(&[1, 2, 50, 3000]) {
        let value = random.pick(&[
            "",
            " a  b ",
            "\ta\n\r\nb",
            "&#10;&#13;&#9;",
            "v",
            "&lt;'&quot;",
        ]);
        out += &format!(" n{index}=\"{value}\"");
    }
    out + "><b n0='1'/><b n1='1' n0='2'/><b n0='3'/></a>"
}

fn nesting(random: &mut Random) -> String {
    let depth = 100 + random.below(600);
    let same = random.one_in(2);
    let name = |level: usize| {
        if same {
            "d".into()
        } else {
            format!("d{}", level % 50)
        }
    };
    let open: String = (0..depth)
        .map(|level| format!("<{}>", name(level)))
        .collect();
    let close: String = (0..depth)
        .rev()
        .map(|level| format!("</{}>", name(level)))
        .collect();
    format!("{open}bottom{close}")
}

/// One name by several prefixes, prefixes bound again, default namespaces on and off.
fn prefixes(random: &mut Random) -> String {
    let inner = [
        "<p:a/>",
        "<q:a/>",
        "<a/>",
        "<p:a xmlns:p='urn:2'><p:a/></p:a>",
        "<a xmlns=''><a/></a>",
        "<a xmlns='urn:1' p:x='' q:y=''/>",
        "<p:a q:x='1' p:y='2'/>",
        "<r:a xmlns:r='urn:1'/>",
        "<a xmlns:unused='urn:unused'/>",
        "<a xmlns='urn:3'><b xmlns=''/><p:c/></a>",
        "<a xmlns='http://www.w3.org/XML/1998/namespace'/>",
        "<a xml:lang='' xml:space='preserve'> </a>",
        "<p:a xmlns:xml='http://www.w3.org/XML/1998/namespace' xml:id='i'/>",
    ];
    let content: String = (0..random.below(20)).map(|_| random.pick(&inner)).collect();
    format!("<a xmlns:p='urn:1' xmlns:q='urn:1b' xmlns:s='urn:1'>{content}</a>")
}

/// Strings around the borders of the tables: empty, of one character, of the greatest length kept.
fn values(random: &mut Random) -> String {
    let mut out = String::from("<t>");
    for _ in 0..random.below(200) {
        let value = "abcdefghijklmno"
            .get(..random.below(14))
            .unwrap_or_default();
        let name = random.pick(&["u", "v", "w"]);
        match random.below(3) {
            0 => out += &format!("<{name} {name}='{value}'/>"),
            _ => out += &format!("<{name}>{value}</{name}>"),
        }
    }
    out + "</t>"
}

/// Document types of all shapes; what they declare is used where it changes nothing.
fn document_type(random: &mut Random) -> String {
    let doctype = random.pick(&[
        "<!DOCTYPE a>",
        "<!DOCTYPE a SYSTEM 'a.dtd'>",
        "<!DOCTYPE a PUBLIC '-//X//Y' \"a'b.dtd\">",
        "<!DOCTYPE a [ ]>",
        "<!DOCTYPE a [<!ELEMENT a ANY><!ATTLIST a id CDATA #IMPLIED>]>",
        "<!DOCTYPE a [<!NOTATION n PUBLIC 'p'>]>",
        "<!DOCTYPE a [<!ATTLIST a k NMTOKENS 'x y'>]>",
    ]);
    format!("<!--1-->{doctype}<?p 2?><a><b/>text</a>")
}

/// The attributes of XML Schema where no schema is.
fn instance(random: &mut Random) -> String {
    let tags = [
        "<b xsi:type='xs:int'>5</b>",
        "<b xsi:nil='true'/>",
        "<b xsi:nil='false'>x</b>",
        "<b xsi:type='b'/>",
        "<b z='1' xsi:nil='1' xsi:type='p:q' xmlns:p='urn:p'/>",
        "<b xsi:other='x'/>",
        "<b xsi:nil='maybe'/>",
        "<b xsi:schemaLocation='urn:x x.xsd'/>",
        "<b xsi:type='xs:int' a='1'><b xsi:type='xs:int'/></b>",
    ];
    let content: String = (0..random.below(12)).map(|_| random.pick(&tags)).collect();
    format!(
        "<a xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
         xmlns:xs='http://www.w3.org/2001/XMLSchema'>{content}</a>"
    )
}

/// Comments and instructions before and after.
fn around(random: &mut Random) -> String {
    let others = [
        "<!---->",
        "<!-- - -->",
        "<?a?>",
        "<?a ?>",
        "<?a b c?>",
        "<?xml-stylesheet href='?'?>",
        "\n",
        " ",
    ];
    let mut some = || -> String { (0..random.below(6)).map(|_| random.pick(&others)).collect() };
    format!(
        "<?xml version='1.0'?>{}<a>{}<b/>{}</a>{}",
        some(),
        some().trim(),
        some().trim(),
        some()
    )
}
