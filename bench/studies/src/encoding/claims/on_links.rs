//! Tamayo, Granell, Huerta 2012: what it says of documents on their way over Wi-Fi and 3G.

use super::judge::{Asked, Files, all_of, any, large, small};
use super::{Claim, Judgement};
use crate::encoding::figures::{Figures, Of};

const fn claim(id: &'static str, judge: fn(&Figures<'_>) -> Judgement) -> Claim {
    Claim { id, judge }
}

/// Names of metrics.
const TOTAL: &str = "t_total";
const TRANSMIT: &str = "t_transmit";
const PARSE: &str = "parse";

pub(super) const CLAIMS: &[Claim] = &[
    claim("tamayo-overall-over-links", |f| {
        let exi_c = faster_than(f, ("3g", "caps"), "exi-c", &["xml", "json", "exi"], &small);
        all_of(&[
            Asked::EachAtLeast(1.0).of(&exi_c, "times as long as EXI-C (3G, small)"),
            json_and_exi_win(f, 1.0),
        ])
    }),
    claim("tamayo-wifi-json-exi-twice", |f| {
        let slowest = faster_than(f, ("wifi", "caps"), "exi-c", &["xml"], &large);
        all_of(&[
            json_and_exi_win(f, 1.7),
            Asked::EachAtLeast(1.0).of(&slowest, "times as long as EXI-C (XML)"),
        ])
    }),
    claim("tamayo-uploads", |f| {
        let longer = |link| faster_than(f, (link, "io"), "xml", &["exi-c"], &large);
        let shorter = faster_than(f, ("3g", "io"), "exi-c", &["xml"], &large);
        all_of(&[
            Asked::EachAtLeast(1.0).of(&longer("wifi"), "(EXI-C / XML, Wi-Fi, above 100 KB)"),
            Asked::EachAtLeast(1.0).of(&shorter, "(XML / EXI-C, 3G, above 100 KB)"),
        ])
    }),
    claim("tamayo-wifi-rtt-above-parsing", |f| {
        let of = |format: &'static str| {
            of_link(f, ("wifi", "caps"), &small, move |f, link, of| {
                // The published round trip, which the link has been measured to have.
                Some(RTT_US / f.on_link(link, of, format, PARSE)?)
            })
        };
        let above = [of("xml"), of("json"), of("exi")].concat();
        let exi_c = Asked::EachAtMost(1.0).of(&of("exi-c"), "times EXI-C's parsing");
        all_of(&[
            Asked::EachAtLeast(1.0).of(&above, "times the parsing of XML, JSON and EXI"),
            exi_c,
        ])
    }),
    claim("tamayo-wifi-shares", |f| {
        let share = |format: &'static str| {
            of_link(f, ("wifi", "caps"), &large, move |f, link, of| {
                let transmit = f.on_link(link, of, format, TRANSMIT)?;
                Some(transmit / f.on_link(link, of, format, PARSE)?)
            })
        };
        all_of(&[
            Asked::Between(6.0, 15.0).of(&share("json"), "(JSON)"),
            Asked::Between(2.0, 5.0).of(&share("xml"), "(XML)"),
            Asked::Between(0.8, 1.3).of(&share("exi"), "(EXI)"),
            Asked::Between(0.15, 0.3).of(&share("exi-c"), "(EXI-C)"),
        ])
    }),
    claim("tamayo-wifi-small-below-1-s", |f| {
        let of = |data| {
            let each = |format: &'static str| {
                of_link(f, ("wifi", data), &small, move |f, link, of| {
                    Some(f.on_link(link, of, format, TOTAL)? / 1e3)
                })
            };
            FORMATS.map(each).concat()
        };
        let all = [of("caps"), of("sd"), of("obs"), of("rs"), of("io")].concat();
        Asked::EachAtMost(1000.0).of(&all, "ms over Wi-Fi")
    }),
    claim("tamayo-3g-exi-best", |f| {
        let on_average = |fast, slow, unit| {
            let times = faster_than(f, ("3g", "caps"), fast, &[slow], &any);
            Asked::Between(1.0, f64::MAX).of(&times, unit)
        };
        all_of(&[
            on_average("exi", "json", "times as long as EXI (JSON)"),
            on_average("exi", "exi-c", "times as long as EXI (EXI-C)"),
            on_average("json", "xml", "times as long as JSON (XML)"),
            on_average("exi-c", "xml", "times as long as EXI-C (XML)"),
        ])
    }),
    claim("tamayo-3g-slower-than-wifi", |f| {
        let times = |format: &'static str| {
            of_link(f, ("3g", "caps"), &any, move |f, link, of| {
                let slow = f.on_link(link, of, format, TRANSMIT)?;
                Some(slow / f.on_link("wifi", of, format, TRANSMIT)?)
            })
        };
        Asked::Between(1.1, 7.0).of(&FORMATS.map(times).concat(), "times Wi-Fi's")
    }),
    claim("tamayo-obs-exi-c-not-compensated", |f| {
        let of = |links: (&'static str, &'static str)| {
            of_link(f, (links.0, "obs"), &large, move |f, link, of| {
                let packed = f.on_link(link, of, "exi-c", TOTAL)?;
                Some(packed / f.on_link(links.1, of, "xml", TOTAL)?)
            })
        };
        all_of(&[
            Asked::EachAtLeast(1.0).of(&of(("wifi", "wifi")), "(EXI-C / XML, Wi-Fi)"),
            Asked::EachAtLeast(1.0).of(&of(("wifi", "3g")), "(EXI-C over Wi-Fi / XML over 3G)"),
        ])
    }),
    claim("tamayo-obs-small-exi-c-wins", |f| {
        let of = |link| faster_than(f, (link, "obs"), "exi-c", &["xml"], &small);
        let all = [of("wifi"), of("3g")].concat();
        Asked::EachAtLeast(1.0).of(&all, "times as long as EXI-C (XML)")
    }),
];

