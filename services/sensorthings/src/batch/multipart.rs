//! `multipart/mixed` (RFC 2046 section 5.1) with parts of `application/http` (RFC 9112 section 11.2), and
//! change sets, which are such parts of parts (OData 4.0 section 11.7.2).

use super::step::{Asked, Step};
use crate::fault::{Fault, Result};
use crate::limits::{BATCH_HEADERS_MAX, BATCH_REQUESTS_MAX};
use bytes::Bytes;

/// Header fields, names in lower case.
type Fields = Vec<(String, String)>;

/// A part: its header fields, what it holds, and where that begins in the body.
struct Part<'b> {
    headers: Fields,
    content: &'b [u8],
    at: usize,
}

impl Part<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        let known = self.headers.iter().find(|(known, _)| known == name);
        known.map(|(_, value)| value.as_str())
    }

    fn media(&self) -> &str {
        let declared = self.header("content-type").unwrap_or_default();
        declared.split(';').next().unwrap_or_default().trim()
    }
}

/// The steps of a body that is declared so.
pub(super) fn read(declared: &str, body: &Bytes) -> Result<Vec<Step>> {
    let mut count = 0;
    let mut steps = Vec::new();
    for part in parts(declared, body, 0)? {
        if part.media() != "multipart/mixed" {
            steps.push(Step::One(request(&part, body, &mut count)?));
            continue;
        }
        let inner = part.header("content-type").unwrap_or_default();
        let mut set = Vec::new();
        for part in parts(inner, part.content, part.at)? {
            let asked = request(&part, body, &mut count)?;
            if asked.method == "GET" {
                return Err(Fault::bad_at("a change set has no GET", part.at));
            }
            set.push(asked);
        }
        steps.push(Step::Set(set));
    }
    Ok(steps)
}

/// The boundary parameter (RFC 2046 section 5.1.1), quoted or not.
fn boundary(declared: &str, at: usize) -> Result<String> {
    let mut parameters = declared.split(';').skip(1);
    let found = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_it = name.trim().eq_ignore_ascii_case("boundary");
        is_it.then(|| value.trim().trim_matches('"').to_owned())
    });
    found
        .filter(|boundary| (1..=70).contains(&boundary.len()))
        .ok_or_else(|| Fault::bad_at("multipart/mixed needs a boundary of 1 to 70 letters", at))
}

/// The parts between the delimiters; what stands before the first and behind the last is passed over.
fn parts<'b>(declared: &str, body: &'b [u8], at: usize) -> Result<Vec<Part<'b>>> {
    let delimiter = format!("--{}", boundary(declared, at)?);
    let (mut parts, mut begin, mut place) = (Vec::new(), None, 0);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let (line_at, text) = (place, line.trim_ascii_end());
        place += line.len();
        let Some(rest) = text.strip_prefix(delimiter.as_bytes()) else {
            continue;
        };
        if !matches!(rest, b"" | b"--") {
            continue;
        }
        if let Some(begin) = begin.replace(place) {
            let content = without_line_end(&body[begin..line_at]);
            parts.push(part(content, at + begin)?);
        }
        if rest == b"--" {
            return Ok(parts);
        }
    }
    Err(Fault::bad_at(
        format!("`{delimiter}--` is missing at the end"),
        at + body.len(),
    ))
}

/// The line end before a delimiter is the delimiter's.
fn without_line_end(content: &[u8]) -> &[u8] {
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    content.strip_suffix(b"\r").unwrap_or(content)
}

fn part(content: &[u8], at: usize) -> Result<Part<'_>> {
    let (headers, content, at) = headers(content, at)?;
    Ok(Part {
        headers,
        content,
        at,
    })
}

