//! Tamayo, Granell, Huerta 2012: what it says of formats.

use super::judge::{
    Asked, all_of, any, by_exificient, each, in_browser, large, middle, reductions, small, spread,
    times_longer,
};
use super::{Claim, Judgement};
use crate::encoding::cells::DOCUMENTS_IN_BROWSER;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::published::FileRow;
use crate::encoding::task::Task;

const fn claim(id: &'static str, judge: fn(&Figures<'_>) -> Judgement) -> Claim {
    Claim { id, judge }
}

pub(super) const CLAIMS: &[Claim] = &[
    claim("tamayo-caps-sizes", caps_sizes),
    claim("tamayo-larger-more-exi-c", |f| {
        let of = |files| reductions(f, "caps", "exi-c", files);
        let gain = middle(&of(&large))
            .zip(middle(&of(&small)))
            .map(|(large, small)| large - small);
        Asked::EachAtLeast(0.0).of(&Vec::from_iter(gain), "points more above 100 KB")
    }),
    claim("tamayo-json-not-below-content", |f| {
        let ratio = |of: Of<'_>, xml: f64| {
            let (_, density) = f.metric(of, "xml", "content_density")?;
            Some(f.size(of, "json")? / (xml * density.estimate.mean / 100.0))
        };
        Asked::EachAtLeast(1.0).of(&each(f, "caps", &any, ratio), "times the content")
    }),
    claim("tamayo-caps-parsing", caps_parsing),
    claim("tamayo-xml-parses-as-exi", |f| {
        let pair = ("xml", "exi");
        let judged = Asked::Between(0.67, 1.5).of(
            &times_longer(f, "caps", Task::Parse, pair, &any),
            "(XML / EXI)",
        );
        let note = by_exificient(f, "caps", Task::Parse, ("exi", "xml"), &any);
        Judgement {
            number: judged.number + &note,
            ..judged
        }
    }),
    claim("tamayo-parsing-is-linear", |f| {
        let per_byte =
            |of: Of<'_>, xml: f64| Some(f.time(of, "xml", Task::Parse)? / xml * 1e6 / 1e3);
        let spread = spread(&each(f, "caps", &any, per_byte));
        Asked::EachAtMost(2.0).of(
            &Vec::from_iter(spread),
            "times between slowest and fastest byte",
        )
    }),
    claim("tamayo-small-without-delay", |f| {
        let times = DOCUMENTS_IN_BROWSER
            .map(|format| in_browser(f, "caps", format, 6, &small))
            .concat();
        Asked::EachAtMost(1000.0).of(&times, "ms in the browser slowed 6 times")
    }),
    claim("tamayo-large-only-json", |f| {
        let times = |format| in_browser(f, "caps", format, 6, &large);
        let noticed = |format: &'static str| {
            Asked::EachAtLeast(150.0).of(&times(format), &format!("ms ({format})"))
        };
        let json = Asked::EachAtMost(150.0).of(&times("json"), "ms as JSON, slowed 6 times");
        all_of(&[json, noticed("xml"), noticed("exi"), noticed("exi-c")])
    }),
    claim("tamayo-blocks-hardly-shrink", obs_sizes),
    claim("tamayo-obs-json-parsing", obs_parsing),
    claim("tamayo-obs-exi-c-parsing", |f| {
        let times = times_longer(f, "obs", Task::Parse, ("exi-c", "json"), &any);
        let note = by_exificient(f, "obs", Task::Parse, ("exi-c", "json"), &any);
        let judged = Asked::GreatestAtLeast(10.0).of(&times, "times");
        Judgement {
            number: judged.number + &note,
            ..judged
        }
    }),
    claim("tamayo-measurement-10-to-20", |f| {
        let ratio = |of: Of<'_>, xml: f64| {
            let published = FileRow::of(of.data, of.file)?;
            let (_, elements) = f.metric(of, "xml", "size_as_elements")?;
            (published.xml_kb > 2000.0).then_some(elements.estimate.mean / xml)
        };
        Asked::Between(10.0, 20.0).of(&each(f, "obs", &any, ratio), "times (three largest files)")
    }),
    claim("tamayo-io-exi-c-98", |f| {
        let same = reductions(f, "io", "exi-c", &large);
        let real = reductions(f, "io-series", "exi-c", &large);
        let judged = Asked::EachAtLeast(98.0).of(&same, "% (one row repeated)");
        let series = Asked::EachAtLeast(98.0)
            .of(&real, "% (a real series)")
            .number;
        Judgement {
            number: format!("{}; {series}", judged.number),
            ..judged
        }
    }),
    claim("tamayo-io-serialization", io_serialization),
    claim("tamayo-json-serializes-fastest", |f| {
        let longer = |slow| times_longer(f, "io", Task::Serialize, (slow, "json"), &any);
        let all = ["xml", "exi", "exi-c"].map(longer).concat();
        Asked::EachAtLeast(1.0).of(&all, "times JSON's")
    }),
    claim("tamayo-io-exi-c-exi", |f| {
        let pair = ("exi-c", "exi");
        Asked::Between(3.0, 6.0).of(&times_longer(f, "io", Task::Serialize, pair, &any), "times")
    }),
    claim("tamayo-xml-serializes-faster", |f| {
        let pair = ("exi", "xml");
        Asked::EachAtLeast(1.0).of(
            &times_longer(f, "io", Task::Serialize, pair, &any),
            "(EXI / XML)",
        )
    }),
    claim("tamayo-exi-c-80-to-98", |f| {
        let all = ["caps", "obs", "io"]
            .map(|data| reductions(f, data, "exi-c", &any))
            .concat();
        all_of(
            &[Asked::EachAtLeast(80.0), Asked::EachAtMost(98.0)].map(|asked| asked.of(&all, "%")),
        )
    }),
    claim("tamayo-exi-80-to-90", |f| {
        Asked::Between(80.0, 90.0).of(&reductions(f, "caps", "exi", &any), "%")
    }),
    claim("tamayo-exi-c-below-gzip", |f| {
        let smaller = |other: &'static str| {
            let ratio = move |of: Of<'_>, _| Some(f.size(of, "exi-c")? / f.size(of, other)?);
            ["caps", "sd", "obs", "rs"]
                .map(|data| each(f, data, &any, ratio))
                .concat()
        };
        let all = [smaller("xml-gzip"), smaller("xml-bzip2")].concat();
        Asked::EachAtMost(1.0).of(&all, "of their size")
    }),
    claim("tamayo-exi-14-times", |f| {
        let pair = ("xml", "exi");
        Asked::EachAtLeast(14.5).of(&times_longer(f, "caps", Task::Parse, pair, &any), "times")
    }),
    claim("tamayo-exi-c-9-times", |f| {
        let pair = ("xml-gzip", "exi-c");
        Asked::EachAtLeast(9.2).of(&times_longer(f, "caps", Task::Parse, pair, &any), "times")
    }),
    claim("tamayo-exi-encodes-6-times", |f| {
        let pair = ("xml", "exi");
        Asked::EachAtLeast(6.0).of(
            &times_longer(f, "caps", Task::Serialize, pair, &any),
            "times",
        )
    }),
    claim("tamayo-exi-c-encodes-5-times", |f| {
        let pair = ("xml-gzip", "exi-c");
        Asked::EachAtLeast(5.4).of(
            &times_longer(f, "caps", Task::Serialize, pair, &any),
            "times",
        )
    }),
    claim("tamayo-large-blocks-annoy", |f| {
        let annoys = |format: &'static str| {
            let times = in_browser(f, "obs", format, 6, &large);
            Asked::EachAtLeast(1000.0).of(&times, &format!("ms in the browser ({format})"))
        };
        all_of(&DOCUMENTS_IN_BROWSER.map(annoys))
    }),
];

