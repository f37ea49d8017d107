//! Encrypted connections.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Why no certificate can be verified.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read the certificates in {}: {cause}", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("there is no certificate in {}", .0.display())]
    NoCertificate(PathBuf),
}

/// Connections to servers with a certificate for their host that one of the certificates in this
/// PEM file has signed.
///
/// # Errors
/// The file cannot be read, or has no certificate.
pub(super) fn verifying(roots: &Path) -> Result<MakeRustlsConnect, TlsError> {
    let text = fs::read(roots).map_err(|cause| TlsError::Read {
        path: roots.to_owned(),
        cause,
    })?;
    let certificates = CertificateDer::pem_slice_iter(&text).filter_map(Result::ok);
    let mut store = RootCertStore::empty();
    if store.add_parsable_certificates(certificates).0 == 0 {
        return Err(TlsError::NoCertificate(roots.to_owned()));
    }
    let config = config().with_root_certificates(store);
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

/// Connections to servers with any certificate, which keep out those who only listen.
pub(super) fn unverified() -> MakeRustlsConnect {
    let verifier = Arc::new(AnyCertificate(Arc::new(ring::default_provider())));
    let config = config()
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    MakeRustlsConnect::new(config.with_no_client_auth())
}

fn config() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports the versions of TLS")
}

/// Accepts any certificate, as `sslmode=require` asks for.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
