//! `samples.parquet`: columns, row group by row group, so that memory does not grow with the run.
//!
//! Apache Parquet because whoever analyses has a reader of it; its own crate without Arrow, of which
//! nothing is needed to write eight columns.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::Series;
use crate::limits::SHEET_GROUP_ROWS_MAX;

pub(super) const SCHEMA: &str = "message samples {
    required binary experiment (UTF8);
    required binary cell (UTF8);
    required binary target (UTF8);
    required int32 round;
    required binary metric (UTF8);
    required binary unit (UTF8);
    required int64 sequence;
    required double value;
    required int64 count;
}";

/// A sheet being written.
pub struct Sheet {
    file: SerializedFileWriter<File>,
    experiment: ByteArray,
    group: Group,
}

/// Rows that wait to be written, column by column.
#[derive(Default)]
struct Group {
    cell: Vec<ByteArray>,
    target: Vec<ByteArray>,
    round: Vec<i32>,
    metric: Vec<ByteArray>,
    unit: Vec<ByteArray>,
    sequence: Vec<i64>,
    value: Vec<f64>,
    count: Vec<i64>,
}

impl Sheet {
    /// An empty one in a new file.
    pub fn create(path: &Path, experiment: &str) -> Result<Self, String> {
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let schema = parse_message_type(SCHEMA).map_err(|e| failed(&e))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let file = File::create(path).map_err(|e| failed(&e))?;
        let file = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties));
        Ok(Self {
            file: file.map_err(|e| failed(&e))?,
            experiment: experiment.into(),
            group: Group::default(),
        })
    }

    /// Adds a contender's rows in a cell.
    pub fn add(&mut self, cell: &str, target: &str, all: &[Series]) -> Result<(), String> {
        let (cell, target) = (ByteArray::from(cell), ByteArray::from(target));
        for series in all {
            self.group.add(&cell, &target, series);
            if self.group.value.len() >= SHEET_GROUP_ROWS_MAX {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and the footer, without which nobody can read it.
    pub fn finish(mut self) -> Result<(), String> {
        self.flush()?;
        self.file.close().map(drop).map_err(told)
    }

    fn flush(&mut self) -> Result<(), String> {
        let group = std::mem::take(&mut self.group);
        if group.value.is_empty() {
            return Ok(());
        }
        let writer = self.file.next_row_group().map_err(told)?;
        group.write(&self.experiment, writer).map_err(told)
    }
}

impl Group {
    fn add(&mut self, cell: &ByteArray, target: &ByteArray, series: &Series) {
        let metric = ByteArray::from(series.metric.as_str());
        let unit = ByteArray::from(series.unit.as_str());
        for (sequence, value, count) in series.rows() {
            self.cell.push(cell.clone());
            self.target.push(target.clone());
            self.round.push(series.round as i32);
            self.metric.push(metric.clone());
            self.unit.push(unit.clone());
            self.sequence.push(sequence as i64);
            self.value.push(value);
            self.count.push(count as i64);
        }
    }

    /// In the order of [`SCHEMA`].
    fn write(
        self,
        experiment: &ByteArray,
        mut writer: SerializedRowGroupWriter<'_, File>,
    ) -> Result<(), ParquetError> {
        let experiment = vec![experiment.clone(); self.value.len()];
        column::<ByteArrayType>(&mut writer, &experiment)?;
        column::<ByteArrayType>(&mut writer, &self.cell)?;
        column::<ByteArrayType>(&mut writer, &self.target)?;
        column::<Int32Type>(&mut writer, &self.round)?;
        column::<ByteArrayType>(&mut writer, &self.metric)?;
        column::<ByteArrayType>(&mut writer, &self.unit)?;
        column::<Int64Type>(&mut writer, &self.sequence)?;
        column::<DoubleType>(&mut writer, &self.value)?;
        column::<Int64Type>(&mut writer, &self.count)?;
        writer.close().map(drop)
    }
}

fn column<T: DataType>(
    writer: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let Some(mut column) = writer.next_column()? else {
        return Err(ParquetError::General("a column too many".into()));
    };
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

fn told(error: ParquetError) -> String {
    format!("samples.parquet: {error}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn what_is_written_is_read_back_over_several_row_groups() {
        let name = format!("weir-sheet-{}.parquet", std::process::id());
        let path = std::env::temp_dir().join(name);
        let values: Vec<f64> = (0..SHEET_GROUP_ROWS_MAX).map(|n| n as f64).collect();
        let mut sheet = Sheet::create(&path, "gateway").unwrap();
        let mut buckets = Series::of(1, "rtt", "us", &[7.5]);
        buckets.counts = vec![3];
        let long = Series::of(0, "rtt", "us", &values);
        sheet.add("test=x", "weir", &[long, buckets]).unwrap();
        sheet.finish().unwrap();

        let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(file.num_row_groups(), 2);
        let rows: Vec<_> = file
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), SHEET_GROUP_ROWS_MAX + 1);
        let last = rows.last().unwrap();
        assert_eq!(last.get_string(0).unwrap(), "gateway");
        assert_eq!(last.get_string(1).unwrap(), "test=x");
        assert_eq!(
            (last.get_int(3).unwrap(), last.get_double(7).unwrap()),
            (1, 7.5)
        );
        assert_eq!(
            (last.get_long(6).unwrap(), last.get_long(8).unwrap()),
            (0, 3)
        );
        assert_eq!(rows[41].get_double(7).unwrap(), 41.0);
    }
}
