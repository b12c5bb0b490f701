//! What is encoded: the data sets of Tamayo et al. made anew, the message of Babovic et al., two
//! documents of 2 MB, and real documents where they are.
//!
//! The papers' own files were never published. These have the sizes and content densities of the
//! published tables, and the same structure in kind; all else about them is ours. A seed gives the
//! same bytes everywhere.

mod capabilities;
mod document;
mod draft;
mod elements;
mod insertion;
mod observations;
mod own;
mod sensor;
pub(super) mod series;

use std::path::Path;

use weir_codec::{by_name, sample};
use weir_model::Batch;

pub(super) use self::document::Document;

use self::draft::Shape;
use self::insertion::Rows;
use self::own::Own;
use self::series::{Precision, Series, temperatures};
use super::published::FileRow;
use weir_bench_model::effort::Effort;
use weir_bench_model::random::Random;

/// A document that can be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// The data set.
    pub data: &'static str,
    /// Which of its files.
    pub file: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Capabilities,
    Sensor(f64, f64),
    Registration(f64, f64),
    Observations,
    Insertion(Rows),
    /// Document A.
    Block(Precision),
    /// Document B.
    Elements,
    Message(usize),
    /// What weir's own SOS says.
    Own(Own, Size),
    Real(&'static str),
}

/// How large a document of weir's own SOS is to be.
#[derive(Clone, Copy, Debug)]
enum Size {
    /// As the published file of this data set and number; of insertions the number of observations is.
    As(&'static str),
    Kilobytes(f64),
}

/// What such a document is made to have.
#[derive(Clone, Copy, Debug)]
enum Extent {
    Observations(usize),
    /// As nearly as whole things give it.
    Bytes(usize),
}

/// Observations in document A.
pub(super) const A_OBSERVATIONS: usize = 18_500;
/// Observations in document B.
const B_OBSERVATIONS: usize = 2_278;
/// Stations of document B.
const B_STATIONS: usize = 7;

/// Where real documents lie, beside the project; `WEIR_OGC_DATA` names another place.
const REAL_FOLDER: &str = "../shared/data/ogc";

const fn source(data: &'static str, file: &'static str, kind: Kind) -> Source {
    Source { data, file, kind }
}

const FILES: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

/// The documents of a run, in the order of the report.
pub(super) fn sources(effort: Effort) -> Vec<Source> {
    let wanted = |source: &Source| effort == Effort::Full || QUICK.contains(&source.label());
    all().into_iter().filter(wanted).collect()
}

/// What a quick run takes: a middling document of each kind. The large ones, of which a window of ten calls
/// takes seconds in some formats, and with them the goals, are of full runs.
const QUICK: [(&str, &str); 8] = [
    ("caps", "4"),
    ("sd", "1"),
    ("obs", "4"),
    ("rs", "0"),
    ("io", "2"),
    ("message", "1"),
    ("sos-caps", "4"),
    ("sos-obs", "4"),
];

fn all() -> Vec<Source> {
    let mut all: Vec<Source> = FILES
        .iter()
        .map(|file| source("caps", file, Kind::Capabilities))
        .collect();
    for (file, kilobytes, percent) in [("0", 5.0, 25.0), ("1", 20.0, 30.0), ("2", 70.0, 30.0)] {
        all.push(source("sd", file, Kind::Sensor(kilobytes, percent)));
    }
    all.extend(
        FILES[..9]
            .iter()
            .map(|file| source("obs", file, Kind::Observations)),
    );
    for (file, kilobytes, percent) in [("0", 4.0, 30.0), ("1", 8.0, 32.0)] {
        all.push(source("rs", file, Kind::Registration(kilobytes, percent)));
    }
    all.extend(
        FILES[..7]
            .iter()
            .map(|file| source("io", file, Kind::Insertion(Rows::Same))),
    );
    all.extend(
        FILES[2..7]
            .iter()
            .map(|f| source("io-series", f, Kind::Insertion(Rows::Series))),
    );
    all.extend(of_own_service());
    all.push(source("a", "block", Kind::Block(Precision::Hundredths)));
    all.push(source("a", "full-precision", Kind::Block(Precision::Full)));
    all.push(source("b", "elements", Kind::Elements));
    for (nodes, file) in FILES.iter().enumerate().skip(1).take(5) {
        all.push(source("message", file, Kind::Message(nodes)));
    }
    all.push(source(
        "real",
        "capabilities",
        Kind::Real("GetCapabilitiesResponseInspire.xml"),
    ));
    all.push(source(
        "real",
        "sensor",
        Kind::Real("DescribeSensorResponseSML101.xml"),
    ));
    all
}

/// The data sets of the paper as weir's own SOS has them.
fn of_own_service() -> Vec<Source> {
    let published = [
        ("sos-caps", Own::Capabilities, "caps", 11),
        ("sos-obs", Own::Observations, "obs", 9),
        ("sos-io", Own::Insertion, "io", 7),
    ];
    let published = published.into_iter().flat_map(|(data, own, of, count)| {
        let files = FILES[..count].iter();
        files.map(move |file| source(data, file, Kind::Own(own, Size::As(of))))
    });
    let unpublished = [
        ("sos-sd", "0", Own::Sensor, 5.0),
        ("sos-sd", "1", Own::Sensor, 20.0),
        ("sos-sd", "2", Own::Sensor, 70.0),
        ("sos-rs", "0", Own::Registration, 4.0),
        ("sos-rs", "1", Own::Registration, 8.0),
    ];
    let unpublished = unpublished.map(|(data, file, own, kilobytes)| {
        source(data, file, Kind::Own(own, Size::Kilobytes(kilobytes)))
    });
    published.chain(unpublished).collect()
}

impl Source {
    fn label(&self) -> (&'static str, &'static str) {
        (self.data, self.file)
    }

