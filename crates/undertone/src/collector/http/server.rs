//! Connections: how many, how patient with the slow, encrypted or not, and how they end.

use super::router;
use crate::collector::Collector;
use crate::collector::config::{Config, Tls};
use anyhow::Context;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutWriter;
use tokio_rustls::TlsAcceptor;

/// How long requests that have begun may take to end when the collector stops.
const FAREWELL: Duration = Duration::from_secs(10);

/// A collector that listens.
pub(crate) struct Server {
    listener: TcpListener,
    collector: Arc<Collector>,
    routes: Router,
    connections: Arc<Semaphore>,
    patience: Duration,
    tls: Option<TlsAcceptor>,
    stop: watch::Sender<bool>,
}

impl Server {
    /// Takes the address; nobody is answered yet.
    pub(crate) async fn bind(collector: Arc<Collector>, config: &Config) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(config.listen).await;
        let (stop, stopping) = watch::channel(false);
        Ok(Self {
            listener: listener.with_context(|| format!("{} cannot be listened at", config.listen))?,
            routes: router(collector.clone(), config, stopping),
            collector,
            connections: Arc::new(Semaphore::new(config.limits.connections)),
            patience: Duration::from_secs(config.limits.patience),
            tls: config.tls.as_ref().map(acceptor).transpose()?,
            stop,
        })
    }

    pub(crate) fn address(&self) -> anyhow::Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Answers until `stop` is done; then lets what has begun come to its end, and puts everything on the disk.
    pub(crate) async fn run(self, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
        let graceful = GracefulShutdown::new();
        let collector = self.collector.clone();
        let ticking = tokio::spawn(async move {
            let mut seconds = tokio::time::interval(Duration::from_secs(1));
            loop {
                seconds.tick().await;
                collector.tick();
            }
        });
        tokio::pin!(stop);
        loop {
            // Who finds no place waits in the queue of the system, which is bounded.
            let permit = tokio::select! {
                permit = self.connections.clone().acquire_owned() => permit?,
                () = &mut stop => break,
            };
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, address)) => self.serve(stream, address, permit, &graceful),
                    // Out of file descriptors, or the other side has gone: neither lasts.
                    Err(error) => {
                        tracing::warn!("a connection was not accepted: {error}");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                () = &mut stop => break,
            }
        }
        drop(self.listener);
        ticking.abort();
        self.stop.send_replace(true);
        if tokio::time::timeout(FAREWELL, graceful.shutdown()).await.is_err() {
            tracing::warn!("some connections did not end in time");
        }
        let collector = self.collector;
        tokio::task::spawn_blocking(move || collector.stop()).await?
    }

    fn serve(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        permit: OwnedSemaphorePermit,
        graceful: &GracefulShutdown,
    ) {
        // Answers are small and wanted soon.
        drop(stream.set_nodelay(true));
        let routes = self.routes.clone().layer(axum::Extension(super::Sender(address.ip())));
        let (patience, watcher) = (self.patience, graceful.watcher());
        match self.tls.clone() {
            None => drop(tokio::spawn(async move {
                converse(stream, routes, patience, watcher).await;
                drop(permit);
            })),
            Some(tls) => drop(tokio::spawn(async move {
                if let Ok(Ok(stream)) = tokio::time::timeout(patience, tls.accept(stream)).await {
                    converse(stream, routes, patience, watcher).await;
                }
                drop(permit);
            })),
        }
    }
}

/// One connection, from its first request to its last.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    routes: Router,
    patience: Duration,
    watcher: hyper_util::server::graceful::Watcher,
) {
    // Whoever does not take an answer does not keep its place either.
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(patience));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(routes));
    // What a stranger does to a connection is the stranger's loss.
    drop(watcher.watch(connection).await);
}

fn acceptor(tls: &Tls) -> anyhow::Result<TlsAcceptor> {
    let Tls { certificate, key } = tls;
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.with_context(|| format!("{} is no certificate in PEM", certificate.display()))?;
    let key =
        PrivateKeyDer::from_pem_file(key).with_context(|| format!("{} is no key in PEM", key.display()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("the certificate and the key do not fit together")?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
