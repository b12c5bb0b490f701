//! `weir bench report`: what a run gave, again, in the form that is wanted.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{DONE, NO, print, shown};
use weir_bench_model::results::Run;
use weir_bench_report::{self as report, PAGE};
use weir_bench_studies::experiments;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The run's folder, or one that holds several, as `run all` writes
    folder: PathBuf,
    /// As the experiment's page of the documentation
    #[arg(long, conflicts_with_all = ["json", "latex", "html"])]
    markdown: bool,
    /// As a page, into the run's folder: report.html
    #[arg(long, conflicts_with_all = ["json", "latex"])]
    html: bool,
    /// As tables for a paper
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// Its figures as SVG into this folder, as docs/results/figures/services; a page in Markdown shows them
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["json", "latex", "html"])]
    figures: Option<PathBuf>,
    /// Machine output
    #[arg(long)]
    json: bool,
}

/// Reports every run of the folder; the exit code.
pub(super) fn report(asked: &Arguments, out: &mut dyn Write) -> i32 {
    let mut code = DONE;
    for folder in report::folders(&asked.folder) {
        let text = report::read(&folder).and_then(|run| asked.text(&run, &folder));
        code = code.max(match text {
            Ok(text) => print(&text, out),
            Err(error) => {
                eprintln!("{error}");
                NO
            }
        });
    }
    code
}

impl Arguments {
    fn text(&self, run: &Run, folder: &Path) -> Result<String, String> {
        if self.html {
            report::write_page(&experiments::subject(run), folder)?;
            return Ok(format!("{}\n", folder.join(PAGE).display()));
        }
        if self.latex {
            return Ok(report::latex(run));
        }
        let pictures = self.figures.as_ref();
        let pictures = pictures.map(|own| report::write_pictures(&experiments::subject(run), own));
        let pictures = pictures.transpose()?;
        if !self.markdown {
            return Ok(shown(run, self.json));
        }
        let page = experiments::of(run).page;
        let text = page(run, &folder.display().to_string());
        let text = report::that_say_something(&text);
        Ok(pictures.map_or(text.clone(), |own| own.within(&text)))
    }
}
