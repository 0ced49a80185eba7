//! Certificates that servers have signed themselves, and that an origin's `ca` file lists.
//!
//! `openssl req -x509` marks what it makes as an authority, and RFC 5280 (section 4.2.1.9) has no authority's certificate
//! for a server. Other TLS libraries accept one that is in the file of trusted certificates, and so does this verifier.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Verifies certificates by trusted authorities, and accepts those of a list as they are if their name and their dates fit.
#[derive(Debug)]
pub(super) struct Listed {
    by_authorities: Arc<WebPkiServerVerifier>,
    listed: Vec<CertificateDer<'static>>,
}

impl Listed {
    pub(super) fn new(
        by_authorities: Arc<WebPkiServerVerifier>,
        listed: Vec<CertificateDer<'static>>,
    ) -> Self {
        Self {
            by_authorities,
            listed,
        }
    }
}

/// Whether a server's certificate is refused because it is an authority's, as one that has signed itself is. Its dates fit
/// then, as they are looked at before.
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
        let verified = self
            .by_authorities
            .verify_server_cert(certificate, others, name, ocsp, now);
        match verified {
            Err(Error::InvalidCertificate(wrong))
                if is_of_authority(&wrong) && self.listed.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authorities
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_authorities
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_authorities.supported_verify_schemes()
    }
}
