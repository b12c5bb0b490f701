//! What is kept between two calls: the buffers, the message read last, the names.

use crate::bulk::{self, Bulk};
use crate::columns::Columns;
use crate::document::Tape;
use crate::formats::write_list;
use crate::names::Names;
use crate::view::View;
use weir_codec::{FORMATS, Format};
use weir_model::{BatchBuilder, Limits};

/// Reads messages into columns and writes them again; all buffers are used again and again.
#[derive(Debug, Default)]
pub struct Codec {
    input: Vec<u8>,
    topic: Vec<u8>,
    message: BatchBuilder,
    bulk: Bulk,
    /// The format of the input where it was read into columns alone.
    unread: Option<&'static Format>,
    columns: Columns,
    names: Names,
    document: Tape,
    reply: Vec<u8>,
    view: View,
}

impl Codec {
    /// Room for a message of this length; the one read last cannot be written any more.
    pub fn input(&mut self, length: usize) -> &mut [u8] {
        self.message.clear();
        self.unread = None;
        self.input.resize(length, 0);
        &mut self.input
    }

    /// Room for a topic of this length.
    pub fn topic(&mut self, length: usize) -> &mut [u8] {
        self.topic.resize(length, 0);
        &mut self.topic
    }

    /// Reads the input; on failure the reply says why, and there are no rows.
    pub fn decode(&mut self, format: usize) -> bool {
        self.message.clear();
        self.unread = None;
        self.reply.clear();
        let read = self.read(format);
        if let Err(why) = &read {
            self.columns.clear();
            self.reply.extend_from_slice(why.as_bytes());
        }
        read.is_ok()
    }

    fn read(&mut self, format: usize) -> Result<(), String> {
        let format = FORMATS.get(format).ok_or("no such format")?;
        let topic = str::from_utf8(&self.topic).map_err(|_| "the topic is not UTF-8")?;
        let (names, columns) = (&mut self.names, &mut self.columns);
        if format.name == bulk::FORMAT && self.bulk.read(&self.input, topic, names, columns) {
            self.unread = Some(format);
            return Ok(());
        }
        read_message(format, &self.input, &mut self.message)?;
        let batch = self.message.batch();
        let stream = |index| batch.stream(index);
        columns.fill(batch, names.intern(batch.stream_count(), stream, topic));
        Ok(())
    }

    /// Writes the message read last as the reply.
    pub fn encode(&mut self, format: usize) -> bool {
        self.reply.clear();
        let Some(format) = FORMATS.get(format) else {
            return false;
        };
        if let Some(unread) = self.unread.take() {
            // What the direct way has read, the general way reads too.
            let _same = read_message(unread, &self.input, &mut self.message);
        }
        (format.encode)(self.message.batch(), &mut self.reply);
        true
    }

    /// Reads the input as a document in EXI; on failure the reply says why, and there is none.
    pub fn read_document(&mut self, alignment: usize) -> bool {
        self.reply.clear();
        let read = self.document.read(&self.input, alignment);
        if let Err(why) = &read {
            self.document.clear();
            self.reply.extend_from_slice(why.as_bytes());
        }
        read.is_ok()
    }

    /// Tells the formats as the reply.
    pub fn formats(&mut self) {
        let mut list = String::new();
        write_list(&mut list);
        self.reply = list.into_bytes();
    }

    /// The columns of the message read last.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The datastreams met.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The document read last.
    pub fn document(&self) -> &Tape {
        &self.document
    }

    /// What was written last, or why a message was refused.
    pub fn reply(&self) -> &[u8] {
        &self.reply
    }

    /// Where everything lies now.
    pub fn view(&mut self) -> &View {
        self.view = View::of(&self.columns, &self.names, &self.document, &self.reply);
        &self.view
    }
}

fn read_message(format: &Format, input: &[u8], message: &mut BatchBuilder) -> Result<(), String> {
    let read = (format.decode)(input, message, &Limits::default());
    read.map_err(|error| error.to_string())
}
