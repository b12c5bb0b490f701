//! With what targets were started, folded away: a reader who repeats a run needs it, all others do not.

use super::markup::escaped;
use weir_bench_model::configuration::Configuration;
use weir_bench_model::results::Run;

/// The gateway's build, then a fold for each target; nothing of runs that kept neither.
pub(super) fn folded(run: &Run) -> String {
    let build = match run.build.is_empty() {
        true => String::new(),
        false => format!(
            "<p>SHA-256 of the gateway's program: <code>{}</code></p>\n",
            escaped(&run.build)
        ),
    };
    let folds = run.configurations.iter();
    let folds: String = folds.map(|(name, ways)| fold(name, ways)).collect();
    match build.is_empty() && folds.is_empty() {
        true => String::new(),
        false => format!("<h3>Configuration</h3>\n{build}{folds}"),
    }
}

fn fold(name: &str, ways: &[Configuration]) -> String {
    let count = match ways.len() {
        1 => String::new(),
        many => format!(", {many} ways"),
    };
    let ways: Vec<String> = ways.iter().map(text).collect();
    format!(
        "<details><summary>{}{count}</summary><pre><code>{}</code></pre></details>\n",
        escaped(name),
        escaped(&ways.join("\n"))
    )
}

/// The command, and each file under its name.
fn text(way: &Configuration) -> String {
    let files = way.files.iter();
    let files = files.map(|(name, text)| format!("\n# FOLDER/{name}\n{}\n", text.trim_end()));
    format!("{}\n{}", way.command, files.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn commands_and_files_of_each_target_are_shown_in_a_fold() {
        let file = ("broker.conf".to_owned(), "listener <PORT>\n".to_owned());
        let way = Configuration {
            command: "broker -c FOLDER/broker.conf".into(),
            files: BTreeMap::from([file]),
        };
        let run = Run {
            build: "00ff".into(),
            configurations: BTreeMap::from([("broker".into(), vec![way])]),
            ..Run::default()
        };
        let text = folded(&run);
        assert!(text.contains("<code>00ff</code>"), "{text}");
        let shown = "<details><summary>broker</summary><pre><code>broker -c FOLDER/broker.conf\n\n\
                     # FOLDER/broker.conf\nlistener &lt;PORT&gt;\n";
        assert!(text.contains(shown), "{text}");
        assert_eq!(folded(&Run::default()), "");
    }
}
