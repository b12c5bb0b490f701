//! The sheets of several runs as one: columns are copied as they are, without decoding a value.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::SHEET;
use super::sheet::SCHEMA;

/// Joins the sheets of folders, where there are any, into a folder.
pub fn join(folders: &[&Path], into: &Path) -> Result<(), String> {
    let sheets = folders.iter().map(|folder| folder.join(SHEET));
    let sheets: Vec<PathBuf> = sheets.filter(|sheet| sheet.exists()).collect();
    match sheets.is_empty() {
        true => Ok(()),
        false => copied(&sheets, &into.join(SHEET)),
    }
}

fn copied(sheets: &[PathBuf], into: &Path) -> Result<(), String> {
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", into.display());
    let schema = parse_message_type(SCHEMA).map_err(|e| failed(&e))?;
    let file = File::create(into).map_err(|e| failed(&e))?;
    let properties = Arc::new(WriterProperties::default());
    let mut whole =
        SerializedFileWriter::new(file, Arc::new(schema), properties).map_err(|e| failed(&e))?;
    for sheet in sheets {
        let added = File::open(sheet)
            .map_err(ParquetError::from)
            .and_then(|file| add(file, &mut whole));
        added.map_err(|e| format!("{}: {e}", sheet.display()))?;
    }
    whole.close().map(drop).map_err(|e| failed(&e))
}

fn add(sheet: File, whole: &mut SerializedFileWriter<File>) -> Result<(), ParquetError> {
    let read = SerializedFileReader::new(sheet.try_clone()?)?;
    for group in read.metadata().row_groups() {
        add_group(&sheet, group, whole)?;
    }
    Ok(())
}

fn add_group(
    sheet: &File,
    group: &RowGroupMetaData,
    whole: &mut SerializedFileWriter<File>,
) -> Result<(), ParquetError> {
    let mut writer = whole.next_row_group()?;
    for column in group.columns() {
        let close = ColumnCloseResult {
            bytes_written: column.compressed_size() as u64,
            rows_written: group.num_rows() as u64,
            metadata: column.clone(),
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        writer.append_column(sheet, close)?;
    }
    writer.close().map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Series, Sheet};
    use super::*;
    use parquet::record::RowAccessor;

    #[test]
    fn the_whole_has_the_rows_of_all_sheets_in_their_order() {
        let root = std::env::temp_dir().join(format!("weir-sheets-{}", std::process::id()));
        let folders = ["a", "b", "none", "whole"].map(|name| root.join(name));
        for (at, folder) in folders.iter().enumerate() {
            std::fs::create_dir_all(folder).unwrap();
            if at < 2 {
                let mut sheet = Sheet::create(&folder.join(SHEET), "gateway").unwrap();
                let cell = format!("cell={at}");
                let values = Series::of(0, "rtt", "us", &[at as f64, 7.5]);
                sheet.add(&cell, "weir", &[values]).unwrap();
                sheet.finish().unwrap();
            }
        }
        let [a, b, none, whole] = folders.each_ref().map(PathBuf::as_path);
        join(&[a, b, none], whole).unwrap();
        let file = SerializedFileReader::new(File::open(whole.join(SHEET)).unwrap()).unwrap();
        let rows = file.get_row_iter(None).unwrap().map(Result::unwrap);
        let rows: Vec<_> = rows
            .map(|row| {
                (
                    row.get_string(1).unwrap().clone(),
                    row.get_double(7).unwrap(),
                )
            })
            .collect();
        let expected = [
            ("cell=0", 0.0),
            ("cell=0", 7.5),
            ("cell=1", 1.0),
            ("cell=1", 7.5),
        ];
        assert_eq!(
            rows,
            expected.map(|(cell, value)| (cell.to_string(), value))
        );
        std::fs::remove_dir_all(root).unwrap();
    }
}