/// Header fields up to an empty line, and what follows.
fn headers(mut rest: &[u8], mut at: usize) -> Result<(Fields, &[u8], usize)> {
    let mut headers = Vec::new();
    while let Some((line, after)) = line(rest) {
        let line_at = at;
        at += rest.len() - after.len();
        rest = after;
        if line.is_empty() {
            break;
        }
        let pair = line.split_once(':');
        let (name, value) =
            pair.ok_or_else(|| Fault::bad_at("a header field was expected", line_at))?;
        if headers.len() == BATCH_HEADERS_MAX {
            return Err(Fault::over(
                "header fields of one request",
                BATCH_HEADERS_MAX,
            ));
        }
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok((headers, rest, at))
}

/// The first line and what follows; text that is no UTF-8 is none.
fn line(text: &[u8]) -> Option<(&str, &[u8])> {
    if text.is_empty() {
        return None;
    }
    let end = text.iter().position(|byte| *byte == b'\n');
    let (line, rest) = text.split_at(end.map_or(text.len(), |end| end + 1));
    Some((std::str::from_utf8(line).ok()?.trim_end(), rest))
}

fn request(part: &Part<'_>, body: &Bytes, count: &mut usize) -> Result<Asked> {
    *count += 1;
    if *count > BATCH_REQUESTS_MAX {
        return Err(Fault::over("requests of one batch", BATCH_REQUESTS_MAX));
    }
    if part.media() != "application/http" {
        let problem = format!("a part is application/http, not `{}`", part.media());
        return Err(Fault::bad_at(problem, part.at));
    }
    let missing = || Fault::bad_at("a request line was expected: POST Things HTTP/1.1", part.at);
    let (first, rest) = line(part.content).ok_or_else(missing)?;
    let words: Vec<&str> = first.split_ascii_whitespace().collect();
    let (method, url) = match words[..] {
        [method, url] => (method, url),
        [method, url, version] if version.starts_with("HTTP/") => (method, url),
        _ => return Err(missing()),
    };
    let (headers, content, _) = headers(rest, part.at + part.content.len() - rest.len())?;
    Ok(Asked {
        id: part.header("content-id").map(str::to_owned),
        method: method.to_owned(),
        url: url.to_owned(),
        headers,
        body: body.slice_ref(content),
        ..Asked::default()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const DECLARED: &str = "multipart/mixed; boundary=b";

    #[test]
    fn requests_and_change_sets_keep_their_bodies() {
        let text = "before\r\n--b\r\nContent-Type: application/http\r\n\r\n\
                    GET Things?$top=1 HTTP/1.1\r\nHost: h\r\n\r\n\r\n--b\r\n\
                    Content-Type: multipart/mixed;boundary=\"c\"\r\n\r\n--c\r\n\
                    Content-Type: application/http\r\nContent-ID: 1\r\n\r\n\
                    POST /v1.1/Things HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"a\":\r\n1}\r\n\
                    --c--\r\n--b--\r\nafter";
        let steps = read(DECLARED, &Bytes::from(text)).unwrap();
        let [Step::One(one), Step::Set(set)] = &steps[..] else {
            unreachable!("{steps:?}")
        };
        assert_eq!((&*one.method, &*one.url), ("GET", "Things?$top=1"));
        assert_eq!(one.headers, [("host".to_owned(), "h".to_owned())]);
        assert_eq!(
            (set[0].id.as_deref(), &set[0].body[..]),
            (Some("1"), &b"{\"a\":\r\n1}"[..])
        );
    }

    #[test]
    fn what_is_no_batch_is_refused_with_its_place() {
        let part =
            |inner: &str| format!("--b\r\nContent-Type: application/http\r\n\r\n{inner}\r\n--b--");
        for (declared, text, at) in [
            ("multipart/mixed", part("GET Things"), 0),
            (DECLARED, "--b\r\n".to_owned(), 5),
            (DECLARED, "--b\r\nno field\r\n\r\n--b--".to_owned(), 5),
            (
                DECLARED,
                "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--".to_owned(),
                33,
            ),
            (DECLARED, part("Things"), 39),
            (DECLARED, part("GET Things HTTP/1.1\r\nno field"), 60),
        ] {
            let fault = read(declared, &Bytes::from(text.clone())).unwrap_err();
            assert_eq!(
                (fault.status, fault.at),
                (400, Some(at)),
                "{text:?}: {}",
                fault.message
            );
        }
        let many =
            "--b\r\nContent-Type: application/http\r\n\r\nGET Things\r\n".repeat(1001) + "--b--";
        let fault = read(DECLARED, &Bytes::from(many)).unwrap_err();
        assert!(fault.message.contains("1000"), "{}", fault.message);
    }
}