const FORMATS: [&str; 4] = ["xml", "json", "exi", "exi-c"];
/// The round trip of the paper's Wi-Fi, microseconds (004, section 4.2.2).
const RTT_US: f64 = 150e3;

/// JSON and EXI against XML and EXI-C over Wi-Fi above 100 KB.
fn json_and_exi_win(f: &Figures<'_>, times: f64) -> Judgement {
    let against = |fast| faster_than(f, ("wifi", "caps"), fast, &["xml", "exi-c"], &large);
    let all = [against("json"), against("exi")].concat();
    Asked::EachAtLeast(times).of(
        &all,
        "times as long as JSON or EXI (XML, EXI-C; Wi-Fi, large)",
    )
}

/// How many times as long as one format others take on a link, in all.
fn faster_than(
    f: &Figures<'_>,
    on: (&'static str, &'static str),
    fast: &'static str,
    slow: &[&'static str],
    files: Files<'_>,
) -> Vec<f64> {
    let times = |&slow: &&'static str| {
        of_link(f, on, files, move |f, link, of| {
            Some(f.on_link(link, of, slow, TOTAL)? / f.on_link(link, of, fast, TOTAL)?)
        })
    };
    slow.iter().flat_map(times).collect()
}

/// A figure of each file of a data set on a link, whose size as XML is known from there.
fn of_link(
    f: &Figures<'_>,
    (link, data): (&'static str, &'static str),
    files: Files<'_>,
    figure: impl Fn(&Figures<'_>, &'static str, Of<'_>) -> Option<f64>,
) -> Vec<f64> {
    let of_file = |file: &str| {
        let of = Of::document(data, file);
        let xml = f.on_link(link, of, "xml", "size")?;
        files(xml).then(|| figure(f, link, of))?
    };
    f.files(data).into_iter().filter_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::encoding::cells::{Place, name};
    use crate::encoding::codings::From;
    use weir_bench_model::results::{CellResult, single};

    /// A document on a link: its XML's bytes; of a format, total and way in milliseconds.
    fn on(link: &str, data: &str, xml: f64, rows: &[(&str, f64, f64)]) -> Vec<CellResult> {
        let result = |&(format, total, transmit): &(&str, f64, f64)| {
            let of = name(Place::Native, data, "1", From::Document, format);
            CellResult {
                cell: format!("link={link};{of}"),
                target: "weir".into(),
                status: "ok".into(),
                missed: false,
                remarks: Vec::new(),
                metrics: vec![
                    single("size", "bytes", xml),
                    single(TOTAL, "us", total * 1e3),
                    single(TRANSMIT, "us", transmit * 1e3),
                ],
                trials: Vec::new(),
                samples: Vec::new(),
            }
        };
        rows.iter().map(result).collect()
    }

    fn verdict(results: &[CellResult], id: &str) -> Option<bool> {
        let claim = CLAIMS.iter().find(|claim| claim.id == id).unwrap();
        (claim.judge)(&Figures(results)).holds
    }

    #[test]
    fn uploads_are_judged_on_both_links_and_above_100_kb() {
        let both = |wifi: f64, g3: f64, xml| {
            let wifi = on(
                "wifi",
                "io",
                xml,
                &[("xml", 300.0, 1.0), ("exi-c", wifi, 1.0)],
            );
            let g3 = on("3g", "io", xml, &[("xml", 3000.0, 1.0), ("exi-c", g3, 1.0)]);
            verdict(&[wifi, g3].concat(), "tamayo-uploads")
        };
        assert_eq!(both(900.0, 1500.0, 2e5), Some(true));
        assert_eq!(both(200.0, 1500.0, 2e5), Some(false));
        assert_eq!(both(900.0, 1500.0, 2e4), None);
    }

    #[test]
    fn a_way_over_3g_is_set_against_the_same_over_wifi() {
        let rows = |ms| FORMATS.map(|format| (format, ms, ms));
        let of = |g3| {
            let wifi = on("wifi", "caps", 2e5, &rows(300.0));
            verdict(
                &[wifi, on("3g", "caps", 2e5, &rows(g3))].concat(),
                "tamayo-3g-slower-than-wifi",
            )
        };
        assert_eq!(of(900.0), Some(true));
        assert_eq!(of(3000.0), Some(false));
    }

    #[test]
    fn the_best_on_average_is_better_than_each_and_not_than_all_in_one() {
        let of = |json, exi_c| {
            let rows = [
                ("xml", 900.0, 1.0),
                ("json", json, 1.0),
                ("exi", 500.0, 1.0),
                ("exi-c", exi_c, 1.0),
            ];
            verdict(&on("3g", "caps", 2e5, &rows), "tamayo-3g-exi-best")
        };
        assert_eq!(of(600.0, 700.0), Some(true));
        assert_eq!(of(800.0, 400.0), Some(false));
        assert_eq!(of(600.0, 1000.0), Some(false));
    }
}
