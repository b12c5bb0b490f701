//! The papers' tables, as they were printed.
//!
//! Nothing is derived here but bytes from kilobytes (of 1,024 bytes: see `published/README.md`).

const CAPS: &str = include_str!("../../published/tamayo_table2_caps.csv");
const OBS: &str = include_str!("../../published/tamayo_table3_obs.csv");
const IO: &str = include_str!("../../published/tamayo_table4_io.csv");
const HTML5: &str = include_str!("../../published/babovic_table2_html5.csv");

/// A row of tables 2, 3 and 4 of Tamayo et al.; sizes in KB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FileRow {
    /// Number of the file in its table.
    pub(crate) file: usize,
    /// Observations in it, where the table says.
    pub(crate) observations: Option<usize>,
    /// Of the XML.
    pub(crate) xml_kb: f64,
    /// Content density of the XML, percent.
    pub(crate) density_percent: f64,
    /// Of the JSON.
    pub(crate) json_kb: f64,
    /// Of the EXI.
    pub(crate) exi_kb: f64,
    /// Of the compressed EXI.
    pub(crate) exi_c_kb: f64,
}

/// A row of table 2 of Babovic et al.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MessageRow {
    /// The encoding, by the paper's name.
    pub(crate) encoding: String,
    /// Nodes in the message.
    pub(crate) nodes: usize,
    /// Characters of it.
    pub(crate) characters: usize,
    /// Time to decode it in the browser, milliseconds.
    pub(crate) decode_ms: f64,
}

/// A table of Tamayo et al.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    /// Its number.
    pub(crate) number: usize,
    /// The data set, as in cells.
    pub(crate) data: &'static str,
    csv: &'static str,
}

/// The tables that print sizes.
pub(crate) const TABLES: [Table; 3] = [
    Table {
        number: 2,
        data: "caps",
        csv: CAPS,
    },
    Table {
        number: 3,
        data: "obs",
        csv: OBS,
    },
    Table {
        number: 4,
        data: "io",
        csv: IO,
    },
];

impl Table {
    /// Its rows.
    pub(crate) fn rows(&self) -> Vec<FileRow> {
        records(self.csv)
            .into_iter()
            .filter_map(|fields| FileRow::read(&fields))
            .collect()
    }
}

impl FileRow {
    /// The row of a file, where one is published.
    pub(crate) fn of(data: &str, file: &str) -> Option<Self> {
        let table = TABLES.iter().find(|table| table.data == data)?;
        table
            .rows()
            .into_iter()
            .find(|row| row.file.to_string() == file)
    }

    /// The published size in a format, KB.
    pub(crate) fn kilobytes(&self, format: &str) -> Option<f64> {
        match format {
            "xml" => Some(self.xml_kb),
            "json" => Some(self.json_kb),
            "exi" => Some(self.exi_kb),
            "exi-c" => Some(self.exi_c_kb),
            _ => None,
        }
    }

    fn read(fields: &[&str]) -> Option<Self> {
        let number = |text: &&str| text.parse::<f64>().ok();
        let numbers: Vec<f64> = fields.iter().map_while(number).collect();
        let (observations, sizes) = match numbers.as_slice() {
            [_, count, sizes @ ..] if sizes.len() == 5 => (Some(*count as usize), sizes),
            [_, sizes @ ..] if sizes.len() == 5 => (None, sizes),
            _ => return None,
        };
        Some(Self {
            file: *numbers.first()? as usize,
            observations,
            xml_kb: sizes[0],
            density_percent: sizes[1],
            json_kb: sizes[2],
            exi_kb: sizes[3],
            exi_c_kb: sizes[4],
        })
    }
}

/// Table 2 of Babovic et al., its WebSocket and long-polling rows.
pub(crate) fn html5() -> Vec<MessageRow> {
    let read = |fields: Vec<&str>| {
        let [_, encoding, nodes, characters, _, _, _, decode, _] = fields.as_slice() else {
            return None;
        };
        Some(MessageRow {
            encoding: (*encoding).into(),
            nodes: nodes.parse().ok()?,
            characters: characters.parse().ok()?,
            decode_ms: decode.parse().ok()?,
        })
    };
    records(HTML5).into_iter().filter_map(read).collect()
}

/// The records behind a head, without remarks; no field of these tables is quoted.
fn records(csv: &str) -> Vec<Vec<&str>> {
    let lines = csv.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').collect()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_tables_are_read_whole() {
        let counts = TABLES.map(|table| table.rows().len());
        assert_eq!(counts, [11, 9, 7]);
        let last = FileRow::of("io", "6").unwrap();
        assert_eq!(
            (last.observations, last.xml_kb, last.exi_c_kb),
            (Some(20_000), 685.92, 2.85)
        );
        assert_eq!(FileRow::of("caps", "10").unwrap().density_percent, 33.55);
        assert_eq!(FileRow::of("sd", "0"), None);
    }

    #[test]
    fn the_messages_of_the_browser_are_read_whole() {
        let rows = html5();
        assert_eq!(rows.len(), 18);
        assert!(
            rows.iter()
                .any(|row| row.encoding == "PBF-STR" && row.characters == 1343)
        );
    }

    #[test]
    fn six_files_of_table_2_are_dense_as_section_5_1_says() {
        use crate::encoding::density::Category;
        let of = |row: &FileRow| Category::of((row.xml_kb * 1024.0) as usize, row.density_percent);
        let rows = TABLES[0].rows();
        let dense = rows.iter().filter(|row| of(row) == Category::I).count();
        let small = rows.iter().filter(|row| of(row) == Category::III).count();
        assert_eq!((dense, small), (6, 5));
    }
}