fn caps_sizes(f: &Figures<'_>) -> Judgement {
    let json = Asked::Between(40.0, 60.0).of(&reductions(f, "caps", "json", &any), "% (JSON)");
    let exi = Asked::GreatestAtLeast(90.0).of(&reductions(f, "caps", "exi", &any), "% (EXI)");
    let exi_c = Asked::GreatestAtLeast(98.0).of(&reductions(f, "caps", "exi-c", &any), "% (EXI-C)");
    all_of(&[json, exi, exi_c])
}

fn caps_parsing(f: &Figures<'_>) -> Judgement {
    let longer = |slow| times_longer(f, "caps", Task::Parse, (slow, "json"), &any);
    let note = |slow| by_exificient(f, "caps", Task::Parse, (slow, "json"), &any);
    let xml = Asked::Between(3.0, 8.0).of(&longer("xml"), "times (XML)");
    let exi = Asked::Between(3.0, 8.0).of(&longer("exi"), "times (EXI)");
    let exi_c = Asked::Between(10.0, 20.0).of(&longer("exi-c"), "times (EXI-C)");
    let judged = all_of(&[xml, exi, exi_c]);
    Judgement {
        number: judged.number + &note("exi") + &note("exi-c"),
        ..judged
    }
}

fn obs_sizes(f: &Figures<'_>) -> Judgement {
    // Files of nothing but blocks are those above 90 % content density.
    let blocks = |format: &'static str| {
        each(f, "obs", &any, move |of, xml| {
            let published = FileRow::of(of.data, of.file)?;
            let size = f.size(of, format)?;
            (published.density_percent > 90.0).then_some(100.0 - size * 100.0 / xml)
        })
    };
    let json = Asked::EachAtMost(2.0).of(&blocks("json"), "% (JSON)");
    let exi = Asked::EachAtMost(2.0).of(&blocks("exi"), "% (EXI)");
    let exi_c = Asked::Between(80.0, 96.0).of(&reductions(f, "obs", "exi-c", &any), "% (EXI-C)");
    all_of(&[json, exi, exi_c])
}

