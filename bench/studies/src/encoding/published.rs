//! The papers' tables, as they were printed.
//!
//! Nothing is derived here but bytes from kilobytes (of 1,024 bytes: see `published/README.md`).

use weir_bench_model::published::{self, CAPS, HTML5, IO, OBS, Row};

/// A row of tables 2, 3 and 4 of Tamayo et al.; sizes in KB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FileRow {
    /// Number of the file in its table.
    pub file: usize,
    /// Observations in it, where the table says.
    pub observations: Option<usize>,
    /// Of the XML.
    pub xml_kb: f64,
    /// Content density of the XML, percent.
    pub density_percent: f64,
    /// Of the JSON.
    pub json_kb: f64,
    /// Of the EXI.
    pub exi_kb: f64,
    /// Of the compressed EXI.
    pub exi_c_kb: f64,
}

/// A row of table 2 of Babovic et al.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MessageRow {
    /// The encoding, by the paper's name.
    pub encoding: String,
    /// Nodes in the message.
    pub nodes: usize,
    /// Characters of it.
    pub characters: usize,
    /// Time to decode it in the browser, milliseconds.
    pub decode_ms: f64,
}

/// A table of Tamayo et al.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// Its number.
    pub number: usize,
    /// The data set, as in cells.
    pub data: &'static str,
    printed: published::Table,
}

/// The tables that print sizes.
pub(super) const TABLES: [Table; 3] = [
    Table {
        number: 2,
        data: "caps",
        printed: CAPS,
    },
    Table {
        number: 3,
        data: "obs",
        printed: OBS,
    },
    Table {
        number: 4,
        data: "io",
        printed: IO,
    },
];

impl Table {
    /// Its rows.
    pub(super) fn rows(&self) -> Vec<FileRow> {
        let rows = self.printed.rows();
        rows.iter().filter_map(FileRow::read).collect()
    }
}

impl FileRow {
    /// The row of a file, where one is published.
    pub(super) fn of(data: &str, file: &str) -> Option<Self> {
        let table = TABLES.iter().find(|table| table.data == data)?;
        let mut rows = table.rows().into_iter();
        rows.find(|row| row.file.to_string() == file)
    }

    /// The published size in a format, KB.
    pub(super) fn kilobytes(&self, format: &str) -> Option<f64> {
        match format {
            "xml" => Some(self.xml_kb),
            "json" => Some(self.json_kb),
            "exi" => Some(self.exi_kb),
            "exi-c" => Some(self.exi_c_kb),
            _ => None,
        }
    }

    fn read(row: &Row) -> Option<Self> {
        Some(Self {
            file: row.number("file")? as usize,
            observations: row.number("observations").map(|count| count as usize),
            xml_kb: row.number("xml_kb")?,
            density_percent: row.number("cd_percent")?,
            json_kb: row.number("json_kb")?,
            exi_kb: row.number("exi_kb")?,
            exi_c_kb: row.number("exi_c_kb")?,
        })
    }
}

/// Table 2 of Babovic et al., its WebSocket and long-polling rows.
pub(super) fn html5() -> Vec<MessageRow> {
    let read = |row: &Row| {
        Some(MessageRow {
            encoding: row.text("encoding").into(),
            nodes: row.number("nodes")? as usize,
            characters: row.number("payload_chars")? as usize,
            decode_ms: row.number("decode_ms")?,
        })
    };
    HTML5.rows().iter().filter_map(read).collect()
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
