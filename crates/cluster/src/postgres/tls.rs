//! TLS for connections to PostgreSQL. Certificates are always verified.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Error, Tls, options::bad};

/// Reads the files, and returns a connector that uses them.
pub(super) fn connector(tls: &Tls) -> Result<MakeRustlsConnect, Error> {
    let mut roots = RootCertStore::empty();
    let certificates = match &tls.cacert {
        Some(file) => certificates_in(file)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    // Certificates of the system that cannot be read are ignored. But the file that the user names must contain a
    // certificate that can be read.
    let (added, _) = roots.add_parsable_certificates(certificates);
    if let (0, Some(file)) = (added, &tls.cacert) {
        return Err(bad(file.display().to_string(), "it has no certificate of an authority"));
    }
    let failed = |error: rustls::Error| bad("TLS", error.to_string());
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_root_certificates(roots);
    let config = match &tls.identity {
        None => config.with_no_client_auth(),
        Some((cert, key)) => {
            let key = PrivateKeyDer::from_pem_file(key)
                .map_err(|error| bad(key.display().to_string(), error.to_string()))?;
            config.with_client_auth_cert(certificates_in(cert)?, key).map_err(failed)?
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

/// Reads the certificates in a file in PEM format.
fn certificates_in(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let failed = |why: String| bad(file.display().to_string(), why);
    let found = CertificateDer::pem_file_iter(file).map_err(|error| failed(error.to_string()))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| failed(error.to_string()))?;
    if found.is_empty() { Err(failed("it has no certificate".into())) } else { Ok(found) }
}
