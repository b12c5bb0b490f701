//! Blocks of streams with channels (EXI 1.0 section 9), gathered until they are full.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use super::content::Content;
use crate::bits::Writer;
use crate::decode::SMALL;
use crate::deflate::Deflater;
use crate::fault::Result;
use crate::names::{NONE, Names};
use crate::stored::{Span, Stored};
use crate::value::Value;

/// One value, or several whose bytes are known already.
#[derive(Debug, Clone, Copy)]
enum Item {
    /// Text whose bytes depend on the string table, by its codec.
    Text { codec: u32, text: Span },
    /// So many bytes.
    Bytes(u32),
}

#[derive(Debug, Default)]
struct Channel {
    name: u32,
    items: Vec<Item>,
    bytes: Vec<u8>,
    values: u32,
}

/// The block that is being gathered.
#[derive(Debug)]
pub(crate) struct Block {
    channels: Vec<Channel>,
    channels_len: usize,
    pub(crate) values: u32,
    text: String,
    /// Where one value or one stream of channels is put together.
    writer: Writer,
    deflater: Option<Deflater>,
}

impl Block {
    pub(crate) fn new(compressed: bool) -> Self {
        Self {
            channels: Vec::new(),
            channels_len: 0,
            values: 0,
            text: String::new(),
            writer: Writer::new(true),
            deflater: compressed.then(Deflater::new),
        }
    }

    fn channel(&mut self, names: &mut Names, name: u32) -> &mut Channel {
        let entry = names.name_mut(name);
        if entry.channel == NONE {
            entry.channel = self.channels_len as u32;
            self.channels_len += 1;
            if self.channels.len() < self.channels_len {
                self.channels.push(Channel::default());
            }
            self.channels[entry.channel as usize].name = name;
        }
        let channel = &mut self.channels[entry.channel as usize];
        channel.values += 1;
        self.values += 1;
        channel
    }

    /// Keeps text for the string table.
    pub(crate) fn defer_text(&mut self, names: &mut Names, name: u32, codec: u32, text: &str) {
        let at = self.text.len() as u32;
        self.text.push_str(text);
        let text = Span {
            at,
            len: text.len() as u32,
        };
        self.channel(names, name)
            .items
            .push(Item::Text { codec, text });
    }

    /// Keeps the bytes of a value that needs no string table.
    pub(crate) fn defer_typed(
        &mut self,
        names: &mut Names,
        content: &mut Content,
        name: u32,
        codec: u32,
        stored: &Stored,
    ) -> Result<()> {
        let mut writer = mem::take(&mut self.writer);
        writer.aligned = true;
        let written = content.write(names, &mut writer, name, codec, stored);
        let channel = self.channel(names, name);
        let before = channel.bytes.len();
        writer.drain_into(&mut channel.bytes);
        let len = (channel.bytes.len() - before) as u32;
        match channel.items.last_mut() {
            Some(Item::Bytes(bytes)) => *bytes += len,
            _ => channel.items.push(Item::Bytes(len)),
        }
        self.writer = writer;
        written
    }

    /// Writes the block (section 9.3) and begins the next.
    pub(crate) fn flush(
        &mut self,
        names: &mut Names,
        content: &mut Content,
        structure: &mut Writer,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut channels = mem::take(&mut self.channels);
        let live = &mut channels[..self.channels_len];
        let mut stream = mem::take(&mut self.writer);
        stream.aligned = true;
        stream.octets(structure.bytes());
        structure.clear();
        let few = self.values <= SMALL;
        if !few {
            self.end_stream(&mut stream, out);
        }
        for channel in live.iter().filter(|channel| few || channel.values <= SMALL) {
            self.write_channel(names, content, channel, &mut stream)?;
        }
        self.end_stream(&mut stream, out);
        for channel in live.iter().filter(|channel| !few && channel.values > SMALL) {
            self.write_channel(names, content, channel, &mut stream)?;
            self.end_stream(&mut stream, out);
        }
        for channel in live {
            names.name_mut(channel.name).channel = NONE;
        }
        (self.channels, self.writer) = (channels, stream);
        self.forget();
        Ok(())
    }

    /// Forgets everything but keeps the memory; that names have channels is not its business.
    pub(crate) fn forget(&mut self) {
        for channel in self.channels.iter_mut().take(self.channels_len) {
            channel.items.clear();
            channel.bytes.clear();
            channel.values = 0;
        }
        (self.channels_len, self.values) = (0, 0);
        self.writer.clear();
        self.text.clear();
    }

    fn write_channel(
        &self,
        names: &mut Names,
        content: &mut Content,
        channel: &Channel,
        stream: &mut Writer,
    ) -> Result<()> {
        let mut at = 0;
        for item in &channel.items {
            match *item {
                Item::Bytes(len) => {
                    stream.octets(&channel.bytes[at..at + len as usize]);
                    at += len as usize;
                }
                Item::Text { codec, text } if codec == crate::codec::STRING => {
                    content.text(names, stream, channel.name, text.of(&self.text));
                }
                Item::Text { codec, text } => {
                    content.stash.clear();
                    let value = Value::Text(text.of(&self.text));
                    if let Some(stored) = content.prepare(codec, &value) {
                        content.write(names, stream, channel.name, codec, &stored)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// An empty stream MUST NOT be written (section 9.3, note).
    fn end_stream(&mut self, stream: &mut Writer, out: &mut Vec<u8>) {
        let bytes = stream.bytes();
        // [EXI-9.3-1]
        if bytes.is_empty() {
            return;
        }
        match &mut self.deflater {
            Some(deflater) => deflater.deflate(bytes, out),
            None => out.extend_from_slice(bytes),
        }
        stream.clear();
    }
}
