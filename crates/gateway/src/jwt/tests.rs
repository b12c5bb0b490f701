#![allow(clippy::unwrap_used)]
use super::*;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};

/// A key of an issuer, which signs.
pub(crate) enum Pair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl Pair {
    pub(crate) fn p256() -> Self {
        let (how, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
        Self::P256(EcdsaKeyPair::from_pkcs8(how, pkcs8.as_ref(), &random).unwrap())
    }

    pub(crate) fn ed25519() -> Self {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap())
    }

    /// Its public part, with more members (`,"kid":"a"`).
    pub(crate) fn jwk(&self, more: &str) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::P256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                let (x, y) = (text(x), text(y));
                format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"{more}}}"#)
            }
            Self::Ed25519(pair) => {
                let x = text(pair.public_key().as_ref());
                format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"{more}}}"#)
            }
        }
    }

    /// A token of this header and these claims.
    pub(crate) fn token(&self, header: &str, claims: &str) -> String {
        let parts = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part));
        let signed = parts.join(".");
        let signature = match self {
            Self::P256(pair) => {
                let made = pair.sign(&SystemRandom::new(), signed.as_bytes());
                made.unwrap().as_ref().to_vec()
            }
            Self::Ed25519(pair) => pair.sign(signed.as_bytes()).as_ref().to_vec(),
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

pub(crate) fn set(keys: &[&str]) -> String {
    format!(r#"{{"keys":[{}]}}"#, keys.join(","))
}

/// Says whether one of the keys has signed a token.
fn is_signed(token: &str, keys: &[&str]) -> bool {
    let keys = Keys::read(&set(keys)).unwrap();
    let token = Token::read(token).unwrap();
    token.signer(&keys).is_ok_and(|signer| signer.is_some())
}

fn refused(token: &str) -> String {
    Token::read(token).err().unwrap()
}

/// RFC 7515 appendix A.2, and A.3.
const RS256: &str = concat!(
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmN",
    "vbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuH",
    "Im4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK",
    "5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7no",
    "OPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
);
const RSA_N: &str = concat!(
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4",
    "d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re",
    "xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxX",
    "FvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
);
const ES256: &str = concat!(
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmN",
    "vbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQ",
    "xfKTUJqPP3-Kg6NU1Q",
);
const EC: &str = concat!(
    r#""kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#,
    r#""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#,
);

fn rsa(more: &str) -> String {
    format!(r#"{{"kty":"RSA","n":"{RSA_N}","e":"AQAB"{more}}}"#)
}

#[test]
fn the_tokens_of_the_standard_are_read() {
    let ec = format!("{{{EC}}}");
    assert!(is_signed(RS256, &[&ec, &rsa("")]));
    assert!(is_signed(ES256, &[&rsa(""), &ec]));
    let token = Token::read(ES256).unwrap();
    assert_eq!(token.claims["iss"], "joe");
    assert_eq!(token.claims["exp"], 1_300_819_380);
    let others = ES256.replacen("eyJpc3MiOiJqb2UiLA0K", "eyJpc3MiOiJKb2UiLA0K", 1);
    assert!(!is_signed(&others, &[&ec]), "a letter is another");
}

#[test]
fn a_key_signs_by_its_own_algorithm_alone() {
    assert!(is_signed(RS256, &[&rsa(r#","alg":"RS256""#)]));
    for other in [
        "PS256", "RS384", "RS512", "ES256", "HS256", "rs256", "RSA-OAEP", "",
    ] {
        let key = rsa(&format!(r#","alg":"{other}""#));
        assert!(!is_signed(RS256, &[&key]), "{other}");
    }
    assert!(!is_signed(RS256, &[&rsa(r#","alg":7"#)]));
    assert!(!is_signed(RS256, &[&rsa(r#","alg":null"#)]));
}

#[test]
fn a_key_signs_only_where_its_words_let_it() {
    for right in [
        "",
        r#","use":"sig""#,
        r#","key_ops":["verify"]"#,
        r#","use":"sig","key_ops":["sign","verify"]"#,
        r#","x5c":["!"],"more":{}"#,
    ] {
        assert!(is_signed(RS256, &[&rsa(right)]), "{right}");
    }
    for wrong in [
        r#","use":"enc""#,
        r#","use":"SIG""#,
        r#","use":["sig"]"#,
        r#","key_ops":[]"#,
        r#","key_ops":["sign"]"#,
        r#","key_ops":"verify""#,
        r#","use":"sig","key_ops":["encrypt"]"#,
        r#","use":"enc","key_ops":["verify"]"#,
        r#","kid":7"#,
        r#","d":"AQAB""#,
    ] {
        assert!(!is_signed(RS256, &[&rsa(wrong)]), "{wrong}");
    }
}

#[test]
fn a_key_that_is_too_small_or_another_curves_is_none() {
    let short = rsa("").replace(RSA_N, &RSA_N[..RSA_N.len() / 2]);
    // 2047 bits: the first of them is not set.
    let almost = rsa("").replace(RSA_N, &format!("Q{}", &RSA_N[1..]));
    let ec = format!("{{{EC}}}");
    let cut = ec.replace("f83OJ3D2", "");
    let curve = ec.replace("P-256", "P-384");
    let kind = ec.replace("EC", "OKP");
    for wrong in [short, almost, cut, curve, kind] {
        let keys = Keys::read(&set(&[&wrong])).unwrap();
        for token in [RS256, ES256] {
            let signer = Token::read(token).unwrap().signer(&keys);
            assert_eq!(signer.err(), Some(NoKey::Unknown), "{wrong}");
        }
    }
    let point = "A".repeat(43);
    let nowhere = format!(r#"{{"kty":"EC","crv":"P-256","x":"{point}","y":"{point}"}}"#);
    assert!(!is_signed(ES256, &[&nowhere]), "no point of the curve");
}

#[test]
fn no_secret_is_a_key_and_none_is_no_algorithm() {
    let secret = concat!(
        r#"{"kty":"oct","#,
        r#""k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#
    );
    assert!(!is_signed(ES256, &[secret]));
    let pair = Pair::p256();
    for name in [
        "none", "None", "HS256", "HS512", "es256", "ES256K", "ES512", "RSA1_5", "dir", "",
    ] {
        let token = pair.token(&format!(r#"{{"alg":"{name}"}}"#), "{}");
        assert!(refused(&token).contains("`alg`"), "{name}");
    }
    for header in [
        "{}",
        r#"{"alg":null}"#,
        r#"{"alg":["ES256"]}"#,
        r#"{"Alg":"ES256"}"#,
    ] {
        assert!(
            refused(&pair.token(header, "{}")).contains("`alg`"),
            "{header}"
        );
    }
}

#[test]
fn extensions_that_must_be_understood_are_not() {
    let pair = Pair::p256();
    for more in [
        r#""crit":["exp"],"exp":1363284000"#,
        r#""crit":["b64"],"b64":false"#,
        r#""crit":["b64"],"b64":true"#,
        r#""crit":["http://example.com/UNDEFINED"],"http://example.com/UNDEFINED":true"#,
        r#""crit":[]"#,
        r#""crit":["alg"]"#,
        r#""crit":["x"]"#,
        r#""crit":"exp""#,
        r#""crit":null"#,
        r#""crit":[7]"#,
        r#""b64":false"#,
        r#""zip":"DEF""#,
        r#""enc":"A128GCM""#,
        r#""cty":"JWT""#,
        r#""cty":"application/jwt""#,
        r#""kid":7"#,
        r#""typ":["JWT"]"#,
        r#""alg":"ES256""#,
        r#""kid":"a","kid":"a""#,
    ] {
        let header = format!(r#"{{"alg":"ES256",{more}}}"#);
        let token = pair.token(&header, "{}");
        assert!(Token::read(&token).is_err(), "{header}");
    }
    let other = pair.token(r#"{"alg":"ES256","x":{"crit":1},"cty":"json"}"#, "{}");
    assert!(
        is_signed(&other, &[&pair.jwk("")]),
        "what is not known is passed over"
    );
}

#[test]
fn a_key_that_a_token_brings_is_not_looked_at() {
    let (own, other) = (Pair::p256(), Pair::p256());
    let key = other.jwk("");
    for more in [
        format!(r#""jwk":{key}"#),
        r#""jku":"http://127.0.0.1:1/keys""#.into(),
        r#""x5u":"http://127.0.0.1:1/cert""#.into(),
        r#""x5c":["MIIB"]"#.into(),
    ] {
        let header = format!(r#"{{"alg":"ES256",{more}}}"#);
        assert!(!is_signed(&other.token(&header, "{}"), &[&own.jwk("")]));
        assert!(is_signed(&own.token(&header, "{}"), &[&own.jwk("")]));
    }
}

#[test]
fn a_key_is_found_by_its_name_and_its_kind() {
    let (one, two, edwards) = (Pair::p256(), Pair::p256(), Pair::ed25519());
    let keys = [
        one.jwk(r#","kid":"a""#),
        two.jwk(r#","kid":"a""#),
        edwards.jwk(r#","kid":"b""#),
    ];
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let header = |kid: &str| format!(r#"{{"alg":"ES256"{kid}}}"#);
    for kid in ["", r#","kid":"a""#] {
        for pair in [&one, &two] {
            assert!(is_signed(&pair.token(&header(kid), "{}"), &keys), "{kid}");
        }
    }
    for kid in [r#","kid":"b""#, r#","kid":"A""#, r#","kid":"""#] {
        assert!(!is_signed(&one.token(&header(kid), "{}"), &keys), "{kid}");
    }
    let eddsa = edwards.token(r#"{"alg":"EdDSA","kid":"b"}"#, "{}");
    assert!(is_signed(&eddsa, &keys));
    assert!(!is_signed(&edwards.token(&header(""), "{}"), &keys));
}

#[test]
fn a_token_that_names_no_key_is_tried_with_a_few() {
    let pairs: Vec<Pair> = (0..9).map(|_| Pair::ed25519()).collect();
    let keys: Vec<String> = pairs.iter().map(|pair| pair.jwk("")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let token = pairs[7].token(r#"{"alg":"EdDSA"}"#, "{}");
    assert!(is_signed(&token, &keys[..8]));
    let all = Keys::read(&set(&keys)).unwrap();
    let signer = Token::read(&token).unwrap().signer(&all);
    assert_eq!(signer.err(), Some(NoKey::Ambiguous));
}

#[test]
fn a_token_has_three_parts_of_base64url_and_nothing_else() {
    let pair = Pair::ed25519();
    let good = pair.token(r#"{"alg":"EdDSA"}"#, r#"{"a":1}"#);
    assert!(Token::read(&good).is_ok());
    let parts: Vec<&str> = good.split('.').collect();
    let (head, body, signature) = (parts[0], parts[1], parts[2]);
    // The last character of 64 bytes carries two bits, and four that say nothing.
    let last = signature.chars().last().unwrap();
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let next = alphabet
        .chars()
        .nth(alphabet.find(last).unwrap() + 1)
        .unwrap();
    let loose = format!("{}{next}", &signature[..signature.len() - 1]);
    for wrong in [
        format!("{head}.{body}.{loose}"),
        format!("{head}.{body}.{signature}=="),
        format!("{head}.{body}.{signature}\n"),
        format!("{head}.{body}. {signature}"),
        format!("{head}=.{body}.{signature}"),
        format!("{head}.{body}"),
        format!("{head}.{body}.{signature}."),
        format!("{head}.{body}.{signature}.{body}.{body}"),
        format!("{head}..{body}.{signature}"),
        format!("{head}..{signature}"),
        format!(".{body}.{signature}"),
        format!("{head}.{body}.{}", signature.replace(['-', '_'], "+") + "+"),
        format!(r#"{{"payload":"{body}","protected":"{head}","signature":"{signature}"}}"#),
        format!("{head}.{}.{signature}", URL_SAFE_NO_PAD.encode("[]")),
        format!(
            "{head}.{}.{signature}",
            URL_SAFE_NO_PAD.encode(r#"{"a":1,"a":1}"#)
        ),
        String::new(),
    ] {
        assert!(Token::read(&wrong).is_err(), "{wrong}");
    }
    let unsigned = format!("{head}.{body}.");
    assert!(!is_signed(&unsigned, &[&pair.jwk("")]));
}

#[test]
fn a_token_is_not_longer_than_it_may_be() {
    let claims = |bytes: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes));
    let pair = Pair::ed25519();
    let token = pair.token(r#"{"alg":"EdDSA"}"#, &claims(TOKEN_BYTES_MAX * 3 / 4 - 200));
    assert!(Token::read(&token).is_ok());
    let token = pair.token(r#"{"alg":"EdDSA"}"#, &claims(TOKEN_BYTES_MAX * 3 / 4));
    assert!(refused(&token).contains("longer than"));
    assert!(Token::is_meant(&token), "and is no password");
}

#[test]
fn a_password_with_dots_is_no_token() {
    assert!(Token::is_meant(ES256));
    for password in ["a.b.c", "eyJ.x.y", "...", "", "bnVsbA.x.y", "open sesame"] {
        assert!(!Token::is_meant(password), "{password}");
    }
}

#[test]
fn keys_of_a_kind_that_is_not_known_cost_the_others_nothing() {
    let other = r#"{"kty":"AKP","alg":"ML-DSA-44","pub":"AA"}"#;
    assert!(is_signed(ES256, &[other, "{}", "7", &format!("{{{EC}}}")]));
    for wrong in [
        "{}",
        "[]",
        r#"{"keys":{}}"#,
        "x",
        r#"{"keys":[],"keys":[]}"#,
    ] {
        assert!(Keys::read(wrong).is_err(), "{wrong}");
    }
    let twice = rsa(r#","use":"enc","use":"sig""#);
    assert!(Keys::read(&set(&[&twice])).is_err());
}
