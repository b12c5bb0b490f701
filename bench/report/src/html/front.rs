//! `index.html` over several runs: what was measured in all, then each experiment's own answer.
//!
//! The answers are those of the runs' own pages, word for word; nothing is summed over experiments but
//! what can be counted: results, claims, time.

use super::answer::{capital, duration, sentences, strip};
use super::markup::escaped;
use super::{Section, document};
use weir_bench_model::results::Run;
use weir_bench_model::tally::Tally;

/// A run below the index.
pub struct Chapter {
    /// Its folder's name, which is the experiment's.
    pub folder: &'static str,
    /// What it measures, in a sentence.
    pub about: &'static str,
    /// What it measured; nothing where it could not be read.
    pub run: Run,
    /// Whether its command said that all was well.
    pub is_done: bool,
}

/// The page over runs that are there, and the names of those that are still to come.
pub fn front(chapters: &[Chapter], to_come: &[&str]) -> String {
    let all = ("all", "Experiments", overview(chapters, to_come));
    let bodies = chapters.iter().map(|chapter| {
        let inside = inside(chapter);
        (chapter.folder, chapter.folder, inside)
    });
    let sections: Vec<Section> = std::iter::once(all).chain(bodies).collect();
    document("weir bench", &head(chapters, to_come), &sections)
}

fn head(chapters: &[Chapter], to_come: &[&str]) -> String {
    let runs = || chapters.iter().map(|chapter| &chapter.run);
    let first = runs().find(|run| !run.started.is_empty());
    let (effort, started) = first.map_or(("", ""), |run| (&run.effort, &run.started));
    let machine = first.and_then(|run| run.environment.lines().into_iter().next());
    let results: usize = runs().map(|run| run.results.len()).sum();
    let seconds = runs().map(|run| run.seconds).sum();
    let mut text = format!(
        "<p class=\"kind\">weir bench \u{b7} {} run \u{b7} {}</p>\n<h1>All experiments</h1>\n<p \
         class=\"lead\">{} experiments, {results} results, {}. <span class=\"source\">{}</span></p>\n\
         <ul class=\"answer\">\n",
        escaped(effort),
        escaped(started),
        chapters.len(),
        duration(seconds),
        escaped(&machine.unwrap_or_default()),
    );
    if let Some(tally) = Tally::of(runs().flat_map(|run| &run.claims)).some() {
        text += &format!("<li>Of what the papers claim: {tally}.</li>\n");
    }
    let failed: Vec<&str> = chapters
        .iter()
        .filter(|c| !c.is_done)
        .map(|c| c.folder)
        .collect();
    if !failed.is_empty() {
        text += &format!("<li>Failed: <b>{}</b>.</li>\n", failed.join(", "));
    }
    if !to_come.is_empty() {
        text += &format!("<li>Still to come: {}.</li>\n", to_come.join(", "));
    }
    text + "</ul>\n"
}

fn overview(chapters: &[Chapter], to_come: &[&str]) -> String {
    let rows: String = chapters.iter().map(row).collect();
    let open: String = to_come
        .iter()
        .map(|name| {
            format!(
                "<tr class=\"open\"><td class=\"words\">{name}</td><td colspan=\"6\"></td></tr>\n"
            )
        })
        .collect();
    format!(
        "<div class=\"scroll\"><table><thead><tr><th class=\"words\">experiment</th><th \
         class=\"words\">what it measures</th><th>measured</th><th>claims that hold</th><th>that do \
         not</th><th>not comparable</th><th>time</th></tr></thead><tbody>\n{rows}{open}</tbody></table></div>\n"
    )
}

fn row(chapter: &Chapter) -> String {
    let Chapter {
        folder,
        about,
        run,
        is_done,
    } = chapter;
    let measured = run.results.iter().filter(|r| !r.metrics.is_empty()).count();
    let Tally { held, fell, open } = Tally::of(&run.claims);
    let failed = if *is_done { "" } else { " (failed)" };
    format!(
        "<tr><th scope=\"row\"><a href=\"{folder}/report.html\">{folder}</a>{failed}</th><td \
         class=\"words\">{}</td><td>{measured} of {}</td><td>{held}</td><td>{fell}</td><td>{open}</td>\
         <td>{}</td></tr>\n",
        escaped(about),
        run.results.len(),
        duration(run.seconds),
    )
}

/// The run's own answer; its links go to its page.
fn inside(chapter: &Chapter) -> String {
    let Chapter {
        folder, about, run, ..
    } = chapter;
    if run.results.is_empty() {
        return format!(
            "<p>{}. Nothing was measured.</p>\n",
            escaped(&capital(about))
        );
    }
    let to_page = format!("href=\"{folder}/report.html#");
    let told: String = sentences(run)
        .iter()
        .map(|sentence| format!("<li>{}</li>\n", sentence.replace("href=\"#", &to_page)))
        .collect();
    format!(
        "<p>{}. <a href=\"{folder}/report.html\">Report</a>, <a \
         href=\"{folder}/summary.csv\">table</a>.</p>\n<ul class=\"answer\">\n{told}</ul>\n{}",
        escaped(&capital(about)),
        strip(run),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::results::{CellResult, ClaimResult};

    fn chapter(is_done: bool) -> Chapter {
        let claim = |holds| ClaimResult {
            paper: "004".into(),
            claim: "smaller".into(),
            place: "table 2".into(),
            holds,
            number: "1".into(),
        };
        let run = Run {
            claims: vec![claim(Some(true)), claim(Some(false)), claim(None)],
            results: vec![CellResult::absent("a=1", "weir", "absent: no <such> thing")],
            seconds: 7.0,
            ..Run::default()
        };
        Chapter {
            folder: "encoding",
            about: "sizes",
            run,
            is_done,
        }
    }

    #[test]
    fn the_front_page_tells_each_experiment_and_links_into_its_report() {
        let page = front(&[chapter(true)], &["services"]);
        assert!(page.contains("href=\"encoding/report.html#claims\""));
        assert!(page.contains("1 holds here, 1 does not, 1 cannot be compared"));
        assert!(page.contains("Still to come: services."));
        assert!(page.contains("no &lt;such&gt; thing") && !page.contains("<such>"));
        assert!(!page.contains("(failed)"));
    }

    #[test]
    fn what_failed_is_said_on_the_front_page() {
        let page = front(&[chapter(false)], &[]);
        assert!(page.contains("Failed: <b>encoding</b>") && page.contains("(failed)"));
        let nothing = Chapter {
            run: Run::default(),
            ..chapter(false)
        };
        assert!(front(&[nothing], &[]).contains("Nothing was measured."));
    }
}
