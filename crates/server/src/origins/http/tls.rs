//! Verifies the certificates of https origins: by the authorities that browsers trust, and by those in the origin's own
//! `ca` file.

mod listed;

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};
use tokio_rustls::TlsConnector;

use listed::Listed;

/// Returns a message that says why there is no secure connection to this host, and what to do.
pub(crate) fn why(error: &io::Error, host: &str) -> String {
    let inner = error.get_ref().and_then(|it| it.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidCertificate(wrong)) => match wrong {
            CertificateError::UnknownIssuer => {
                "its certificate is of no authority that is trusted: `http.ca` of the origin (`s3.ca` of a bucket) names a file with that of a private one".to_owned()
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired, or this machine's clock is wrong".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet, or this machine's clock is wrong".to_owned()
            }
            CertificateError::NotValidForName
            | CertificateError::NotValidForNameContext { .. } => {
                format!(
                    "its certificate is for another name than {host} (its subjectAltName counts, and not its CN: `openssl req -x509 … -addext \
                     subjectAltName=DNS:{host}`)"
                )
            }
            _ if listed::is_of_authority(wrong) => {
                "its certificate is that of an authority, as one that a server has signed itself is: `http.ca` of the origin (`s3.ca` of a \
                 bucket) names a file with it"
                    .to_owned()
            }
            other => format!("its certificate is not accepted: {other}"),
        },
        Some(Error::InvalidMessage(_)) => {
            "what answers there does not speak TLS: is it http:// that it speaks, or another port?"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// Creates a TLS connector that trusts the public authorities, and the authorities and servers whose certificates are in
/// the PEM file `ca`.
///
/// # Errors
/// A message about the file.
pub(crate) fn connector(ca: Option<&Path>) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let mut certificates = Vec::new();
    if let Some(path) = ca {
        let message = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| message(&error))? {
            let certificate = certificate.map_err(|error| message(&error))?;
            certificates.push(certificate.clone());
            roots.add(certificate).map_err(|error| message(&error))?;
        }
        if certificates.is_empty() {
            return Err(message(&"there is no certificate in it"));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| error.to_string())?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Listed::new(verifier, certificates)))
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use rustls::OtherError;

    use super::*;

    #[test]
    fn a_refused_certificate_is_told_with_the_way_out() {
        let own = OtherError(Arc::new(webpki::Error::CaUsedAsEndEntity));
        for (wrong, told) in [
            (CertificateError::UnknownIssuer, "`http.ca` of the origin"),
            (
                CertificateError::Other(own),
                "as one that a server has signed itself is: `http.ca` of the origin",
            ),
            (CertificateError::Expired, "has expired"),
            (
                CertificateError::NotValidForName,
                "is for another name than shop.example",
            ),
        ] {
            let error = io::Error::other(Error::InvalidCertificate(wrong));
            let why = why(&error, "shop.example");
            assert!(why.contains(told), "{why}");
        }
    }
}
