//! The results of a run by setting, and the figures made of them, in the order of the report.

use super::cells::{DELIVERIES, FORMATS, Setting};
use super::{beyond, plots};
use weir_bench_model::effort::Effort;
use weir_bench_model::figure::Figure;
use weir_bench_model::published::Row;
use weir_bench_model::results::{CellResult, Metric, Run};
use weir_bench_model::statistics::Estimate;

/// Results of a run by setting.
pub(super) struct Figures<'a>(pub(super) &'a [CellResult]);

impl Figures<'_> {
    pub(super) fn result(&self, setting: &Setting) -> Option<&CellResult> {
        let name = setting.name();
        self.0
            .iter()
            .find(|result| result.cell == name && result.target == setting.target())
    }

    pub(super) fn metric(&self, setting: &Setting, metric: &str) -> Option<&Metric> {
        self.result(setting)?.metric(metric)
    }

    /// A mean over rounds, and its interval.
    pub(super) fn estimate(&self, setting: &Setting, metric: &str) -> Option<Estimate> {
        self.metric(setting, metric).map(|metric| metric.estimate)
    }

    /// A mean: what the paper's tables give.
    pub(super) fn mean(&self, setting: &Setting, metric: &str) -> Option<f64> {
        Some(self.estimate(setting, metric)?.mean)
    }

    /// The combination of delivery and format that has the least of the paper's total.
    pub(super) fn least(&self, nodes: usize) -> Option<(&'static str, &'static str)> {
        let all = DELIVERIES
            .into_iter()
            .flat_map(|delivery| FORMATS.into_iter().map(move |format| (delivery, format)));
        let with = all.filter_map(|(delivery, format)| {
            let mean = self.mean(&here(delivery, format, nodes), "t_total_drawn")?;
            Some((mean, (delivery, format)))
        });
        with.min_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1)
    }

    /// Number of nodes that were measured here, of the machine as it is.
    pub(super) fn nodes(&self) -> Vec<usize> {
        let all = super::cells::settings(Effort::Full);
        let mut nodes: Vec<usize> = all
            .iter()
            .filter(|it| {
                **it == here(it.delivery, it.format, it.nodes) && self.result(it).is_some()
            })
            .map(|it| it.nodes)
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// A cell of this machine, at full speed.
pub(super) fn here(delivery: &'static str, format: &'static str, nodes: usize) -> Setting {
    Setting::here(delivery, format, nodes)
}

/// A row of the paper's tables as delivery and format, where both live on.
pub(super) fn lives_on(row: &Row) -> Option<(&'static str, &'static str)> {
    let delivery = match row.text("protocol") {
        "long-polling" => "long-polling",
        "websocket" | "socket" => "websocket",
        "http-streaming" => "streaming",
        _ => return None,
    };
    let format = match row.text("encoding") {
        "XML" => "xml",
        "JSON" => "json",
        "GWT-SER" => "gwt",
        "PBF" => "protobuf",
        "PBF-STR" => "pbf-string",
        "AMF" => "amf3",
        _ => return None,
    };
    Some((delivery, format))
}

/// All figures of a run: the paper's, then what it did not ask.
pub(super) fn figures(run: &Run) -> Vec<Figure> {
    let figures = Figures(&run.results);
    let mut all = plots::of_paper(&figures);
    all.extend(beyond::figures(&figures));
    all
}
