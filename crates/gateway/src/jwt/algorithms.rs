//! The algorithms of signatures that are taken (RFC 7518 section 3.1, RFC 8037): of public keys alone, and no `none`.

use ring::signature::{self as made, RsaParameters, VerificationAlgorithm};

/// How a signature is made.
pub(super) struct Algorithm {
    /// As `alg` says it.
    pub(super) name: &'static str,
    pub(super) check: Check,
}

/// What checks it, and with what kind of key.
pub(super) enum Check {
    Rsa(&'static RsaParameters),
    P256(&'static dyn VerificationAlgorithm),
    P384(&'static dyn VerificationAlgorithm),
    Ed25519(&'static dyn VerificationAlgorithm),
}

/// All of them.
static ALL: [Algorithm; 9] = [
    of("RS256", Check::Rsa(&made::RSA_PKCS1_2048_8192_SHA256)),
    of("RS384", Check::Rsa(&made::RSA_PKCS1_2048_8192_SHA384)),
    of("RS512", Check::Rsa(&made::RSA_PKCS1_2048_8192_SHA512)),
    of("PS256", Check::Rsa(&made::RSA_PSS_2048_8192_SHA256)),
    of("PS384", Check::Rsa(&made::RSA_PSS_2048_8192_SHA384)),
    of("PS512", Check::Rsa(&made::RSA_PSS_2048_8192_SHA512)),
    of("ES256", Check::P256(&made::ECDSA_P256_SHA256_FIXED)),
    of("ES384", Check::P384(&made::ECDSA_P384_SHA384_FIXED)),
    of("EdDSA", Check::Ed25519(&made::ED25519)),
];

const fn of(name: &'static str, check: Check) -> Algorithm {
    Algorithm { name, check }
}

impl Algorithm {
    /// The one of a name; names have their case (RFC 7515 section 4.1.1).
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|it| it.name == name)
    }
}
