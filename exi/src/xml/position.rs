//! Where an offset is, for people.

/// Line and column of an offset in a document, both from 1, the column in characters.
///
/// UTF-8 is assumed; a column in another encoding is that of its bytes.
pub fn position(document: &[u8], offset: usize) -> (usize, usize) {
    let before = document.get(..offset).unwrap_or(document);
    let line_at = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let rest = before.get(line_at..).unwrap_or_default();
    let mark = if line_at == 0 && rest.starts_with(b"\xEF\xBB\xBF") {
        1
    } else {
        0
    };
    let characters = rest.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
    (line, characters.saturating_sub(mark) + 1)
}
