//! `plan`: which mechanism, how many people, which error to expect, before anyone is asked.

use crate::digits::digits;
use crate::exit::Usage;
use crate::label_plan::{Candidate, LabelPlan, Problem, label_plan};
use crate::output::{self, Drawing};
use crate::{arguments, label_chart};
use std::io::Write;
use undertone_privacy::Epsilon;

/// Choose a mechanism before anyone is asked: the exact risk bound of each, and what none can beat
///
/// The bound is for learning by stochastic gradient descent from n reports: radius · lipschitz · √(second moment / n),
/// where the second moment is the worst over all gradients of length one.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone plan --classes 10 --epsilon 1 --n 100000
  undertone plan --classes 10 --epsilon 1 --n 100000 --radius 5 --lipschitz 1.4 --svg plan.svg")]
pub(crate) struct Plan {
    /// K, the number of classes
    #[arg(long, value_name = "K", value_parser = arguments::classes, allow_hyphen_values = true)]
    classes: u32,
    /// ε, the promise
    #[arg(long, value_name = "E", value_parser = arguments::epsilon, allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// How many people report
    #[arg(long, value_name = "N", value_parser = arguments::people, allow_hyphen_values = true)]
    n: u64,
    /// How far from the start the best model may lie
    #[arg(long, value_name = "R", value_parser = arguments::positive, allow_hyphen_values = true, default_value = "1")]
    radius: f64,
    /// The greatest length of a gradient of the loss
    #[arg(long, value_name = "L", value_parser = arguments::positive, allow_hyphen_values = true, default_value = "1")]
    lipschitz: f64,
    #[command(flatten)]
    drawing: Drawing,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Plan {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { classes, n, radius, lipschitz, .. } = *self;
        let problem = Problem { classes, n, radius, lipschitz };
        let plan = label_plan(problem, self.epsilon).map_err(Usage::new)?;
        let best = &plan.mechanisms[0];
        let drawn =
            self.drawing.write(|| label_chart::svg(classes, best.kind, self.epsilon, best.second_moment))?;
        if self.json {
            return output::json(&plan, out);
        }
        table(&plan, out)?;
        writeln!(out, "\n{}", reason(&plan))?;
        if let Some(path) = drawn {
            writeln!(out, "\nDrawn in {}", path.display())?;
        }
        Ok(())
    }
}

fn table(plan: &LabelPlan, out: &mut impl Write) -> anyhow::Result<()> {
    let LabelPlan { problem, epsilon, lower_bound, .. } = plan;
    let Problem { classes, n, radius, lipschitz } = problem;
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
