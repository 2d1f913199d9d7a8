//! Words of a curator that do not go together, refused before anything is read.

use crate::commands::train::{Kind, Train, name};
use crate::exit::Usage;
use crate::new_file;
use std::path::PathBuf;
use undertone_learn::nonparametric::{TrustModel, rates};
use undertone_privacy::Epsilon;
use undertone_report::NumberWords;

impl Train {
    /// Whether the options go together: the promise and the table, if so.
    pub(super) fn check_curator(&self, trust: TrustModel) -> Result<(Epsilon, &PathBuf), Usage> {
        let name_of = trust.name();
        let Some(label) = &self.label else {
            return Err(Usage::new(format!(
                "--trust {name_of} is for a curator who has a table of true labels, named by --label: reports come from devices, \
                 which trust nobody"
            )));
        };
        let [table] = &self.reports[..] else {
            return Err(Usage::new(format!("--label takes one table, not {}", self.reports.len())));
        };
        if let Some(kind) = self.model.filter(|&kind| kind != Kind::Cells) {
            return Err(Usage::new(format!("--trust {name_of} releases cells, not --model {}", name(&kind))));
        }
        self.refuse_useless(trust)?;
        self.check_domain(trust, label)?;
        self.check_range()?;
        if let Some(width) = self.curator.width {
            rates::cells_per_axis(width).map_err(|error| Usage::new(format!("--width: {error}")))?;
        }
        if trust == TrustModel::FullCentral && self.coverage.is_some() && !self.is_number() {
            return Err(Usage::new(
                "--coverage: under full-central a cell says one class and no probabilities, of which sets are made",
            ));
        }
        new_file::refuse_input(&self.output, [table])?;
        let epsilon = self.curator.epsilon;
        Ok((epsilon.ok_or_else(|| Usage::new(format!("--trust {name_of} needs --epsilon")))?, table))
    }

    fn is_number(&self) -> bool {
        self.low.is_some() || self.curator.order.is_some()
    }

    /// Options of learning from reports, which would be of no effect.
    fn refuse_useless(&self, trust: TrustModel) -> Result<(), Usage> {
        let of_reports = [
            ("--method", self.method.is_some()),
            ("--l2", self.l2.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--radius", self.radius.is_some()),
            ("--start", self.start.is_some()),
            ("--cache", self.cache.is_some()),
            ("--explain", self.explain),
        ];
        if let Some((option, _)) =
            of_reports.into_iter().chain(self.networks.given()).find(|(_, given)| *given)
        {
            return Err(Usage::new(format!(
                "--trust {} releases cells, which have no use for {option}: leave it out",
                trust.name()
            )));
        }
        match (trust, self.columns.first()) {
            (TrustModel::FullCentral, Some(said)) => Err(Usage::new(format!(
                "--column {}: under full-central --domain says how a column is treated",
                said.column
            ))),
            _ => Ok(()),
        }
    }

    /// Full privacy needs to be told where each column lies, once, and label privacy has no use for it.
    fn check_domain(&self, trust: TrustModel, label: &str) -> Result<(), Usage> {
        let names: Vec<&str> = self.curator.domain.iter().map(super::Domain::name).collect();
        match (trust, names.is_empty()) {
            (TrustModel::FullCentral, true) => {
                return Err(Usage::new(
                    "--trust full-central needs --domain: where private columns lie must not come from the table",
                ));
            }
            (TrustModel::FullCentral, false) | (_, true) => {}
            (_, false) => {
                return Err(Usage::new(format!(
                    "--domain is for --trust full-central, not for {}",
                    trust.name()
                )));
            }
        }
        if names.contains(&label) {
            return Err(Usage::new(format!(
                "--domain {label}: it is the label, which nothing is predicted from; --classes, or --low and --high, say where \
                 it lies"
            )));
        }
        let repeated = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
        match repeated {
            Some((_, name)) => {
                Err(Usage::new(format!("--domain names `{name}` twice: say once where it lies")))
            }
            None => Ok(()),
        }
    }

    /// Bounds, or a moment, that a number can have.
    fn check_range(&self) -> Result<(), Usage> {
        if let Some((low, high)) = self.low.zip(self.high) {
            NumberWords { low, high }.bounds().map_err(Usage::new)?;
        }
        match (self.curator.order, self.curator.moment) {
            (Some(order), _) if !(order >= 2.0 && order.is_finite()) => {
                Err(Usage::new(format!("--order is {order}, but has to be at least 2 and finite")))
            }
            (_, Some(moment)) if !(moment > 0.0 && moment.is_finite()) => {
                Err(Usage::new(format!("--moment is {moment}, but has to be positive and finite")))
            }
            _ => Ok(()),
        }
    }
}
