//! Which label mechanism, and the risk bound of every way to learn.

use crate::digits::digits;
use crate::exit::Usage;
use crate::output::{self, Drawing};
use crate::tables::{self, TableFile};
use crate::{arguments, label_chart};
use anyhow::Context;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use undertone_learn::features::{EncoderFit, EncoderOptions};
use undertone_learn::loss::Loss;
use undertone_learn::plan::{Candidate, Geometry, LabelPlan, Method, Options, Problem, label_plan};
use undertone_privacy::{Delta, Epsilon};

/// What is asked about a label.
#[derive(clap::Args, Debug)]
pub(super) struct Labels {
    /// K, the number of classes
    #[arg(long, value_name = "K", value_parser = arguments::classes, allow_hyphen_values = true, required_unless_present_any = ["law", "one_round"])]
    pub(super) classes: Option<u32>,
    /// ε, the promise
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true, required_unless_present = "law")]
    pub(super) epsilon: Option<Epsilon>,
    /// How far from the start the best model may lie; 1 if not given
    #[arg(long, value_name = "R", value_parser = arguments::positive, allow_hyphen_values = true)]
    pub(super) radius: Option<f64>,
    /// The greatest length of a gradient of the loss
    #[arg(long, value_name = "L", value_parser = arguments::positive, allow_hyphen_values = true, default_value = "1")]
    lipschitz: f64,
    /// The loss of a linear model, from which the length of gradients follows
    #[arg(long, value_name = "LOSS", value_parser = arguments::loss(), conflicts_with = "lipschitz")]
    pub(super) loss: Option<Loss>,
    /// The length of the longest row of features, the one of an intercept counted in
    #[arg(long, value_name = "LENGTH", value_parser = arguments::positive, allow_hyphen_values = true, requires = "loss")]
    longest: Option<f64>,
    /// A table of public columns from whose encoded rows the longest is taken
    #[arg(long, value_name = "TABLE", requires = "loss", conflicts_with = "longest")]
    features: Option<PathBuf>,
    /// Columns of --features that are not public, such as the label
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', requires = "features")]
    without: Vec<String>,
    /// δ, to compare with Gaussian noise under (ε, δ)
    #[arg(long, value_name = "D", value_parser = arguments::delta, allow_hyphen_values = true)]
    pub(super) delta: Option<Delta>,
    /// How many likely labels are known for each person, to compare with answers among them
    #[arg(long, value_name = "K", value_parser = arguments::count, allow_hyphen_values = true, requires = "miss")]
    top: Option<NonZeroU32>,
    /// The share of people whose label is not among their likely ones
    #[arg(long, value_name = "P", value_parser = arguments::share, allow_hyphen_values = true, requires = "top")]
    miss: Option<f64>,
    /// The excess risk that is wanted: how many people does each method need?
    #[arg(long, value_name = "RISK", value_parser = arguments::positive, allow_hyphen_values = true)]
    pub(super) target: Option<f64>,
    #[command(flatten)]
    drawing: Drawing,
}

impl Labels {
    pub(super) fn run(&self, n: u64, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { lipschitz, delta, target, .. } = *self;
        let radius = self.radius.unwrap_or(1.0);
        let classes = self.classes.context("--classes is needed")?;
        let epsilon = self.epsilon.context("--epsilon is needed")?;
        let geometry = match self.loss {
            Some(loss) => Geometry::of_linear(loss, classes, self.longest()?, radius),
            None => Geometry::new(radius, lipschitz),
        };
        let problem = Problem { classes, n, geometry: geometry.map_err(Usage::new)? };
        let options = Options { delta, top: self.top.map(NonZeroU32::get).zip(self.miss), target };
        let plan = label_plan(problem, epsilon, &options).map_err(Usage::new)?;
        let best = &plan.mechanisms[0];
        let drawn =
            self.drawing.write(|| label_chart::svg(classes, best.kind, epsilon, best.second_moment))?;
        if json {
            return output::json(&plan, out);
        }
        table(&plan, out)?;
        writeln!(out, "\n{}\n", reason(&plan))?;
        methods(&plan, out)?;
        if let Some(path) = drawn {
            writeln!(out, "\nDrawn in {}", path.display())?;
        }
        Ok(())
    }
}

impl Labels {
    /// The length of the longest row, as given or as found in a table.
    fn longest(&self) -> anyhow::Result<f64> {
        match (self.longest, &self.features) {
            (Some(longest), _) => Ok(longest),
            (None, Some(table)) => longest_row(table, &self.without),
            (None, None) => Err(Usage::new("--loss needs --longest or --features").into()),
        }
    }
}

