//! The figures of a run as files beside its page of the documentation, and where the page shows them.

use std::path::Path;

use super::write_file;
use super::{Subject, html};
use weir_bench_model::figure::Figure;

/// Figures that were written, in their order.
pub struct Pictures {
    /// As it was named: `docs/results/figures/services`.
    named: String,
    /// As a page beside the folder of folders names it: `figures/services`.
    folder: String,
    figures: Vec<Figure>,
}

/// Writes each figure that is drawn as `NAME.svg`.
pub fn write_pictures(subject: &Subject, folder: &Path) -> Result<Pictures, String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut figures = Vec::new();
    let shown = subject.figures.iter().filter(|it| it.shows_something());
    for figure in shown {
        if let Some(text) = html::picture(figure) {
            write_file(folder, &format!("{}.svg", figure.name), &text)?;
            figures.push(figure.clone());
        }
    }
    let parts: Vec<_> = folder.components().rev().take(2).collect();
    let names = parts.iter().rev();
    let names = names.map(|part| part.as_os_str().to_string_lossy());
    Ok(Pictures {
        named: folder.display().to_string(),
        folder: names.collect::<Vec<_>>().join("/"),
        figures,
    })
}

/// How the section begins behind which the figures stand: what they show is claimed there, by a paper or several.
const CLAIMS: &str = "\n## What the paper";
/// How a page ends that says how it is made.
const MARKDOWN: &str = " --markdown`";

impl Pictures {
    /// A page with a section of the figures.
    pub fn within(&self, page: &str) -> String {
        if self.figures.is_empty() {
            return page.into();
        }
        let with_figures = format!(" --markdown --figures {}`", self.named);
        let page = &page.replacen(MARKDOWN, &with_figures, 1);
        let claims = page.find(CLAIMS).map(|at| at + CLAIMS.len());
        let behind = claims.and_then(|at| Some(at + page[at..].find("\n## ")?));
        let (before, rest) = page.split_at(behind.unwrap_or(page.len()));
        format!("{}\n\n{}{rest}", before.trim_end(), self.section())
    }

    fn section(&self) -> String {
        let mut text = String::from("## Figures\n");
        let mut said = "";
        for figure in &self.figures {
            let Figure { name, title, .. } = figure;
            text += &format!("\n![{title}]({}/{name}.svg)\n", self.folder);
            if figure.caption != said {
                text += &format!("\n{}\n", figure.caption);
                said = &figure.caption;
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::figure::Form;

    #[test]
    fn figures_stand_behind_what_is_claimed_or_at_the_end() {
        let figure = |name: &str| Figure::new(Form::Lines, name, "Time").caption("Of a run.");
        let pictures = Pictures {
            named: "docs/figures/x".into(),
            folder: "figures/x".into(),
            figures: vec![figure("a"), figure("b")],
        };
        let section =
            "## Figures\n\n![Time](figures/x/a.svg)\n\nOf a run.\n\n![Time](figures/x/b.svg)\n";
        let made = |options: &str| {
            format!("# X\n\nMade by `report{options}`.\n\n## What the papers claim\n\nMuch.\n")
        };
        let (page, page_with) = (
            made(" --markdown"),
            made(" --markdown --figures docs/figures/x"),
        );
        assert_eq!(pictures.within(&page), format!("{page_with}\n{section}"));
        let more = format!("{page}\n## More\n");
        assert_eq!(
            pictures.within(&more),
            format!("{page_with}\n{section}\n## More\n")
        );
    }
}