    /// Says whether there are observations in it, which formats of messages can carry.
    pub(super) fn has_observations(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Capabilities | Kind::Sensor(..) | Kind::Registration(..) | Kind::Real(_)
        ) && !matches!(
            self.kind,
            Kind::Own(Own::Capabilities | Own::Sensor | Own::Registration, _)
        )
    }

    /// Says whether a browser is to read it too; one file in two of the paper's tables is enough there.
    pub(super) fn is_for_browsers(&self) -> bool {
        match self.kind {
            Kind::Message(nodes) => matches!(nodes, 1 | 5),
            Kind::Block(precision) => precision == Precision::Hundredths,
            Kind::Capabilities | Kind::Observations | Kind::Insertion(Rows::Same) => {
                !self.file.parse().is_ok_and(|file: usize| file % 2 == 1)
            }
            Kind::Sensor(..) | Kind::Registration(..) | Kind::Elements => true,
            Kind::Insertion(Rows::Series) | Kind::Own(..) | Kind::Real(_) => false,
        }
    }

    /// Makes the document; an error says what is absent.
    pub(super) fn make(&self, seed: u64) -> Result<Document, String> {
        let mut random = Random::new(seed, &format!("{}/{}", self.data, self.file));
        let shape = |kilobytes, percent| Shape::of_kilobytes(kilobytes, percent);
        Ok(match self.kind {
            Kind::Capabilities => {
                let (row, shape) = self.published()?;
                let json_bytes = (row.json_kb * 1024.0).round() as usize;
                self.document(capabilities::document(&shape, json_bytes, &random), None)
            }
            Kind::Sensor(kb, percent) => {
                self.document(sensor::description(&shape(kb, percent), &mut random), None)
            }
            Kind::Registration(kb, percent) => {
                self.document(sensor::registration(&shape(kb, percent), &mut random), None)
            }
            Kind::Observations => {
                let (xml, series) = observations::of_shape(&self.published()?.1, &mut random);
                self.observed(xml, &series)
            }
            Kind::Insertion(rows) => {
                // The series has the shapes of the published table too.
                let row = FileRow::of("io", self.file).ok_or("no such row is published")?;
                let shape = shape(row.xml_kb, row.density_percent);
                let count = row.observations.unwrap_or(0);
                let (xml, series) = insertion::document(&shape, count, rows, &mut random);
                self.document(xml, Some(series::batch(&series)))
            }
            Kind::Block(precision) => {
                // Both precisions are the same series.
                let mut random = Random::new(seed, "a");
                let series = temperatures(A_OBSERVATIONS, 2, precision, &mut random);
                let (xml, series) = observations::whole(series);
                self.observed(xml, &series)
            }
            Kind::Elements => {
                let precision = Precision::Hundredths;
                let series = temperatures(B_OBSERVATIONS, B_STATIONS, precision, &mut random);
                self.document(elements::document(&series), Some(series::batch(&series)))
            }
            Kind::Message(nodes) => self.message(nodes)?,
            Kind::Own(own, size) => self.of_own_service(own, size, &random)?,
            Kind::Real(name) => self.document(real(name)?, None),
        })
    }

