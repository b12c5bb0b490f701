//! A figure as a picture of its own, with its title and its legend: for pages that hold no styles, such as Markdown.
//!
//! What it deliberately does not do: draw anew. Inside is what the report shows.

use super::PLOT_STYLE;
use super::figures::signs;
use super::markup::escaped;
use super::svg::{HATCHES, Width, inside, swatch};
use weir_bench_model::figure::{Figure, Form};

/// Height of the title, and of a row of the legend.
const TITLE_PX: f64 = 26.0;
const ROW_PX: f64 = 18.0;
/// What a sign takes of the legend, and a character beside it.
const SIGN_PX: f64 = 34.0;
const CHARACTER_PX: f64 = 6.6;
const MARGIN_PX: f64 = 16.0;

/// The picture; none of a heat map, which is a table.
pub(crate) fn picture(figure: &Figure) -> Option<String> {
    if figure.form == Form::Heat {
        return None;
    }
    let width = Width::Wide.px();
    let (items, rows) = placed(figure, width);
    let top = TITLE_PX + rows * ROW_PX + 6.0;
    let (height, drawn) = inside(figure, Width::Wide);
    let all = (top + height).round();
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{all}\" viewBox=\"0 0 {width} {all}\">\n\
         <style>\n{PLOT_STYLE}.title {{ font-size: 15px; font-weight: 600; fill: var(--ink); }}\n</style>\n{HATCHES}\
         <rect width=\"100%\" height=\"100%\" style=\"fill: var(--paper)\"/>\n\
         <text class=\"title\" x=\"0\" y=\"17\">{title}</text>\n{items}\
         <svg y=\"{top}\" width=\"{width}\" height=\"{height}\">{drawn}</svg>\n</svg>\n",
        title = escaped(&figure.title),
    ))
}

/// The legend in rows, and how many rows there are.
fn placed(figure: &Figure, width: f64) -> (String, f64) {
    let (mut text, mut x, mut row) = (String::new(), 0.0, 0.0);
    let items = signs(figure);
    for item in &items {
        let takes = SIGN_PX + item.words.chars().count() as f64 * CHARACTER_PX + MARGIN_PX;
        if x > 0.0 && x + takes > width {
            (x, row) = (0.0, row + 1.0);
        }
        let y = TITLE_PX + row * ROW_PX;
        text += &format!(
            "<svg x=\"{x}\" y=\"{y}\" width=\"28\" height=\"14\">{}</svg>\
             <text x=\"{}\" y=\"{}\" class=\"label\">{}</text>\n",
            swatch(item.place, item.is_bar, item.is_published),
            x + SIGN_PX,
            y + 11.0,
            escaped(&item.words),
        );
        x += takes;
    }
    (text, if items.is_empty() { 0.0 } else { row + 1.0 })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::picture;
    use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};

    fn figure(form: Form) -> Figure {
        let line = |name: &str| Series::here(name, vec![Point::at(1.0, 2.0), Point::at(2.0, 3.0)]);
        let names = (1..=12).map(|n| format!("a contender <{n}> with a long name"));
        Figure::new(form, "f", "Bytes & time")
            .axes(Axis::new("size", "kB"), Axis::new("time", "ms"))
            .series(names.map(|name| line(&name)))
    }

    #[test]
    fn a_picture_is_a_document_of_its_own_with_title_and_legend() {
        let text = picture(&figure(Form::Lines)).unwrap();
        let reader =
            weir_exi::xml::Reader::new(text.as_bytes(), Default::default(), Default::default());
        let mut reader = reader.unwrap();
        while reader.next_event().unwrap().is_some() {}
        assert!(text.contains("Bytes &amp; time") && text.contains("a contender &lt;12&gt;"));
        assert!(!text.contains("NaN"));
        assert_eq!(picture(&figure(Form::Heat)), None);
    }
}
