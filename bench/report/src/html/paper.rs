//! The papers: which ones an experiment repeats, their printed tables, and their known slips.

use super::markup::escaped;
use super::verdicts::{Column, Table as Shown};
use weir_bench_model::claims::claims;
use weir_bench_model::published::{TABLES, Table};
use weir_bench_model::results::Run;

/// What is wrong or cannot be had in a paper, and what this bench does about it.
const SLIPS: [(&str, &str); 13] = [
    (
        "Babovic2016",
        "100 messages at 1 Hz are called 3.33 minutes; they are 1 minute and 40 seconds.",
    ),
    (
        "Babovic2016",
        "The formula of T_transmission multiplies by the number of messages; table 8 follows from dividing \
         by it, 100 s / (2 x messages), which is used here.",
    ),
    (
        "Babovic2016",
        "Table 6 prints AMF messages of 1,639 and 3,994 characters, twice the 820 and \
         1,997 of table 3.",
    ),
    (
        "Babovic2016",
        "Table 8 and its text differ in the last digits (354.64 and 354.60, 187.85 and 187.87 messages a \
         second).",
    ),
    (
        "Babovic2016",
        "Flash, Silverlight and RTMP are dead and GWT has left the browser; their encodings and delivery \
         schemes live on here, their platforms do not.",
    ),
    (
        "Karnouskos2012",
        "One message of unsaid size, Java stacks of 2012 and an unsaid corporate network: only the order of \
         the stacks can be compared, not their nanoseconds.",
    ),
    (
        "Karnouskos2012",
        "The RTT of DPWS includes discovery and that of the others does not.",
    ),
    (
        "Duquennoy2009",
        "210 settings are stated; the factors as printed make 252 with fixed polling, of which five client \
         counts give the 210. The authors' script uses 255 clients where the paper says 256.",
    ),
    (
        "Mijovic2016",
        "The figures reach us as captions; of payloads the text names 100 bytes only, so no curve is drawn \
         beside ours.",
    ),
    (
        "Mijovic2016",
        "The cellular runs were not made at the same time; the paper itself forbids a \
         ranking of them.",
    ),
    (
        "Tamayo2012",
        "The figures reach us as captions; sizes and content density are printed, times are stated as \
         ranges only. KB are 1,024 bytes.",
    ),
    (
        "Tamayo2012",
        "Phones of 2010 and 2011 and an unoptimised port of an EXI library were measured; a browser slowed 4 \
         and 6 times stands for them.",
    ),
    (
        "Tamayo2012",
        "Section 5.4 says that EXI-C removes 80 to 98 % whatever the content density; table 4 prints 71.9 % of \
         its smallest file (2.67 and 0.75 KB) and 99.6 % of its largest.",
    ),
];

/// The papers of an experiment: those of its claims, judged or not.
fn papers(run: &Run) -> Vec<String> {
    let mut papers: Vec<String> = run.claims.iter().map(|claim| claim.paper.clone()).collect();
    let listed = claims()
        .into_iter()
        .filter(|claim| claim.experiment == run.experiment);
    papers.extend(listed.map(|claim| claim.paper));
    papers.sort();
    papers.dedup();
    papers
}

/// Known slips of the papers that a run repeats.
pub(super) fn slips(run: &Run) -> Vec<String> {
    let papers = papers(run);
    let of = SLIPS
        .iter()
        .filter(|(paper, _)| papers.iter().any(|one| one == paper));
    of.map(|(paper, slip)| format!("<b>{paper}</b>: {}", escaped(slip)))
        .collect()
}

/// Why claims of this experiment are judged by nobody yet.
pub(super) fn unjudged(run: &Run) -> Vec<(String, String)> {
    claims()
        .into_iter()
        .filter(|claim| claim.experiment == run.experiment && !claim.unmeasured.is_empty())
        .map(|claim| (claim.words, claim.unmeasured))
        .collect()
}

/// The printed tables of its papers, folded.
pub(super) fn tables(run: &Run) -> String {
    let papers = papers(run);
    let of = TABLES
        .iter()
        .filter(|table| papers.iter().any(|one| one == table.paper));
    let folded: String = of.map(folded).collect();
    match folded.is_empty() {
        true => folded,
        false => format!(
            "<p class=\"note\">As printed; an empty field is a test that failed in the paper. Figures above \
             show them as hollow, dashed marks beside what was measured here.</p>\n{folded}"
        ),
    }
}

fn folded(table: &Table) -> String {
    let rows = table.rows();
    let Some(first) = rows.first() else {
        return String::new();
    };
    let heads: String = first
        .fields()
        .iter()
        .map(|(name, _)| format!("<th>{}</th>", escaped(&name.replace('_', " "))))
        .collect();
    let body: String = rows
        .iter()
        .map(|row| {
            let fields: String = row
                .fields()
                .iter()
                .map(|(_, field)| field_of(field))
                .collect();
            format!("<tr>{fields}</tr>")
        })
        .collect();
    format!(
        "<details><summary>{}, {}</summary><p class=\"note\">{}</p><div class=\"scroll\"><table \
         class=\"values\"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>\
         </details>\n",
        table.paper,
        table.place,
        escaped(table.about())
    )
}

fn field_of(field: &str) -> String {
    let is_number = field.parse::<f64>().is_ok();
    let class = if is_number { "" } else { " class=\"words\"" };
    format!("<td{class}>{}</td>", escaped(field))
}

/// Claims that nobody judges yet, as a table.
pub(super) fn open(run: &Run) -> String {
    let mut table = Shown::new(&[
        ("claim", Column::Words),
        ("why it is not judged", Column::Words),
    ]);
    for (words, reason) in unjudged(run) {
        table.row("open", &[words, reason]);
    }
    table.html()
}
