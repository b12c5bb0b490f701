//! Observations on their way into an answer, page by page, in the layout that is asked for.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::Series;
use crate::limits::{PIECE_OBSERVATIONS, UNWANTED_PER_WANTED};
use crate::models;
use crate::names::*;
use crate::pages::Pages;
use crate::params::Version;
use std::ops::Range;
use weir_codec::document::{Xml, write_escaped};
use weir_codec::{
    Model, Placement, append_results, append_swe_text, write_blocks, write_observations,
    write_of_model,
};
use weir_hub::Page;
use weir_model::Batch;

/// How observations are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// O&M 2.0, each by itself.
    Om2,
    /// The same as GetObservationById answers.
    ById,
    /// O&M 1.0, a block for each datastream of a page.
    Om1,
    /// O&M 1.0, each of this model by itself.
    Model(Model),
    /// SWE Common's text encoding, with lines that describe it.
    Text,
    /// Times and results, so many, which a template describes.
    Results(usize),
    /// The same in version 1.0.0, with a reference to the template.
    Results1(Box<str>),
}

impl Layout {
    /// What `responseFormat` asks for.
    // [SOS2-8.3-7]
    pub(crate) fn of(ask: &Ask) -> Result<Self, Exception> {
        let usual = match ask.version {
            Version::V1 => Layout::Om1,
            Version::V2 => Layout::Om2,
        };
        let Some(text) = ask.params.one("responseFormat")? else {
            return Ok(usual);
        };
        let bare: String = text.chars().filter(|c| !" \"'".contains(*c)).collect();
        match (bare.as_str(), ask.version) {
            ("text/plain;profile=swe", _) => Ok(Layout::Text),
            (OM20, Version::V2) => Ok(Layout::Om2),
            ("text/xml;subtype=om/1.0.0" | "application/om+xml;version=1.0.0", Version::V1) => {
                Ok(Layout::Om1)
            }
            _ => Err(Exception::invalid(
                "responseFormat",
                format!("`{text}` is not given; GetCapabilities says what is"),
            )),
        }
    }
}

impl Layout {
    /// The same for a result model, where one is asked for that has a layout of its own.
    pub(crate) fn of_model(
        self,
        ask: &Ask,
        series: &[Series],
    ) -> Result<(Self, Option<Model>), Exception> {
        if ask.version == Version::V2 {
            return Ok((self, None));
        }
        let model = models::asked(ask, series)?;
        let layout = match (self, model) {
            (Layout::Om1, Some(model)) => Layout::Model(model),
            (layout, _) => layout,
        };
        Ok((layout, model))
    }
}

/// Of answers in O&M 2.0.
const PREFIXES_2: &[(&str, &str)] = &[
    ("sos", SOS20),
    ("om", OM20),
    ("gml", GML32),
    ("xlink", XLINK),
    ("xsi", XSI),
    ("xs", XS),
];

/// Of answers in O&M 1.0.
const PREFIXES_1: &[(&str, &str)] = &[
    ("om", OM10),
    ("gml", GML31),
    ("swe", SWE101),
    ("sa", SA10),
    ("xlink", XLINK),
];

/// Bytes of an observation in O&M 2.0, about.
const OBSERVATION_BYTES: usize = 1024;

/// The action of GetResult's answer.
const RESULTS: &str = concat!(
    "http://www.opengis.net/def/serviceOperation/sos/resultRetrieval/2.0/",
    "GetResultResponse"
);

/// Observations on their way into an answer.
pub(crate) struct Observed {
    /// Read one after another.
    pages: Vec<Pages>,
    /// Read before, in [`Layout::Results`], to know how many there are.
    counting: Option<Pages>,
    layout: Layout,
    /// What was read and is not written yet, from this row on.
    page: Option<(Page, usize)>,
    /// Observations so far.
    count: usize,
    /// Observations that were read, wanted or not.
    looked_at: usize,
    /// Those that were read and not wanted, but for counting.
    unwanted: usize,
    /// Those that were read to count results.
    counted: usize,
    /// Datastreams described so far, in [`Layout::Text`].
    described: usize,
    begun: bool,
    over: bool,
}

