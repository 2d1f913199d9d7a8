//! The other side: a connection to a collector, made anew when it breaks, on which the same bytes are tried again.

use anyhow::{Context, anyhow, bail, ensure};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How often a request is tried, with pauses that double.
const TRIES: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long it may be: tasks with many columns have some megabytes.
const MOST_BYTES: usize = 64 << 20;

/// Where a collector is and how to get there.
#[derive(Clone)]
pub(crate) struct Address {
    host: String,
    port: u16,
    prefix: String,
    tls: Option<TlsConnector>,
    token: Option<String>,
}

impl Address {
    /// The collector at `url`; a certificate is checked against `ca`, or against those that this machine trusts.
    pub(crate) fn new(url: &str, ca: Option<&Path>, token: Option<String>) -> anyhow::Result<Self> {
        let uri: Uri =
            url.parse().with_context(|| format!("`{url}` is no address such as http://host:8080"))?;
        let host = uri.host().with_context(|| format!("`{url}` names no host"))?;
        // Brackets belong to the address of a page, not to that of a machine.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let (tls, usual) = match uri.scheme_str() {
            Some("http") => (None, 80),
            Some("https") => (Some(connector(ca)?), 443),
            _ => bail!("`{url}` begins with neither http:// nor https://"),
        };
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { host, port: uri.port_u16().unwrap_or(usual), prefix, tls, token })
    }

    async fn connect(&self) -> anyhow::Result<SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        Ok(match &self.tls {
            None => speak(stream).await?,
            Some(tls) => speak(tls.connect(ServerName::try_from(self.host.clone())?, stream).await?).await?,
        })
    }
}

async fn speak(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
) -> anyhow::Result<SendRequest<Full<Bytes>>> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    // Its end is told by the requests that are on it.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

fn connector(ca: Option<&Path>) -> anyhow::Result<TlsConnector> {
    let mut roots = rustls::RootCertStore::empty();
    match ca {
        Some(path) => {
            let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            roots.add_parsable_certificates(found.with_context(|| path.display().to_string())?);
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    ensure!(!roots.is_empty(), "there is no certificate to trust; --ca names one");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// One connection at a time.
pub(crate) struct Client {
    address: Address,
    sender: Option<SendRequest<Full<Bytes>>>,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Client {
    pub(crate) fn new(address: Address) -> Self {
        Self { address, sender: None }
    }

    /// Asks for this until there is an answer that is not about the moment.
    pub(crate) async fn fetch(&mut self, path: &str) -> anyhow::Result<Answer> {
        self.ask(Method::GET, path, &[], Bytes::new()).await
    }

    /// What is at this path; an error if there is nothing.
    pub(crate) async fn get(&mut self, path: &str) -> anyhow::Result<Bytes> {
        let answer = self.fetch(path).await?;
        ensure!(answer.status.is_success(), "{path}: {}", answer.explain());
        Ok(answer.body)
    }

    /// Sends these bytes until there is an answer that is not about the moment.
    pub(crate) async fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> anyhow::Result<Answer> {
        self.ask(Method::POST, path, headers, body).await
    }

    async fn ask(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> anyhow::Result<Answer> {
        let mut pause = FIRST_PAUSE;
        for last in (0..TRIES).map(|try_| try_ + 1 == TRIES) {
            match self.once(&method, path, headers, &body).await {
                Ok(answer) if !answer.is_about_the_moment() || last => return Ok(answer),
                Err(error) if is_mistrust(&error) => {
                    return Err(error.context(format!(
                        "{}:{} shows a certificate that is not trusted here; --ca names the one to trust",
                        self.address.host, self.address.port
                    )));
                }
                Err(error) if last => {
                    return Err(
                        error.context(format!("{}:{} does not answer", self.address.host, self.address.port))
                    );
                }
                Ok(_) => {}
                Err(_) => self.sender = None,
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        bail!("nothing was tried")
    }

    async fn once(
        &mut self,
        method: &Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &Bytes,
    ) -> anyhow::Result<Answer> {
        let mut sender = if let Some(sender) = self.sender.take().filter(|sender| !sender.is_closed()) {
            sender
        } else {
            let connecting = tokio::time::timeout(PATIENCE, self.address.connect());
            connecting.await.context("no connection in time")??
        };
        let Address { host, port, prefix, token, .. } = &self.address;
        let mut request = Request::builder().method(method).uri(format!("{prefix}{path}"));
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        request = request.header(HOST, format!("{host}:{port}"));
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.clone()))?;
        let exchange = async {
            sender.ready().await?;
            let response = sender.send_request(request).await?;
            let status = response.status();
            let body = Limited::new(response.into_body(), MOST_BYTES).collect().await;
            let body = body.map_err(|error| anyhow!(error)).context("the answer could not be read")?;
            anyhow::Ok(Answer { status, body: body.to_bytes() })
        };
        let answer = tokio::time::timeout(PATIENCE, exchange).await.context("no answer in time")??;
        self.sender = Some(sender);
        Ok(answer)
    }
}

impl Answer {
    /// Too much at the moment, or not well at the moment: worth another try.
    fn is_about_the_moment(&self) -> bool {
        matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
    }

    /// The name of the reason in a problem document.
    fn reason(&self) -> Option<String> {
        let problem: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
        let kind = problem["type"].as_str()?;
        Some(kind.rsplit([':', '/', '#']).next().unwrap_or(kind).to_owned())
    }

    /// That name, or the status if there is none.
    pub(crate) fn name(&self) -> String {
        self.reason().unwrap_or_else(|| self.status.to_string())
    }

    /// What a problem document says, or the status.
    pub(crate) fn explain(&self) -> String {
        let problem: Option<serde_json::Value> = serde_json::from_slice(&self.body).ok();
        let detail = problem.as_ref().and_then(|problem| problem["detail"].as_str());
        detail.map_or_else(|| self.status.to_string(), |detail| format!("{}: {detail}", self.status))
    }
}

/// Whether the other side's certificate is why there is no connection: it will not be another in a moment.
fn is_mistrust(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    matches!(cause.and_then(|cause| cause.downcast_ref()), Some(rustls::Error::InvalidCertificate(_)))
}

/// The media type of a batch of reports.
pub(crate) fn batch_headers(admission: Option<&str>) -> Vec<(&str, &str)> {
    let kind = (CONTENT_TYPE.as_str(), undertone_report::batch::MEDIA_TYPE);
    [kind].into_iter().chain(admission.map(|token| (super::http::ADMISSION, token))).collect()
}
