//! Commands that speak TLS with a certificate that nobody vouches for.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use crate::process;

use process::{Gateway, folder, printed, run};
use std::path::{Path, PathBuf};

/// Files of a new certificate of this name, and of its key.
fn certificate(folder: &Path, name: &str) -> [PathBuf; 2] {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let files = ["certificate.pem", "key.pem"].map(|file| folder.join(file));
    std::fs::write(&files[0], made.cert.pem()).unwrap();
    std::fs::write(&files[1], made.signing_key.serialize_pem()).unwrap();
    files
}

fn settings([certificate, key]: &[PathBuf; 2]) -> [String; 3] {
    [
        "http.listen_tls=127.0.0.1:0".into(),
        format!("tls.certificate={}", certificate.display()),
        format!("tls.key={}", key.display()),
    ]
}

fn with<'a>(more: &[&'a str], arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

#[test]
fn clients_believe_a_given_certificate_and_no_other() {
    let folder = folder("cacert");
    let files = certificate(&folder, "127.0.0.1");
    let settings = settings(&files);
    let settings = settings.each_ref().map(String::as_str);
    let gateway = Gateway::start("serve", &folder, &settings);
    let url = gateway.url("https");
    let cacert = ["--cacert", files[0].to_str().unwrap()];
    printed(
        &with(&cacert, &["pub", &url, "a", "--as", "plain"]),
        "21.5\n",
    );
    assert_eq!(
        printed(&with(&cacert, &["history", &url, "a", "--as", "plain"]), ""),
        "21.5\n"
    );
    let socket = url.replace("https", "wss");
    printed(
        &with(&cacert, &["pub", &socket, "a", "--as", "plain"]),
        "22\n",
    );
    let polled = url.replace("https", "poll+https");
    let polled = ["sub", &polled, "a", "--as", "plain", "--count", "1"];
    assert_eq!(printed(&with(&cacert, &polled), ""), "22\n");
    let refused = run(&["pub", &url, "a"], "{\"value\":1}\n");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("certificate"));
    let missing = run(&["pub", &url, "a", "--cacert", "nowhere.pem"], "");
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn the_demo_publishes_over_tls_whatever_the_certificate() {
    let folder = folder("demo-tls");
    // The demo speaks to 127.0.0.1.
    let files = certificate(&folder, "localhost");
    let settings = settings(&files);
    let settings = settings.each_ref().map(String::as_str);
    let gateway = Gateway::start(
        "demo",
        &folder,
        &[&settings[..], &["http.listen="]].concat(),
    );
    let url = gateway.url("https").replace("127.0.0.1", "localhost");
    let cacert = files[0].to_str().unwrap();
    let first = ["sub", &url, "heating/#", "--as", "plain", "--count", "1"];
    let printed = printed(&[&first[..], &["--cacert", cacert]].concat(), "");
    assert!(!printed.trim().is_empty());
}
