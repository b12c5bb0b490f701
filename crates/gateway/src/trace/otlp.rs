//! Spans as OTLP writes them: `ExportTraceServiceRequest` of opentelemetry-proto 1, in Protocol Buffers.
//!
//! Written by hand, as it is six messages that only grow fields: the crates that generate them bring a
//! gRPC stack along.

use weir_hub::trace::{Fact, Span, SpanKind};

/// Wire types of Protocol Buffers.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;
/// `STATUS_CODE_ERROR`.
const ERROR: u64 = 2;

/// One request of all these spans.
pub(super) fn request(service: &str, spans: &[Span]) -> Vec<u8> {
    message(|request| {
        request.inner(1, |resource_spans| {
            resource_spans.inner(1, |resource| {
                resource.fact(1, "service.name", &Fact::Text(service.into()));
                let version = Fact::Text(env!("CARGO_PKG_VERSION").into());
                resource.fact(1, "service.version", &version);
            });
            resource_spans.inner(2, |scope_spans| {
                scope_spans.inner(1, |scope| scope.bytes(1, b"weir"));
                for span in spans {
                    scope_spans.inner(2, |out| write(span, out));
                }
            });
        });
    })
}

fn write(span: &Span, out: &mut Writer) {
    out.bytes(1, &span.trace);
    out.bytes(2, &span.id);
    if let Some(parent) = &span.parent {
        out.bytes(4, parent);
    }
    out.bytes(5, span.name.as_bytes());
    out.number(6, kind(span.kind));
    out.fixed64(7, span.begin);
    out.fixed64(8, span.end);
    for (name, fact) in &span.facts {
        out.fact(9, name, fact);
    }
    if let Some(fault) = &span.fault {
        out.inner(15, |status| {
            status.bytes(2, fault.as_bytes());
            status.number(3, ERROR);
        });
    }
}

/// `Span.SpanKind`.
const fn kind(kind: SpanKind) -> u64 {
    match kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Producer => 4,
    }
}

fn message(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer(Vec::new());
    write(&mut writer);
    writer.0
}

struct Writer(Vec<u8>);

impl Writer {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    fn fixed64(&mut self, field: u64, value: u64) {
        self.tag(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.tag(field, LENGTH);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    fn inner(&mut self, field: u64, write: impl FnOnce(&mut Writer)) {
        let inner = message(write);
        self.bytes(field, &inner);
    }

    /// `KeyValue`.
    fn fact(&mut self, field: u64, name: &str, fact: &Fact) {
        self.inner(field, |pair| {
            pair.bytes(1, name.as_bytes());
            pair.inner(2, |value| match fact {
                Fact::Text(text) => value.bytes(1, text.as_bytes()),
                Fact::Number(number) => value.number(3, *number),
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_its_number_its_wire_type_and_its_value() {
        // Protocol Buffers, Encoding: `a = 150` is 08 96 01, `b = "testing"` is 12 07 and the text.
        let bytes = message(|out| {
            out.number(1, 150);
            out.bytes(2, b"testing");
        });
        assert_eq!(bytes, b"\x08\x96\x01\x12\x07testing");
    }
}
