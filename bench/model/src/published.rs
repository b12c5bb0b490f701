//! The papers' tables as they were printed: `published/*.csv`, read by column name.
//!
//! Nothing is derived here. The decision worth arguing: fields stay text until somebody asks for a
//! number, because an empty field is a test that failed in the paper, not a zero.

/// A printed table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Paper and year, as in claims.
    pub paper: &'static str,
    /// Its place in the paper: `Table 7`.
    pub place: &'static str,
    csv: &'static str,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    fields: Vec<(String, String)>,
}

const fn table(paper: &'static str, place: &'static str, csv: &'static str) -> Table {
    Table { paper, place, csv }
}

/// Capabilities files in four formats, KB.
pub const CAPS: Table = table(
    "Tamayo2012",
    "Table 2",
    include_str!("../published/tamayo_table2_caps.csv"),
);
/// Observation files, KB.
pub const OBS: Table = table(
    "Tamayo2012",
    "Table 3",
    include_str!("../published/tamayo_table3_obs.csv"),
);
/// Insertions, KB.
pub const IO: Table = table(
    "Tamayo2012",
    "Table 4",
    include_str!("../published/tamayo_table4_io.csv"),
);
/// Delivery and encoding in an HTML5 application, ms.
pub const HTML5: Table = table(
    "Babovic2016",
    "Table 2",
    include_str!("../published/babovic_table2_html5.csv"),
);
/// The same in Flash.
pub const FLASH: Table = table(
    "Babovic2016",
    "Table 3",
    include_str!("../published/babovic_table3_flash.csv"),
);
/// The same in Silverlight.
pub const SILVERLIGHT: Table = table(
    "Babovic2016",
    "Table 4",
    include_str!("../published/babovic_table4_silverlight.csv"),
);
/// Transfer times by messaging protocols, ms.
pub const MESSAGING_LATENCY: Table = table(
    "Babovic2016",
    "Table 7",
    include_str!("../published/babovic_table7_messaging_latency.csv"),
);
/// Rates of a ping-pong by messaging protocols.
pub const MESSAGING_RATE: Table = table(
    "Babovic2016",
    "Table 8",
    include_str!("../published/babovic_table8_messaging_rate.csv"),
);
/// Web services on devices, ns.
pub const SERVICES: Table = table(
    "Karnouskos2012",
    "Table I",
    include_str!("../published/karnouskos_table1_services.csv"),
);

/// What somebody measured of 52North's Sensor Observation Service, seconds.
pub const SOS: Table = table(
    "52North/SOS",
    "issue 825",
    include_str!("../published/north_sos_issue_825.csv"),
);

/// All of them.
pub const TABLES: [Table; 10] = [
    CAPS,
    OBS,
    IO,
    HTML5,
    FLASH,
    SILVERLIGHT,
    MESSAGING_LATENCY,
    MESSAGING_RATE,
    SERVICES,
    SOS,
];

impl Table {
    /// Its rows.
    pub fn rows(&self) -> Vec<Row> {
        let mut records = records(self.csv).into_iter();
        let head = records.next().unwrap_or_default();
        let row = |record: Vec<String>| Row {
            fields: head.iter().cloned().zip(record).collect(),
        };
        records.map(row).collect()
    }

    /// What the table says of itself: its first line.
    pub fn about(&self) -> &'static str {
        let first = self.csv.lines().next().unwrap_or("");
        first.trim_start_matches(['#', ' '])
    }

    /// Paper and place, as a series of published values is signed.
    pub fn cited(&self) -> String {
        format!("{}, {}", self.paper, self.place)
    }
}

impl Row {
    /// A field by its column; empty where there is none.
    pub fn text(&self, column: &str) -> &str {
        let field = self.fields.iter().find(|(name, _)| name == column);
        field.map_or("", |(_, text)| text)
    }

    /// The same as a number, where it is one.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// Columns and fields, in the order of the table.
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }
}

/// The records of a table of commas (RFC 4180), without lines of remarks; no field spans lines.
pub fn records(csv: &str) -> Vec<Vec<String>> {
    let lines = csv.lines().filter(|line| !line.starts_with('#'));
    lines.map(record).collect()
}

fn record(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let (mut quoted, mut before) = (false, ' ');
    for character in line.chars() {
        match (character, quoted) {
            ('"', true) => quoted = false,
            ('"', false) => {
                // A quote twice within quotes is one.
                if before == '"' {
                    push('"', &mut fields);
                }
                quoted = true;
            }
            (',', false) => fields.push(String::new()),
            (other, _) => push(other, &mut fields),
        }
        before = character;
    }
    fields
}

fn push(character: char, fields: &mut [String]) {
    if let Some(field) = fields.last_mut() {
        field.push(character);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_table_is_read_whole_and_says_what_it_is() {
        let counts = TABLES.map(|table| table.rows().len());
        assert_eq!(counts, [11, 9, 7, 18, 12, 8, 20, 15, 4, 3]);
        for table in TABLES {
            assert!(table.about().contains(table.place), "{}", table.about());
            let width = table.rows()[0].fields().len();
            assert!(width >= 3 && table.rows().iter().all(|row| row.fields().len() == width));
        }
    }

    #[test]
    fn an_empty_field_is_no_number() {
        let rows = MESSAGING_RATE.rows();
        let vortex = rows.iter().find(|row| row.text("broker") == "Vortex");
        let vortex = vortex.unwrap();
        assert_eq!(vortex.text("clients"), "native-browser");
        assert_eq!(vortex.number("rate_msg_s"), None);
    }

    #[test]
    fn quotes_keep_commas_and_themselves() {
        assert_eq!(record(r#"a,"b, ""c""",,d"#), ["a", r#"b, "c""#, "", "d"]);
    }
}
