//! `cargo xtask exi-schema FILE.xsd... -o OUT [--id SCHEMA-ID]`: compiles XML Schema documents, and
//! the files that they refer to, to the tables that `weir_exi::Schema::from_bytes` reads.

use std::path::Path;

use weir_exi::Schema;
use weir_exi::grammar::SchemaParts;
use weir_exi::xsd;

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    documents: Vec<String>,
    out: String,
    id: Option<String>,
}

/// How to call it.
pub(crate) const USAGE: &str = "cargo xtask exi-schema FILE.xsd... -o OUT [--id SCHEMA-ID]";

/// Does what the arguments after `exi-schema` say; gives a line that says what was made.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Result<String, String> {
    let request = parse(arguments)?;
    let mut parts = compile(&request.documents)?;
    parts.id = request.id;
    let bytes = parts.to_bytes();
    Schema::from_bytes(&bytes).map_err(|error| error.to_string())?;
    std::fs::write(&request.out, &bytes).map_err(|error| format!("{}: {error}", request.out))?;
    Ok(summary(&parts, bytes.len()))
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut request = Request::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("usage: {USAGE}"));
        match argument.as_str() {
            "-o" | "--out" => request.out = value()?,
            "--id" => request.id = Some(value()?),
            _ => request.documents.push(argument),
        }
    }
    if request.documents.is_empty() || request.out.is_empty() {
        return Err(format!("usage: {USAGE}"));
    }
    Ok(request)
}

fn compile(documents: &[String]) -> Result<SchemaParts, String> {
    let mut texts = Vec::new();
    for location in documents {
        let bytes = std::fs::read(location).map_err(|error| format!("{location}: {error}"))?;
        texts.push((location, bytes));
    }
    let documents: Vec<_> = texts
        .iter()
        .map(|(location, bytes)| xsd::Document { location, bytes })
        .collect();
    let mut files = |location: &str| std::fs::read(Path::new(location)).ok();
    xsd::parts(&documents, &mut files).map_err(|error| error.to_string())
}

fn summary(parts: &SchemaParts, bytes: usize) -> String {
    format!(
        "{} elements, {} types, {} states, {} productions in {bytes} bytes",
        parts.elements.len(),
        parts.types.len(),
        parts.states.len(),
        parts.productions.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request, String> {
        parse(line.split_whitespace().map(str::to_string))
    }

    #[test]
    fn documents_output_and_identifier_are_told_apart() {
        let request = parsed("a.xsd -o out b.xsd --id urn:x").expect("complete");
        assert_eq!(request.documents, ["a.xsd", "b.xsd"]);
        assert_eq!(
            (request.out.as_str(), request.id.as_deref()),
            ("out", Some("urn:x"))
        );
    }

    #[test]
    fn without_output_the_usage_is_told() {
        assert!(parsed("a.xsd").is_err_and(|error| error.starts_with("usage:")));
        assert!(parsed("a.xsd -o").is_err());
    }
}