/// In such a range on average, and faster with every file.
fn obs_parsing(f: &Figures<'_>) -> Judgement {
    let of = |slow, unit| {
        let times = times_longer(f, "obs", Task::Parse, (slow, "json"), &any);
        [Asked::Between(1.4, 5.0), Asked::EachAtLeast(1.0)].map(|asked| asked.of(&times, unit))
    };
    let parts = [of("xml", "times (XML)"), of("exi", "times (EXI)")].concat();
    let note = by_exificient(f, "obs", Task::Parse, ("exi", "json"), &any);
    let judged = all_of(&parts);
    Judgement {
        number: judged.number + &note,
        ..judged
    }
}

fn io_serialization(f: &Figures<'_>) -> Judgement {
    let longer = |fast| times_longer(f, "io", Task::Serialize, ("exi-c", fast), &any);
    let note = |fast| by_exificient(f, "io", Task::Serialize, ("exi-c", fast), &any);
    let json = Asked::Between(15.0, 30.0).of(&longer("json"), "times (JSON)");
    let xml = Asked::Between(5.0, 10.0).of(&longer("xml"), "times (XML)");
    let judged = all_of(&[json, xml]);
    Judgement {
        number: judged.number + &note("json") + &note("xml"),
        ..judged
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::encoding::cells::{Place, name};
    use crate::encoding::codings::From;
    use weir_bench_model::results::{CellResult, single};

    /// One file of a data set: format, bytes, microseconds to parse and to serialize.
    fn results(data: &str, file: &str, rows: &[(&str, f64, f64, f64)]) -> Vec<CellResult> {
        let result = |&(format, size, parse, serialize): &(&str, f64, f64, f64)| CellResult {
            cell: name(Place::Native, data, file, From::Document, format),
            target: "weir".into(),
            status: "ok".into(),
            missed: false,
            remarks: Vec::new(),
            metrics: vec![
                single("size", "bytes", size),
                single("parse", "us", parse),
                single("serialize", "us", serialize),
            ],
            trials: Vec::new(),
            samples: Vec::new(),
        };
        rows.iter().map(result).collect()
    }

    fn verdict(results: &[CellResult], id: &str) -> Option<bool> {
        let claim = CLAIMS.iter().find(|claim| claim.id == id).unwrap();
        (claim.judge)(&Figures(results)).holds
    }

    #[test]
    fn the_papers_own_figures_bear_its_claims_on_sizes() {
        let mut all = Vec::new();
        for data in ["caps", "obs", "io"] {
            for row in crate::encoding::published::TABLES
                .iter()
                .find(|t| t.data == data)
                .unwrap()
                .rows()
            {
                let sizes = ["xml", "json", "exi", "exi-c"]
                    .map(|format| (format, row.kilobytes(format).unwrap() * 1024.0, 1.0, 1.0));
                all.extend(results(data, &row.file.to_string(), &sizes));
            }
        }
        assert_eq!(verdict(&all, "tamayo-blocks-hardly-shrink"), Some(true));
        assert_eq!(verdict(&all, "tamayo-io-exi-c-98"), Some(true));
        assert_eq!(verdict(&all, "tamayo-larger-more-exi-c"), Some(true));
    }

    /// Table 4 prints 71.9 and 99.6 %.
    #[test]
    fn what_is_said_of_every_file_falls_with_one_even_of_the_papers_own() {
        let of = |xml, exi_c| {
            let rows = [("xml", xml, 1.0, 1.0), ("exi-c", exi_c, 1.0, 1.0)];
            verdict(&results("io", "0", &rows), "tamayo-exi-c-80-to-98")
        };
        assert_eq!(of(100.0, 10.0), Some(true));
        for file in ["0", "6"] {
            let row = FileRow::of("io", file).unwrap();
            assert_eq!(of(row.xml_kb, row.exi_c_kb), Some(false), "{file}");
        }
    }

    #[test]
    fn a_range_of_two_formats_is_judged_of_each_and_faster_is_faster_with_every_file() {
        let of = |times: [f64; 2]| {
            let rows = |xml| {
                [
                    ("xml", 9e4, xml, 1.0),
                    ("json", 1.0, 1.0, 1.0),
                    ("exi", 1.0, 2.0, 1.0),
                ]
            };
            let files = [("1", times[0]), ("2", times[1])];
            let all = files
                .map(|(file, xml)| results("obs", file, &rows(xml)))
                .concat();
            verdict(&all, "tamayo-obs-json-parsing")
        };
        assert_eq!(of([1.5, 4.0]), Some(true));
        assert_eq!(of([0.8, 7.0]), Some(false));
        assert_eq!(of([6.0, 7.0]), Some(false));
    }

    #[test]
    fn what_is_said_of_every_format_is_open_where_one_is_missing_and_falls_with_one() {
        let of = |format, ms| {
            let mut result = results("obs", "9", &[(format, 1.0, 1e3 * ms, 1.0)]).remove(0);
            result.cell = name(Place::Browser(6), "obs", "9", From::Document, format);
            result
        };
        let native = results("obs", "9", &[("xml", 2e6, 1.0, 1.0)]);
        let holds = |ms| {
            let all = [native.clone(), vec![of("xml", 2000.0), of("json", ms)]].concat();
            verdict(&all, "tamayo-large-blocks-annoy")
        };
        assert_eq!((holds(1500.0), holds(50.0)), (None, Some(false)));
    }

    #[test]
    fn a_claim_of_several_parts_falls_with_one_of_them() {
        let rows = |exi_c| {
            [
                ("xml", 9e4, 500.0, 6.0),
                ("json", 1.0, 100.0, 1.0),
                ("exi", 1.0, 400.0, 5.0),
                ("exi-c", 1.0, exi_c, 20.0),
            ]
        };
        let id = "tamayo-caps-parsing";
        assert_eq!(
            verdict(&results("caps", "0", &rows(1500.0)), id),
            Some(true)
        );
        assert_eq!(
            verdict(&results("caps", "0", &rows(300.0)), id),
            Some(false)
        );
        assert_eq!(verdict(&results("caps", "0", &rows(1500.0)[..3]), id), None);
    }

    #[test]
    fn ranges_are_judged_by_the_geometric_mean() {
        let judged = Asked::Between(3.0, 5.0).of(&[2.0, 8.0], "times");
        assert_eq!(
            judged,
            Judgement {
                holds: Some(true),
                number: "2.00 to 8.00, mean 4.00 times".into()
            }
        );
    }
}
