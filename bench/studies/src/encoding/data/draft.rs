//! An XML document in the making, which knows at each moment how dense it is.

use crate::encoding::density::is_structure;
use weir_bench_model::random::Random;

/// What a document is to become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Size, bytes.
    pub(super) bytes: usize,
    /// Content density, percent.
    pub(super) density_percent: f64,
}

/// A document that is being written; nothing in it needs escapes.
pub(super) struct Draft {
    text: String,
    data: usize,
    open: Vec<&'static str>,
}

/// About what a line of structure takes, bytes.
const LINE_BYTES: usize = 60;

/// Attributes of an element.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Shape {
    /// Of the papers' kilobytes, which are 1,024 bytes.
    pub(super) fn of_kilobytes(kilobytes: f64, density_percent: f64) -> Self {
        let bytes = (kilobytes * 1024.0).round() as usize;
        Self {
            bytes,
            density_percent,
        }
    }

    /// Bytes of structure.
    pub(super) fn structure(&self) -> usize {
        (self.bytes as f64 * (1.0 - self.density_percent / 100.0)) as usize
    }
}

impl Draft {
    pub(super) fn new() -> Self {
        let text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        Self {
            text,
            data: 0,
            open: Vec::new(),
        }
    }

    /// Begins an element on a line of its own.
    pub(super) fn start(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.text.push('>');
        self.open.push(name);
    }

    /// Ends the element begun last.
    pub(super) fn end(&mut self) {
        if let Some(name) = self.open.pop() {
            self.line();
            self.close(name);
        }
    }

    /// An element with text and nothing else.
    pub(super) fn leaf(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.tag(name, attributes);
        self.text.push('>');
        self.text.push_str(text);
        self.data += text.len();
        self.close(name);
    }

    /// An element without content.
    pub(super) fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.text.push_str("/>");
    }

    /// Begins an element that [`Self::write`] fills; [`Self::end_text`] ends it.
    pub(super) fn start_text(&mut self, name: &'static str) {
        self.tag(name, &[]);
        self.text.push('>');
        self.open.push(name);
    }

    /// Adds to the text of the element.
    pub(super) fn write(&mut self, text: &str) {
        self.text.push_str(text);
        self.data += text.len();
    }

    /// Ends an element begun by [`Self::start_text`].
    pub(super) fn end_text(&mut self) {
        if let Some(name) = self.open.pop() {
            self.close(name);
        }
    }

    /// Bytes that may still be written when all that is open is closed.
    pub(super) fn room(&self, shape: &Shape) -> usize {
        let closing = |(depth, name): (usize, &&str)| 1 + 2 * depth + name.len() + "</>".len();
        let closing: usize = self.open.iter().enumerate().map(closing).sum();
        shape.bytes.saturating_sub(self.text.len() + closing + 1)
    }

    /// Says whether data must follow rather than structure.
    pub(super) fn wants_data(&self, shape: &Shape) -> bool {
        (self.data as f64) < self.text.len() as f64 * shape.density_percent / 100.0
    }

    /// Bytes of data so far.
    pub(super) fn data(&self) -> usize {
        self.data
    }

    /// Bytes of structure so far.
    pub(super) fn structure(&self) -> usize {
        self.text.len() - self.data
    }

    /// Bytes of data that the document still needs.
    pub(super) fn needs(&self, shape: &Shape) -> usize {
        let data = shape.bytes.saturating_sub(shape.structure());
        data.saturating_sub(self.data)
    }

    /// Says whether so many bytes of structure more are not too many.
    pub(super) fn affords(&self, structure: usize, shape: &Shape) -> bool {
        let closing = shape
            .bytes
            .saturating_sub(self.room(shape) + self.text.len());
        self.structure() + closing + structure < shape.structure()
    }

    /// Uses up the room: lines of structure as many as there is more room than data is needed, and
    /// then a text.
    pub(super) fn fill(
        &mut self,
        name: &str,
        shape: &Shape,
        random: &mut Random,
        mut lean: impl FnMut(&mut Self),
    ) {
        let frame = 1 + 2 * self.open.len() + 2 * name.len() + "<></>".len();
        while self.room(shape) > self.needs(shape) + frame + LINE_BYTES {
            lean(self);
        }
        let room = self.room(shape).saturating_sub(frame);
        if room > 0 {
            self.leaf(name, &[], &words(room, random));
        }
    }

    /// Closes all that is open.
    pub(super) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        self.text.push('\n');
        self.text
    }

    fn tag(&mut self, name: &str, attributes: Attributes<'_>) {
        self.line();
        self.text.push('<');
        self.text.push_str(name);
        for (attribute, value) in attributes {
            self.text.extend([" ", attribute, "=\"", value, "\""]);
            if !is_structure(attribute) {
                self.data += value.len();
            }
        }
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.open.len()));
    }

    fn close(&mut self, name: &str) {
        self.text.extend(["</", name, ">"]);
    }
}

const WORDS: [&str; 24] = [
    "network",
    "of",
    "the",
    "sensors",
    "water",
    "temperature",
    "along",
    "coast",
    "hourly",
    "mean",
    "station",
    "river",
    "and",
    "salinity",
    "measured",
    "at",
    "quality",
    "controlled",
    "pressure",
    "air",
    "buoy",
    "depth",
    "monitoring",
    "from",
];

/// A sentence of exactly so many characters.
pub(super) fn words(characters: usize, random: &mut Random) -> String {
    let mut text = String::new();
    while text.len() < characters {
        text.push_str(random.one_of(&WORDS));
        text.push(' ');
    }
    text.truncate(characters);
    match text.ends_with(' ') {
        true => text.trim_end().to_string() + ".",
        false => text,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::encoding::density::content_density_percent;

    #[test]
    fn a_draft_knows_its_own_density() {
        let mut draft = Draft::new();
        draft.start("a", &[("xmlns:x", "urn:x"), ("id", "one")]);
        draft.leaf("x:b", &[("c", "two")], "three");
        draft.empty("d", &[("e", "four")]);
        draft.start_text("f");
        draft.write("five");
        draft.end_text();
        let data = draft.data;
        let text = draft.finish();
        let percent = content_density_percent(&text).unwrap();
        assert_eq!((percent * text.len() as f64 / 100.0).round() as usize, data);
        assert_eq!(data, 19);
    }

    #[test]
    fn a_filled_draft_has_its_size_to_the_byte() {
        let shape = Shape {
            bytes: 700,
            density_percent: 50.0,
        };
        let mut draft = Draft::new();
        draft.start("a", &[]);
        draft.fill("b", &shape, &mut Random::new(1, "test"), |draft| {
            draft.empty("c", &[])
        });
        let text = draft.finish();
        assert_eq!(text.len(), 700);
        let percent = content_density_percent(&text).unwrap();
        assert!((percent - 50.0).abs() < 10.0, "{percent}");
    }
}
