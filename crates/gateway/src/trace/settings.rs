//! Section `trace` of the configuration: where traces go, and how many.

use crate::fetch::{self, Roots};
use std::path::Path;
use weir_binding::{ConfigFault, Section};
use weir_model::Url;

/// Keys of the section `trace`.
pub(crate) const TRACE_KEYS: &[&str] = &["url", "sample", "service", "token_file", "ca_file"];
/// Where a collector takes traces, when only the collector is named (OTLP section 4.2).
const PATH: &str = "/v1/traces";

/// Where traces go, and how many.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(super) url: String,
    /// Which part of the messages that come without a trace of their own.
    pub(super) sample: f64,
    pub(super) service: String,
    /// `Bearer ...`.
    pub(super) authorization: Option<String>,
    pub(super) roots: Roots,
}

impl Settings {
    /// Reads the section; nothing where traces are off.
    pub(crate) fn read(mut section: Section) -> Result<Option<Self>, ConfigFault> {
        let url = section.optional("url");
        let sample = section.parsed("sample", 0.01, "a part between 0 and 1")?;
        let service = section.text("service", "weir");
        let (token, ca) = (section.optional("token_file"), section.optional("ca_file"));
        if !(0.0..=1.0).contains(&sample) {
            return Err(section.fault("sample", "expected a part between 0 and 1"));
        }
        let roots = fetch::roots(ca.as_deref().map(Path::new))
            .map_err(|problem| section.fault("ca_file", problem))?;
        let token = token.map(|file| {
            let read = std::fs::read_to_string(&file);
            read.map(|token| format!("Bearer {}", token.trim_end()))
                .map_err(|error| section.fault("token_file", format!("{file}: {error}")))
        });
        let authorization = token.transpose()?;
        let url = url.as_deref().map(whole).transpose();
        let url = url.map_err(|problem| {
            section.fault("url", format!("expected http:// or https://, {problem}"))
        })?;
        if let (Some(url), Some(_)) = (&url, &authorization)
            && !fetch::is_private(url)
        {
            let problem = "a token goes out by https, or to this machine";
            return Err(section.fault("url", problem));
        }
        section.finish(TRACE_KEYS)?;
        Ok(url.map(|url| Self {
            url,
            sample,
            service,
            authorization,
            roots,
        }))
    }
}

/// The URL that spans are posted to.
fn whole(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme, "http" | "https") {
        return Err(format!("found `{url}`"));
    }
    let target = url.target.trim_end_matches('/');
    Ok(if target.contains('/') {
        text.to_owned()
    } else {
        text.trim_end_matches('/').to_owned() + PATH
    })
}
