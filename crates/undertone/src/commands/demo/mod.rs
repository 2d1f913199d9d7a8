//! `demo`: the whole story over HTTP. A collector starts on this machine, simulated devices report to it, it learns
//! while they do, and in the end what it knows is compared with what is only known here: the truth.

mod audit;
mod comparison;
mod screen;
mod stage;
mod story;

use crate::collector::http::Server;
use crate::collector::{Collector, Status};
use crate::commands::send::{Devices, Sender, Sent};
use crate::commands::serve::asked_to_stop;
use crate::finding::Outcome;
use crate::tables::TableFile;
use crate::{arguments, output, randomness};
use anyhow::{Context, bail, ensure};
use indicatif::ProgressBar;
use screen::Screen;
use stage::Stage;
use std::io::Write;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use story::Story;
use tokio::sync::oneshot;
use undertone_privacy::Epsilon;

/// Devices that report in a second, so that there is time to look at the page.
const RATE: NonZeroU32 = NonZeroU32::new(1000).expect("a thousand is not zero");
/// Connections that they share.
const CONNECTIONS: usize = 32;
/// How often the terminal is drawn.
const GLANCE: Duration = Duration::from_millis(250);

/// See the whole story in a minute: devices report over HTTP, a model is learnt while they do, the promise is audited
///
/// A collector starts on this machine and keeps its store in a temporary folder. Each simulated device holds a row drawn from
/// a small public table, randomizes its label before anything leaves it, and sends one report. The dashboard stays open
/// until Ctrl-C; everything is gone then.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  undertone demo --epsilon 0.5")]
pub(crate) struct Demo {
    /// ε, the promise to each device
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true, default_value = "1")]
    epsilon: Epsilon,
    /// How many devices report
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..), default_value = "20000")]
    devices: u32,
    /// Repeat a simulation; without it, randomness comes from the operating system
    #[arg(long, value_name = "SEED", value_parser = arguments::seed)]
    seed: Option<u64>,
    /// End when the story is told, instead of leaving the dashboard open
    #[arg(long)]
    exit: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What coins are tossed for. Each has its own: were a device to toss those that have chosen its row, its report would
/// say more about the row than was promised.
#[derive(Clone, Copy)]
enum Coins {
    Rows,
    Devices,
    Comparison,
    Audit,
}

impl Coins {
    /// Seeds of different stories have nothing in common.
    const APART: u64 = 1_000_003;
}

impl Demo {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let stage = Stage::set(self.epsilon, self.devices, self.seed(Coins::Rows))?;
        let collector = Collector::open(&stage.config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let mut told = false;
        let played = runtime.block_on(async {
            tokio::select! {
                played = self.play(&stage, collector, &mut told, out) => played,
                () = asked_to_stop() => Ok(()),
            }
        });
        // What a simulated device has not said yet need not be said any more.
        runtime.shutdown_background();
        played?;
        ensure!(told, "stopped before the story was told");
        Ok(())
    }

    /// The seed of one part of the story.
    fn seed(&self, coins: Coins) -> Option<u64> {
        self.seed.map(|seed| seed.wrapping_mul(Coins::APART).wrapping_add(coins as u64))
    }

    async fn play(
        &self,
        stage: &Stage,
        collector: Arc<Collector>,
        told: &mut bool,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let server = listen(&collector, stage).await?;
        let url = format!("http://{}", server.address()?);
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(server.run(async { drop(stopped.await) }));

        let mut story = Story::new(stage, url.clone(), self.seed);
        if !self.json {
            story.tell_beginning(out)?;
        }
        let sending = tokio::spawn(report(
            stage.devices()?,
            Devices::new(&stage.task, 0, self.seed(Coins::Devices))?,
            url,
        ));
        let status = self.watch(stage, &collector, sending, out).await?;
        story.learnt(&status);
        let (seed, truth) = (self.seed(Coins::Comparison), stage.data()?);
        let judging = collector.clone();
        let judged = tokio::task::spawn_blocking(move || comparison::compare(&judging, &truth, seed));
        story.comparison = judged.await??;
        story.audit = Some(audit::audit(&stage.task, &mut randomness::generator(self.seed(Coins::Audit))?)?);
        if self.json {
            output::json(&story, out)?;
        } else {
            story.tell_end(out)?;
        }
        ensure!(story.verdict() == Some(Outcome::Kept), "the promise is broken");
        *told = true;
        if !self.exit {
            story.tell_invitation(out)?;
            std::future::pending::<()>().await;
        }
        drop(stop);
        serving.await?
    }

    /// Draws what the page shows until everybody has reported and everything was learnt from.
    async fn watch(
        &self,
        stage: &Stage,
        collector: &Collector,
        sending: tokio::task::JoinHandle<anyhow::Result<Sent>>,
        out: &mut impl Write,
    ) -> anyhow::Result<Status> {
        let mut screen = Screen::new(u64::from(self.devices), self.json);
        while !sending.is_finished() {
            screen.draw(&collector.status(), &stage.truth, out)?;
            tokio::time::sleep(GLANCE).await;
        }
        let sent = sending.await.context("the devices have failed")??;
        if let Some((reason, count)) = sent.refused.first_key_value() {
            bail!("the collector has refused {count} reports: {reason}");
        }
        while collector.status().reports < sent.accepted {
            tokio::time::sleep(GLANCE).await;
        }
        let status = collector.status();
        screen.draw(&status, &stage.truth, out)?;
        screen.end(&status, out)?;
        Ok(status)
    }
}

/// The usual port, or any if somebody has it.
async fn listen(collector: &Arc<Collector>, stage: &Stage) -> anyhow::Result<Server> {
    if let Ok(server) = Server::bind(collector.clone(), &stage.config).await {
        return Ok(server);
    }
    let mut config = stage.config.clone();
    config.listen = SocketAddr::new(config.listen.ip(), 0);
    Server::bind(collector.clone(), &config).await
}

/// Lets each device send its own report.
async fn report(table: TableFile, devices: Devices, url: String) -> anyhow::Result<Sent> {
    let address = crate::collector::client::Address::new(&url, None, None)?;
    let sender = Sender { address, admission: None, concurrency: CONNECTIONS, batch: 1, rate: Some(RATE) };
    sender.send(table, devices, &ProgressBar::hidden()).await
}
