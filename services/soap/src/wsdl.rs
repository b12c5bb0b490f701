//! The WSDL (1.1): types from a file, messages and bindings from the list of operations.

use crate::NAMESPACE;
use crate::operations::OPERATIONS;
use weir_codec::document::{Xml, write_escaped};

const TEMPLATE: &str = include_str!("../wsdl/observations.wsdl");

/// The whole document, for clients that reach the service here.
pub(crate) fn document(url: &str) -> String {
    let mut escaped = String::new();
    write_escaped(url, &mut escaped);
    TEMPLATE
        .replace("@OPERATIONS@", &operations())
        .replace("@URL@", &escaped)
}

fn operations() -> String {
    let mut xml = Xml::new();
    for operation in OPERATIONS {
        for suffix in ["", "Response"] {
            let name = format!("{}{suffix}", operation.name);
            xml.start("wsdl:message").attribute("name", &name);
            xml.start("wsdl:part").attribute("name", "parameters");
            xml.attribute("element", &format!("w:{name}"));
            xml.end().end();
        }
    }
    xml.start("wsdl:portType").attribute("name", "Observations");
    for operation in OPERATIONS {
        let name = operation.name;
        xml.start("wsdl:operation").attribute("name", name);
        xml.empty("wsdl:input", "message", &format!("w:{name}"));
        xml.empty("wsdl:output", "message", &format!("w:{name}Response"));
        xml.end();
    }
    xml.end();
    binding("Soap11", "soap", &mut xml);
    binding("Soap12", "soap12", &mut xml);
    xml.finish()
}

/// The binding of a version, whose elements have a prefix of their own.
fn binding(name: &str, prefix: &str, xml: &mut Xml) {
    xml.start("wsdl:binding").attribute("name", name);
    xml.attribute("type", "w:Observations");
    xml.start_as(prefix, "binding")
        .attribute("style", "document");
    xml.attribute("transport", "http://schemas.xmlsoap.org/soap/http");
    xml.end();
    for operation in OPERATIONS {
        xml.start("wsdl:operation")
            .attribute("name", operation.name);
        xml.start_as(prefix, "operation");
        xml.attribute("soapAction", &format!("{NAMESPACE}#{}", operation.name));
        xml.end();
        for way in ["wsdl:input", "wsdl:output"] {
            xml.start(way).start_as(prefix, "body");
            xml.attribute("use", "literal").end().end();
        }
        xml.end();
    }
    xml.end();
}
