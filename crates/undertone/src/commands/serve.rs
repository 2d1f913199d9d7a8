//! `serve`: the collector.

use crate::collector::http::Server;
use crate::collector::{Collector, Config};
use crate::exit::Usage;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use tracing_subscriber::EnvFilter;

/// Run a collector: reports over HTTP, each stored durably and once, learnt from while they arrive, shown in a browser
///
/// Nobody has to trust it: what arrives was randomized before. Settings come from a file, secrets from the environment
/// (UNDERTONE_ADMISSION_SECRET; UNDERTONE_DATABASE if the log is in PostgreSQL). Ctrl-C ends it after everything that was
/// acknowledged, and what was learnt, is on the disk; so does a crash, except that learning then takes up again where the
/// last snapshot was.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone task new data/nursery.csv.gz --label nursery --epsilon 1 -o task.toml
  undertone serve --task task.toml --directory collected
  undertone serve --config-file collector.toml")]
pub(crate) struct Serve {
    /// A TOML file with task, directory, listen, tls, tokens, store and limits
    #[arg(long, value_name = "FILE")]
    config_file: Option<PathBuf>,
    /// The task to collect
    #[arg(long, value_name = "TASK")]
    task: Option<PathBuf>,
    /// Where everything is kept
    #[arg(long, value_name = "FOLDER")]
    directory: Option<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Print the configuration that would run, and end
    #[arg(long)]
    dry_run: bool,
}

impl Serve {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let config = self.config()?;
        if self.dry_run {
            config.task()?;
            write!(out, "{}", toml::to_string(&config)?)?;
            return Ok(());
        }
        log_to_stderr();
        let collector = Collector::open(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let server = Server::bind(collector.clone(), &config).await?;
            let scheme = if config.tls.is_some() { "https" } else { "http" };
            let address = server.address()?;
            tracing::info!(task = %collector.task().id(), reports = collector.reports(), "listening at {scheme}://{address}");
            writeln!(out, "{scheme}://{address}")?;
            out.flush()?;
            server.run(asked_to_stop()).await
        })
    }

    fn config(&self) -> anyhow::Result<Config> {
        let mut config = match &self.config_file {
            Some(path) => Config::read(path)?,
            None if self.task.is_none() => {
                return Err(Usage::new("--task or --config-file is needed: what is to be collected?").into());
            }
            None => Config::default(),
        };
        config.task = self.task.clone().unwrap_or(config.task);
        config.directory = self.directory.clone().unwrap_or(config.directory);
        config.listen = self.listen.unwrap_or(config.listen);
        Ok(config)
    }
}

/// Messages for people on a terminal, as JSON elsewhere; `RUST_LOG` says which.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let messages = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Whoever has set a logger before keeps it.
    drop(if std::io::stderr().is_terminal() { messages.try_init() } else { messages.json().try_init() });
}

/// Ctrl-C, or the system's polite request.
pub(super) async fn asked_to_stop() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        _ = interrupted => {}
        () = terminated => {}
    }
}