impl Observed {
    pub(crate) fn new(pages: Pages, layout: Layout) -> Self {
        Self::of(vec![pages], layout)
    }

    /// Observations that were named one by one.
    pub(crate) fn by_id(pages: Vec<Pages>, layout: Layout) -> Self {
        Self::of(pages, layout)
    }

    /// Results, which are counted before they are written.
    pub(crate) fn counted(counting: Pages, pages: Pages) -> Self {
        Self {
            counting: Some(counting),
            ..Self::of(vec![pages], Layout::Results(0))
        }
    }

    fn of(mut pages: Vec<Pages>, layout: Layout) -> Self {
        pages.reverse();
        Self {
            pages,
            counting: None,
            layout,
            page: None,
            count: 0,
            looked_at: 0,
            unwanted: 0,
            counted: 0,
            described: 0,
            begun: false,
            over: false,
        }
    }

    /// Whether the answer is text and no XML.
    pub(crate) fn is_text(&self) -> bool {
        self.layout == Layout::Text
    }

    pub(crate) fn media(&self) -> &'static str {
        match self.layout {
            Layout::Text => "text/plain;profile=swe",
            _ => "application/xml; charset=utf-8",
        }
    }

    pub(crate) fn action(&self) -> &'static str {
        match self.layout {
            Layout::ById => concat!(
                "http://www.opengis.net/def/serviceOperation/sos/obsByIdRetrieval/2.0/",
                "GetObservationByIdResponse"
            ),
            Layout::Results(_) | Layout::Results1(_) => RESULTS,
            _ => "http://www.opengis.net/def/serviceOperation/sos/core/2.0/GetObservationResponse",
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Observations that were read so far, wanted or not.
    pub(crate) fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// Whether more was read that is not given than may be: so many, and some for each that is given.
    pub(crate) fn costs_more_than(&self, unwanted_max: usize) -> bool {
        let may_be = self.count.saturating_mul(UNWANTED_PER_WANTED);
        self.counted > unwanted_max || self.unwanted > unwanted_max.saturating_add(may_be)
    }

    /// The next part of the answer, of one page at most; it may be empty.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Exception> {
        if self.over {
            return Ok(None);
        }
        if let Some(counting) = self.counting.take() {
            self.count_on(counting)?;
            return Ok(Some(Vec::new()));
        }
        let page = match self.page.take() {
            Some(page) => Some(page),
            None => self.read()?.map(|page| (page, 0)),
        };
        let mut out = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(self.frame().0.as_bytes());
        }
        match page {
            Some((page, row)) => self.write(page, row, &mut out),
            None => self.end(&mut out)?,
        }
        Ok(Some(out))
    }

    /// Counts a page of results.
    fn count_on(&mut self, mut counting: Pages) -> Result<(), Exception> {
        let before = counting.looked_at();
        if let (Some(page), Layout::Results(promised)) = (counting.next()?, &mut self.layout) {
            *promised += page.batch.len();
            let looked_at = counting.looked_at() - before;
            self.looked_at += looked_at;
            self.counted += looked_at;
            self.counting = Some(counting);
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Option<Page>, Exception> {
        while let Some(pages) = self.pages.last_mut() {
            let before = pages.looked_at();
            if let Some(page) = pages.next()? {
                let looked_at = pages.looked_at() - before;
                self.looked_at += looked_at;
                self.unwanted += looked_at - page.batch.len();
                return Ok(Some(page));
            }
            self.pages.pop();
        }
        Ok(None)
    }

    // [SOS2-8.3-5]
    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Exception> {
        match self.layout {
            // O&M 1.0 knows no empty collection.
            Layout::Om1 | Layout::Model(_) if self.count == 0 => {
                out.extend_from_slice(b"<om:member/>")
            }
            Layout::Results(promised) if self.count != promised => {
                return Err(Exception::internal("observations went away meanwhile"));
            }
            _ => {}
        }
        out.extend_from_slice(self.frame().1.as_bytes());
        self.over = true;
        Ok(())
    }

    /// Writes a page, or of one whose observations stand by themselves as much as a piece holds.
    fn write(&mut self, page: Page, row: usize, out: &mut Vec<u8>) {
        let batch = &page.batch;
        let mut rows = row..batch.len();
        match self.layout {
            Layout::Om2 | Layout::ById | Layout::Model(_) => {
                rows.end = rows.end.min(row + PIECE_OBSERVATIONS);
                self.write_xml(&page, rows.clone(), out);
            }
            Layout::Om1 => self.write_xml(&page, rows.clone(), out),
            Layout::Text if batch.is_empty() => {}
            Layout::Text => append_swe_text(batch, &mut self.described, out),
            Layout::Results(promised) => {
                rows.end = rows.end.min(promised - self.count);
                write_results(batch, rows.len(), out);
            }
            Layout::Results1(_) => write_results(batch, rows.len(), out),
        }
        self.count += rows.len();
        let by_itself = matches!(self.layout, Layout::Om2 | Layout::ById | Layout::Model(_));
        let more = by_itself && rows.end < page.batch.len();
        self.page = more.then_some((page, rows.end));
    }

    fn write_xml(&self, page: &Page, rows: Range<usize>, out: &mut Vec<u8>) {
        let batch = &page.batch;
        if self.layout != Layout::Om1 {
            out.reserve(rows.len() * OBSERVATION_BYTES);
        }
        let features = self.features(batch);
        let (before, after) = match self.layout {
            Layout::Om2 => ("<sos:observationData>", "</sos:observationData>"),
            Layout::ById => ("<sos:observation>", "</sos:observation>"),
            _ => ("<om:member>", "</om:member>"),
        };
        let placement = Placement {
            first: self.count - rows.start,
            rows,
            before,
            after,
            features: &features,
            ordinals: &page.ordinals,
        };
        match self.layout {
            Layout::Om1 => write_blocks(batch, &placement, out),
            Layout::Model(model) => write_of_model(batch, model, &placement, out),
            _ => write_observations(batch, &placement, out),
        }
    }

    fn features(&self, batch: &Batch) -> Vec<String> {
        let feature = |index| {
            let pages = self.pages.last()?;
            let view = batch.stream(index);
            let series = pages.series(view.topic, view.description)?;
            Some(series.feature().to_owned())
        };
        let all = (0..batch.stream_count()).map(feature);
        all.map(Option::unwrap_or_default).collect()
    }

    /// What stands around all.
    fn frame(&self) -> (String, String) {
        let mut xml = Xml::new();
        match &self.layout {
            Layout::Text => return Default::default(),
            Layout::Om2 => xml.start("sos:GetObservationResponse").prefixes(PREFIXES_2),
            Layout::ById => xml
                .start("sos:GetObservationByIdResponse")
                .prefixes(PREFIXES_2),
            Layout::Results(count) => xml
                .start("sos:GetResultResponse")
                .prefixes(&[("sos", SOS20)])
                .start("sos:resultValues")
                .text(&counted(*count)),
            Layout::Results1(reference) => xml
                .start("sos:GetResultResponse")
                .prefixes(&[("sos", SOS10)])
                .start("sos:result")
                .attribute("RS", reference),
            Layout::Om1 => xml.start("om:ObservationCollection").prefixes(PREFIXES_1),
            Layout::Model(_) => xml
                .start("om:ObservationCollection")
                .prefixes(PREFIXES_1)
                .prefixes(&[("xsi", XSI), ("xs", XS)]),
        };
        xml.split()
    }
}

/// What stands before results; of none there is nothing at all.
// [SOS2-11.2-3]
fn counted(results: usize) -> String {
    match results {
        0 => String::new(),
        some => some.to_string(),
    }
}

/// The first results of a batch; most are numbers, which need no escaping.
fn write_results(batch: &Batch, rows: usize, out: &mut Vec<u8>) {
    let start = out.len();
    if rows == batch.len() {
        append_results(batch, out)
    } else {
        append_results(&batch.select(|row| row < rows), out)
    }
    if out[start..].iter().any(|byte| b"<>&\r\"".contains(byte)) {
        let text = String::from_utf8_lossy(&out[start..]).into_owned();
        out.truncate(start);
        let lines: Vec<String> = text.split('\n').map(escaped).collect();
        out.extend_from_slice(lines.join("\n").as_bytes());
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::new();
    write_escaped(text, &mut safe);
    safe
}
