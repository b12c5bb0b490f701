//! Marks, dashes and hatchings: how a series is told from another without its colour.

use super::super::markup::px;

/// How many series differ in every respect; more repeat the marks with other dashes.
pub(super) const KINDS: usize = 8;

/// Dashes of lines, by series.
const DASHES: [&str; KINDS] = ["", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "1 4", "6 2 1 2"];

/// The class of a series: its colour.
pub(super) fn class(place: usize) -> String {
    format!("s{}", place % KINDS)
}

/// The dash of a series' line.
pub(super) fn dash(place: usize) -> &'static str {
    DASHES[(place + place / KINDS) % KINDS]
}

/// A mark around a place; a hollow one is published.
pub(super) fn mark(place: usize, x: f64, y: f64, hollow: bool) -> String {
    let size = if hollow { 5.0 } else { 4.0 };
    let kind = if hollow { "ghost" } else { "dot" };
    let path = path(place % KINDS, size);
    format!(
        "<path class=\"{kind} {}\" transform=\"translate({} {})\" d=\"{path}\"/>",
        class(place),
        px(x),
        px(y)
    )
}

fn path(kind: usize, r: f64) -> String {
    let d = r * 1.25;
    match kind {
        0 => format!("M{r} 0A{r} {r} 0 1 1 -{r} 0A{r} {r} 0 1 1 {r} 0Z"),
        1 => format!("M-{r} -{r}H{r}V{r}H-{r}Z"),
        2 => format!("M0 -{d}L{d} {r}H-{d}Z"),
        3 => format!("M0 -{d}L{d} 0L0 {d}L-{d} 0Z"),
        4 => format!("M0 {d}L{d} -{r}H-{d}Z"),
        5 => format!(
            "M-{r} -{h}H-{h}V-{r}H{h}V-{h}H{r}V{h}H{h}V{r}H-{h}V{h}H-{r}Z",
            h = r / 2.5
        ),
        6 => format!("M-{d} 0L{r} -{d}V{d}Z"),
        _ => format!("M{d} 0L-{r} {d}V-{d}Z"),
    }
}

/// A cross where a cell failed.
pub(super) fn failed(x: f64, y: f64) -> String {
    format!(
        "<path class=\"failed\" transform=\"translate({} {})\" d=\"M-4 -4L4 4M-4 4L4 -4\"/>",
        px(x),
        px(y)
    )
}

/// Hatchings of bars, once a page: strokes in the colour of the paper over the bar's own.
pub(in super::super) const HATCHES: &str = "<svg class=\"defs\" aria-hidden=\"true\"><defs>\
<pattern id=\"h1\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
<path d=\"M0 0V6\"/></pattern>\
<pattern id=\"h2\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><circle cx=\"2.5\" cy=\"2.5\" r=\"1\"/>\
</pattern>\
<pattern id=\"h3\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\">\
<path d=\"M0 0V6\"/></pattern>\
<pattern id=\"h4\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 0V4\"/></pattern>\
<pattern id=\"h5\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
<path d=\"M0 0V6M0 0H6\"/></pattern>\
<pattern id=\"h6\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 0H5\"/></pattern>\
<pattern id=\"h7\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(30)\">\
<path d=\"M0 0V8M3 0V8\"/></pattern></defs></svg>\n";

/// The fill of a bar's hatching; the first series has none.
pub(super) fn hatch(place: usize) -> Option<String> {
    let kind = place % KINDS;
    (kind > 0).then(|| format!("url(#h{kind})"))
}

/// The sign of a series in a legend: a bar's patch, or a line with its mark.
pub(in super::super) fn swatch(place: usize, bar: bool, hollow: bool) -> String {
    let inside = match (bar, hollow) {
        (true, true) => {
            "<rect class=\"ghostbar\" x=\"4\" y=\"2\" width=\"20\" height=\"10\"/>".into()
        }
        (true, false) => {
            let rect =
                |fill: &str| format!("<rect x=\"4\" y=\"2\" width=\"20\" height=\"10\" {fill}/>");
            let colour = rect(&format!("class=\"bar {}\"", class(place)));
            let over = hatch(place).map(|fill| rect(&format!("fill=\"{fill}\"")));
            colour + &over.unwrap_or_default()
        }
        (false, hollow) => {
            let line = format!(
                "<path class=\"line {}\" stroke-dasharray=\"{}\" d=\"M1 7H27\"/>",
                class(place),
                dash(place)
            );
            let line = if hollow { String::new() } else { line };
            line + &mark(place, 14.0, 7.0, hollow)
        }
    };
    format!("<svg class=\"swatch\" viewBox=\"0 0 28 14\" aria-hidden=\"true\">{inside}</svg>")
}
