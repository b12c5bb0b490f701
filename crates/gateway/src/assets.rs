//! The dashboard's files, built by Vite and kept in the binary.

use bytes::Bytes;
use weir_binding::{Answer, Call, Response, Service};

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Serves `/`; whatever no other service holds ends here.
pub(crate) struct Assets;

impl Service for Assets {
    fn name(&self) -> &'static str {
        "web"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &["/"]
    }

    fn call(&self, call: Call) -> Answer {
        Answer::Now(match call.method.as_str() {
            "GET" => file(&call),
            other => Response::text(405, format!("{other} is not possible here; GET is"))
                .header("allow", "GET"),
        })
    }
}

fn file(call: &Call) -> Response {
    let name = match call.path.trim_start_matches('/') {
        "" => "index.html",
        "measure" => "measure.html",
        name => name,
    };
    let Some((_, bytes)) = ASSETS.iter().find(|(known, _)| *known == name) else {
        return missing(name);
    };
    let named_by_content = name.starts_with("assets/");
    let cache = if named_by_content {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    Response::with_body(200, media(name), Bytes::from_static(bytes))
        .header("cache-control", cache)
        .header("cross-origin-opener-policy", "same-origin")
        .header("cross-origin-embedder-policy", "require-corp")
        .header("content-security-policy", policy(name))
        .header("referrer-policy", "no-referrer")
        .header("x-frame-options", "DENY")
}

/// What a page may load and run (Content Security Policy Level 3): its own files, WebAssembly, and styles that
/// scripts set one by one. It may talk to other ports and to a server of XMPP by WebSocket, and the clock of the MQTT
/// client is a worker made of a text. What is no page has the same, since it costs nothing.
fn policy(name: &str) -> String {
    let (eval, connect) = match name {
        // Pages of the bench, which show nothing that anybody publishes: they ask other servers for the same, and
        // one measures decoders of others that write themselves anew.
        "decoders.html" => (" 'unsafe-eval'", " http: https:"),
        "measure.html" | "messaging.html" => ("", " http: https:"),
        _ => ("", ""),
    };
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{eval}; style-src 'self'; \
         img-src 'self' data:; font-src 'self'; connect-src 'self' ws: wss:{connect}; \
         worker-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}

fn missing(name: &str) -> Response {
    match name {
        "index.html" => Response::text(
            404,
            "this weir was built without its dashboard: run `make demo` where Node.js is installed; \
             the data is at /live/%23, /catalog and /history/%23",
        ),
        name => Response::text(404, format!("no resource `/{name}`")),
    }
}

/// Media type by file name extension.
fn media(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "map" | "webmanifest") => "application/json",
        Some("wasm") => "application/wasm",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
