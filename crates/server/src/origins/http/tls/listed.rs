//! Self-signed certificates of servers that an origin's `ca` file lists.
//!
//! `openssl req -x509` marks certificates as those of an authority, and RFC 5280 (section 4.2.1.9) does not allow an
//! authority's certificate for a server. Other TLS libraries accept such a certificate if it is in the file of trusted
//! certificates, and so does this verifier.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Verifies certificates by trusted authorities. A certificate in `certificates` needs no authority, only a valid name
/// and valid dates.
#[derive(Debug)]
pub(super) struct Listed {
    authority_verifier: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl Listed {
    pub(super) fn new(
        authority_verifier: Arc<WebPkiServerVerifier>,
        certificates: Vec<CertificateDer<'static>>,
    ) -> Self {
        Self {
            authority_verifier,
            certificates,
        }
    }
}

/// Whether a certificate is refused as a server's because it is marked as an authority's, as self-signed ones often
/// are. With this error, its dates are known to be valid, because they are checked before.
pub(super) fn is_of_authority(wrong: &CertificateError) -> bool {
    let CertificateError::Other(other) = wrong else {
        return false;
    };
    let inner = other.0.downcast_ref::<webpki::Error>();
    matches!(inner, Some(webpki::Error::CaUsedAsEndEntity))
}

impl ServerCertVerifier for Listed {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let result =
            self.authority_verifier
                .verify_server_cert(certificate, others, name, ocsp, now);
        match result {
            Err(Error::InvalidCertificate(wrong))
                if is_of_authority(&wrong) && self.certificates.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority_verifier
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority_verifier
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authority_verifier.supported_verify_schemes()
    }
}