    fn of_own_service(&self, own: Own, size: Size, random: &Random) -> Result<Document, String> {
        let (xml, series) = match self.size_of_own_service(size)? {
            Extent::Observations(count) => own::of_count(own, count, &mut random.clone())?,
            Extent::Bytes(bytes) => own::of_bytes(own, bytes, random)?,
        };
        Ok(self.document(xml, series.map(|series| series::batch(&series))))
    }

    fn size_of_own_service(&self, size: Size) -> Result<Extent, String> {
        let of_kilobytes = |kilobytes: f64| Extent::Bytes((kilobytes * 1024.0).round() as usize);
        match size {
            Size::Kilobytes(kilobytes) => Ok(of_kilobytes(kilobytes)),
            Size::As(data) => {
                let row = FileRow::of(data, self.file).ok_or("no such row is published")?;
                let count = row.observations.map(Extent::Observations);
                Ok(count.unwrap_or_else(|| of_kilobytes(row.xml_kb)))
            }
        }
    }

    fn published(&self) -> Result<(FileRow, Shape), String> {
        let row = FileRow::of(self.data, self.file).ok_or("no such row is published")?;
        Ok((row, Shape::of_kilobytes(row.xml_kb, row.density_percent)))
    }

    fn document(&self, xml: String, batch: Option<Batch>) -> Document {
        let (data, file) = (self.data, self.file.into());
        Document {
            data,
            file,
            xml,
            batch,
            as_elements_bytes: None,
        }
    }

    fn observed(&self, xml: String, series: &[Series]) -> Document {
        Document {
            as_elements_bytes: Some(elements::document(series).len()),
            ..self.document(xml, Some(series::batch(series)))
        }
    }

    fn message(&self, nodes: usize) -> Result<Document, String> {
        let batch = sample::message(nodes, 0);
        let format = by_name("xml").ok_or("this build has no xml")?;
        let mut xml = Vec::new();
        (format.encode)(&batch, &mut xml);
        let xml = String::from_utf8(xml).map_err(|e| e.to_string())?;
        Ok(self.document(xml, Some(batch)))
    }
}