/// The length of the longest row of a table, encoded as `train` would and with the one of the intercept.
fn longest_row(path: &Path, without: &[String]) -> anyhow::Result<f64> {
    let table = TableFile::open(path)?;
    for name in without {
        tables::column_place(table.schema(), "--without", name)?;
    }
    let without: Vec<&str> = without.iter().map(String::as_str).collect();
    let columns = tables::feature_columns(table.schema(), &without)?;
    let mut fit = EncoderFit::new(&columns, EncoderOptions::default())?;
    for batch in table.batches()? {
        fit.observe(&tables::features(&batch?, &columns)?)?;
    }
    let encoder = fit.finish()?;
    let (mut rows, mut longest) = (encoder.rows(), 1f64);
    for batch in table.batches()? {
        rows.clear();
        encoder.encode(&tables::features(&batch?, encoder.columns())?, &mut rows)?;
        longest = longest.max(rows.longest());
    }
    Ok(longest)
}

fn table(plan: &LabelPlan, out: &mut impl Write) -> anyhow::Result<()> {
    let LabelPlan { problem, epsilon, lower_bound, .. } = plan;
    let Problem { classes, n, geometry: Geometry { radius, lipschitz, .. } } = problem;
    let lipschitz = digits(*lipschitz);
    writeln!(out, "{classes} classes, ε = {epsilon}, {n} people, radius {radius}, Lipschitz {lipschitz}\n")?;
    let header = ["mechanism", "second moment", "× least", "risk bound", "bits a report"];
    writeln!(out, "{:<14}{:>14}{:>14}{:>13}{:>16}", header[0], header[1], header[2], header[3], header[4])?;
    for Candidate { kind, second_moment, risk_bound, expected_report_bits: bits, .. } in &plan.mechanisms {
        let (moment, times) = (digits(*second_moment), second_moment / lower_bound);
        writeln!(out, "{kind:<14}{moment:>14}{:>14}{:>13}{bits:>16.2}", digits(times), digits(*risk_bound))?;
    }
    let (moment, risk) = (digits(*lower_bound), digits(plan.lower_bound_risk));
    writeln!(out, "{:<14}{moment:>14}{:>14}{risk:>13}", "least possible", digits(1.0))?;
    Ok(())
}

/// Every way to learn, with the people it takes to reach the target if there is one.
fn methods(plan: &LabelPlan, out: &mut impl Write) -> anyhow::Result<()> {
    let needed = if plan.target.is_some() { "people needed" } else { "" };
    writeln!(out, "{:<32}{:>14}{:>13}{needed:>18}", "method", "second moment", "risk bound")?;
    for method in &plan.methods {
        let Method { name, second_moment, risk_bound, n_needed, .. } = method;
        let (moment, risk) = (digits(*second_moment), digits(*risk_bound));
        let people = match (plan.target, n_needed) {
            (None, _) => String::new(),
            (Some(_), Some(n)) => n.to_string(),
            (Some(_), None) => "never".to_owned(),
        };
        writeln!(out, "{name:<32}{moment:>14}{risk:>13}{people:>18}{}", remark(method))?;
    }
    Ok(())
}

/// What is special about a method.
fn remark(method: &Method) -> String {
    let mut remarks = Vec::new();
    if method.interactive {
        remarks.push("people are asked in turn".to_owned());
    }
    if method.simulation_only {
        remarks.push("simulation only".to_owned());
    }
    remarks.extend(method.delta.map(|delta| format!("δ = {delta}")));
    if method.bias > 0.0 {
        remarks.push(format!("{} of it bias", digits(method.bias)));
    }
    if remarks.is_empty() { String::new() } else { format!("   {}", remarks.join(", ")) }
}

/// Why the first mechanism is the choice.
fn reason(plan: &LabelPlan) -> String {
    let best = &plan.mechanisms[0];
    let what = match (best.kind, best.set_size) {
        ("rr", _) => "rr, randomized response".to_string(),
        (kind, Some(size)) => format!("{kind}, with sets of {size} of {} labels", plan.problem.classes),
        (kind, None) => kind.to_string(),
    };
    let excess = 100.0 * (best.second_moment / plan.lower_bound - 1.0);
    let distance = if excess < 0.005 {
        "which no ε-private mechanism can go below".to_string()
    } else {
        format!("within {excess:.2} % of what any ε-private mechanism needs")
    };
    // Mechanisms that are the same under another name are no alternative.
    let next = plan.mechanisms.iter().find(|other| other.second_moment > best.second_moment);
    let rest = next.map_or(String::new(), |next| {
        let more = 100.0 * (next.second_moment / best.second_moment - 1.0);
        format!("\nWith {} it takes {more:.1} % more people to reach the same bound.", next.kind)
    });
    format!("Choice: {what}. Its second moment is the smallest here, {distance}.{rest}")
}
