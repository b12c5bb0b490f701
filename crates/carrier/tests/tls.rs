//! TLS over loopback, and what an operator is told who configures it wrongly.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use weir_carrier::tls::{self, Acceptor, TlsFault};

fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

#[test]
fn both_sides_agree_on_a_protocol_and_bytes_pass() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (certificate, key) = certificate();
        let alpn = ["h2", "http/1.1"];
        let server = tls::server_config(certificate.as_bytes(), key.as_bytes(), &alpn).unwrap();
        let mut client = tls::client_config(Some(certificate.as_bytes())).unwrap();
        Arc::get_mut(&mut client).unwrap().alpn_protocols = vec![b"http/1.1".to_vec()];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = async {
            let (tcp, peer) = listener.accept().await.unwrap();
            let mut link = Acceptor::new(server).accept(tcp, peer).await.unwrap();
            link.stream.write_all(b"hello").await.unwrap();
            link.stream.shutdown().await.unwrap();
            link.alpn
        };
        let connected = async {
            let tcp = TcpStream::connect(address).await.unwrap();
            let mut link = tls::connect(&client, "localhost", tcp, address)
                .await
                .unwrap();
            let mut text = String::new();
            link.stream.read_to_string(&mut text).await.unwrap();
            (link.alpn, text)
        };
        let (server_alpn, (client_alpn, text)) = tokio::join!(accepted, connected);
        assert_eq!(text, "hello");
        assert_eq!(server_alpn.as_deref(), Some(&b"http/1.1"[..]));
        assert_eq!(client_alpn, server_alpn);
    });
}

/// A certificate as `openssl req -x509` makes it: it vouches for itself, and says that it may for others.
fn authority(name: &str) -> (String, String) {
    let mut wanted = rcgen::CertificateParams::new([name.to_owned()]).unwrap();
    wanted.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    (wanted.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

#[test]
fn a_servers_own_certificate_is_trusted_under_its_name_only() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (ours, theirs) = (authority("localhost"), authority("localhost"));
        let server = tls::server_config(ours.0.as_bytes(), ours.1.as_bytes(), &[]).unwrap();
        for (trusted, name, taken) in [
            (&ours, "localhost", true),
            (&ours, "elsewhere", false),
            (&theirs, "localhost", false),
        ] {
            let client = tls::client_config(Some(trusted.0.as_bytes())).unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let accepted = async {
                let (tcp, peer) = listener.accept().await.unwrap();
                Acceptor::new(server.clone())
                    .accept(tcp, peer)
                    .await
                    .is_ok()
            };
            let connected = async {
                let tcp = TcpStream::connect(address).await.unwrap();
                tls::connect(&client, name, tcp, address).await.is_ok()
            };
            let both = tokio::join!(accepted, connected);
            assert_eq!(both, (taken, taken), "{name}");
        }
    });
}

#[test]
fn a_pinned_certificate_is_trusted_under_any_name() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (ours, theirs) = (certificate(), certificate());
        let server = tls::server_config(ours.0.as_bytes(), ours.1.as_bytes(), &[]).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        for (pinned, trusted) in [(&ours.0, true), (&theirs.0, false)] {
            let client = tls::pinned_config(pinned.as_bytes()).unwrap();
            let accepted = async {
                let (tcp, peer) = listener.accept().await.unwrap();
                Acceptor::new(server.clone()).accept(tcp, peer).await
            };
            let connected = async {
                let tcp = TcpStream::connect(address).await.unwrap();
                tls::connect(&client, "127.0.0.1", tcp, address).await
            };
            let (_server, client) = tokio::join!(accepted, connected);
            assert_eq!(client.is_ok(), trusted);
        }
    });
}

#[test]
fn a_file_that_is_missing_is_named() {
    let missing = PathBuf::from("/nowhere/certificate.pem");
    let files = tls::Files {
        certificate: &missing,
        key: &missing,
        clients: None,
    };
    let Err(fault) = Acceptor::from_files(files, &[]) else {
        panic!("accepted");
    };
    assert!(
        matches!(&fault, TlsFault::Unreadable { file, .. } if file == "/nowhere/certificate.pem")
    );
}

#[test]
fn a_file_of_the_wrong_kind_is_told_with_what_was_expected() {
    let (certificate, key) = certificate();
    let swapped = tls::server_config(key.as_bytes(), certificate.as_bytes(), &[]).unwrap_err();
    assert_eq!(
        swapped.to_string(),
        "certificate: no certificate: expected `-----BEGIN CERTIFICATE-----`"
    );
    let no_key = tls::server_config(certificate.as_bytes(), b"", &[]).unwrap_err();
    assert!(
        no_key
            .to_string()
            .starts_with("key: no private key: expected "),
        "{no_key}"
    );
}

#[test]
fn a_damaged_section_is_told_with_its_line() {
    let (certificate, key) = certificate();
    let damaged = format!("# ours\n\n{}", certificate.replacen("MI", "M!", 1));
    let fault = tls::server_config(damaged.as_bytes(), key.as_bytes(), &[]).unwrap_err();
    assert!(matches!(&fault, TlsFault::Pem { line: 3, .. }), "{fault}");
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let (ours, theirs) = (certificate(), certificate());
    let fault = tls::server_config(ours.0.as_bytes(), theirs.1.as_bytes(), &[]).unwrap_err();
    assert!(matches!(fault, TlsFault::Refused(_)), "{fault}");
}