fn real(name: &str) -> Result<String, String> {
    let folder = std::env::var("WEIR_OGC_DATA").unwrap_or_else(|_| REAL_FOLDER.into());
    let path = Path::new(&folder).join(name);
    std::fs::read_to_string(path).map_err(|_| format!("absent: no {name} in $WEIR_OGC_DATA"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::encoding::codings::json_of;
    use crate::encoding::density::content_density_percent;

    /// The nearest that whole things can give: as far off as half of what one more thing adds to that document, or
    /// one less takes from it (a datastream of the capabilities, with its station where it is a station's first).
    #[test]
    fn documents_of_the_own_service_have_the_published_sizes_as_near_as_they_come() {
        let mut off = Vec::new();
        for source in all().iter().filter(|source| is_soon_made(source)) {
            let Kind::Own(own, size) = source.kind else {
                continue;
            };
            let Ok(Extent::Bytes(bytes)) = source.size_of_own_service(size) else {
                continue;
            };
            let random = Random::new(1, &format!("{}/{}", source.data, source.file));
            let around = own::lengths_around(own, bytes, &random).unwrap();
            assert_eq!(source.make(1).unwrap().xml.len(), around[1]);
            if !is_nearest(bytes, around) {
                off.push((source.label(), bytes, around));
            }
        }
        assert!(off.is_empty(), "{off:#?}");
    }

    #[test]
    fn a_document_that_is_further_off_than_half_a_thing_is_not_the_nearest() {
        assert!(is_nearest(150, [0, 100, 200]));
        assert!(!is_nearest(151, [0, 100, 200]));
        assert!(is_nearest(50, [0, 100, 1000]));
        assert!(!is_nearest(49, [0, 100, 1000]));
    }

    /// Whether a size is no further from the middle one of three lengths than half of the way to the next.
    fn is_nearest(bytes: usize, [less, length, more]: [usize; 3]) -> bool {
        let thing = match bytes > length {
            true => more - length,
            false => length - less,
        };
        2 * length.abs_diff(bytes) <= thing
    }

    #[test]
    fn what_is_inserted_by_the_own_service_has_as_many_observations_as_published() {
        // The longest is of more than the service answers in one block.
        for file in ["2", "6"] {
            let source = all().into_iter().find(|it| it.label() == ("sos-io", file));
            let made = source.unwrap().make(1).unwrap();
            let row = FileRow::of("io", file).unwrap();
            assert_eq!(Some(made.batch.unwrap().len()), row.observations);
            let count = made.xml.matches("<InsertObservation ").count();
            assert_eq!(count, 1, "{:.200}", made.xml);
            let blocks = made.xml.matches("<swe:values>").count();
            assert_eq!(blocks, 1, "{file}");
        }
    }

    /// The large ones take a while in a build that is not optimised.
    fn is_soon_made(source: &Source) -> bool {
        !matches!(source.kind, Kind::Own(..)) || source.file.parse().is_ok_and(|file: u8| file < 5)
    }

    fn generated() -> impl Iterator<Item = Source> {
        all()
            .into_iter()
            .filter(|source| !matches!(source.kind, Kind::Real(_)))
    }

    #[test]
    fn files_have_the_sizes_and_densities_of_the_published_tables() {
        let mut off = Vec::new();
        for source in all() {
            let Some(row) = FileRow::of(source.data, source.file) else {
                continue;
            };
            let document = source.make(1).unwrap();
            let percent = content_density_percent(&document.xml).unwrap();
            let kilobytes = document.xml.len() as f64 / 1024.0;
            let far = (kilobytes / row.xml_kb - 1.0).abs() > 0.02
                || (percent - row.density_percent).abs() > 1.5;
            if far {
                off.push((source.label(), kilobytes, percent, row));
            }
        }
        assert!(off.is_empty(), "{off:#?}");
    }

    #[test]
    fn capabilities_have_the_published_sizes_of_their_json() {
        let mut off = Vec::new();
        for source in all().iter().filter(|source| source.data == "caps") {
            let row = FileRow::of("caps", source.file).unwrap();
            let json = json_of(&source.make(1).unwrap().xml).unwrap();
            let kilobytes = json.len() as f64 / 1024.0;
            // The smallest file has too few lines to say more in.
            let tolerance = if source.file == "0" { 0.15 } else { 0.02 };
            if (kilobytes / row.json_kb - 1.0).abs() > tolerance {
                off.push((source.file, kilobytes, row.json_kb));
            }
        }
        assert!(off.is_empty(), "{off:#?}");
    }

    #[test]
    fn documents_a_and_b_are_those_that_the_goals_speak_of() {
        let made = |data, file: &str| {
            let found = all().into_iter().find(|s| s.label() == (data, file));
            found.unwrap().make(1).unwrap()
        };
        let (a, b) = (made("a", "block"), made("b", "elements"));
        assert!(a.xml.len().abs_diff(1_976_470) < 20_000, "{}", a.xml.len());
        assert!(b.xml.len().abs_diff(2_003_139) < 20_000, "{}", b.xml.len());
        assert_eq!(a.batch.unwrap().len(), A_OBSERVATIONS);
        assert_eq!(b.batch.unwrap().len(), B_OBSERVATIONS);
        assert!(content_density_percent(&a.xml).unwrap() > 99.7);
    }

    #[test]
    fn a_seed_gives_the_same_bytes_again_and_another_seed_others() {
        for source in generated().filter(|it| it.file.len() < 2 && is_soon_made(it)) {
            let made = |seed| source.make(seed).unwrap().xml;
            assert_eq!(made(1), made(1), "{source:?}");
            let is_as_told = matches!(source.kind, Kind::Own(..)) && !source.has_observations();
            let is_same = matches!(source.kind, Kind::Message(_) | Kind::Insertion(Rows::Same));
            let random = !is_same && !is_as_told;
            assert!(!random || made(1) != made(2), "{source:?}");
        }
    }

    #[test]
    fn insertions_have_as_many_observations_as_published() {
        for source in all().iter().filter(|source| source.data == "io") {
            let row = FileRow::of("io", source.file).unwrap();
            let batch = source.make(1).unwrap().batch.unwrap();
            assert_eq!(Some(batch.len()), row.observations);
        }
    }

    #[test]
    fn a_document_that_is_absent_says_which() {
        let error = real("no-such-file.xml").unwrap_err();
        assert!(error.contains("no-such-file.xml"), "{error}");
    }
}
