//! `mechanism label`: how a label becomes a set of labels, in the integers that run.

use crate::exit::Usage;
use crate::label_chart;
use crate::output::{self, Drawing};
use crate::words::LabelWords;
use serde::Serialize;
use std::io::Write;
use undertone_privacy::label::{
    Covariance, Decoder, LabelKind, LabelMechanism, LabelRandomizer, Words, lower_bound_second_moment,
};

/// A mechanism that reports a set of labels, of which there are K
///
/// rr: randomized response. subset: sets of d labels, with the d of least worst-case second moment; subset-paper: with
/// the published d. bits-paper: independent bits as published; bits: with the best probabilities; unary: symmetric,
/// half of ε a bit; oue: the older name of bits-paper. rr-top-k: randomized response among the labels of --top;
/// rr-prior: among those that --prior makes worth naming.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  undertone mechanism label --kind subset --classes 10 --epsilon 1
  undertone mechanism label --kind rr-prior --prior 0.5,0.3,0.2 --epsilon 1 --json
  undertone mechanism label --kind rr-top-k --classes 10 --top 0,3 --epsilon 1")]
pub(crate) struct Label {
    #[command(flatten)]
    words: LabelWords,
    #[command(flatten)]
    drawing: Drawing,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Label {
    pub(crate) fn run(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let mechanism = self.words.mechanism()?;
        let facts = Facts::new(self.words.kind, &mechanism)?;
        let drawn = self.drawing.write(|| {
            let labels = mechanism.covariance().labels;
            if labels < 2 {
                return Err(Usage::new("--svg: one label is kept, so there is nothing to draw").into());
            }
            label_chart::svg(
                labels,
                self.words.kind.name(),
                self.words.epsilon,
                facts.worst_case_second_moment,
            )
        })?;
        if self.json {
            return output::json(&facts, out);
        }
        facts.explain(&mechanism.covariance(), out)?;
        if let Some(path) = drawn {
            writeln!(out, "\nDrawn in {}", path.display())?;
        }
        Ok(())
    }
}

/// Everything about a mechanism that can be put in a number. The words go as text: JSON readers round integers
/// beyond 2^53.
#[derive(Serialize)]
struct Facts {
    kind: &'static str,
    classes: u32,
    epsilon: f64,
    set_size: Option<u32>,
    p_true: f64,
    p_other: f64,
    /// Of 2^64
    p_true_words: String,
    /// Of 2^64; none for subset selection, where the places that the truth leaves are filled evenly
    p_other_words: Option<String>,
    in_value: f64,
    out_value: f64,
    realised_epsilon: f64,
    trace_variance: f64,
    worst_case_second_moment: f64,
    lower_bound_second_moment: f64,
    expected_report_bits: f64,
    #[serde(flatten)]
    top: Option<Top>,
    #[serde(flatten)]
    prior: Option<Prior>,
}

/// The labels that are kept; the variances and the bound are about these.
#[derive(Serialize)]
struct Top {
    k: usize,
    top: Vec<u32>,
}

#[derive(Serialize)]
struct Prior {
    p_correct: f64,
}

impl Facts {
    fn new(kind: LabelKind, mechanism: &LabelMechanism) -> anyhow::Result<Self> {
        let (p_true, p_other) = mechanism.inclusion();
        let Words { truth, other } = mechanism.words();
        let Decoder { in_value, out_value } = mechanism.decoder();
        let covariance = mechanism.covariance();
        let lower_bound = match covariance.labels {
            // A label that everybody reports needs no mechanism: the gradient itself has the second moment 1.
            1 => 1.0,
            labels => lower_bound_second_moment(labels, mechanism.epsilon())?,
        };
        Ok(Self {
            kind: kind.name(),
            classes: mechanism.labels(),
            epsilon: mechanism.epsilon().get(),
            set_size: mechanism.set_size(),
            p_true,
            p_other,
            p_true_words: truth.to_string(),
            p_other_words: other.map(|words| words.to_string()),
            in_value,
            out_value,
            realised_epsilon: mechanism.realised_epsilon(),
            trace_variance: covariance.trace(),
            worst_case_second_moment: covariance.worst_case_second_moment(),
            lower_bound_second_moment: lower_bound,
            expected_report_bits: mechanism.expected_report_bits(),
            top: mechanism.support().map(|top| Top { k: top.len(), top: top.to_vec() }),
            prior: match mechanism {
                LabelMechanism::WithPrior(mechanism) => Some(Prior { p_correct: mechanism.p_correct() }),
                _ => None,
            },
        })
    }

    fn explain(&self, covariance: &Covariance, out: &mut impl Write) -> anyhow::Result<()> {
        let Self { kind, classes, epsilon, .. } = self;
        write!(out, "{kind}: a report is ")?;
        match (&self.top, self.set_size) {
            (Some(Top { k, top }), _) => writeln!(out, "one of the {k} labels {top:?} of {classes}")?,
            (None, Some(1)) => writeln!(out, "one of {classes} labels")?,
            (None, Some(size)) => writeln!(out, "a set of {size} of {classes} labels")?,
            (None, None) => writeln!(out, "a set of any size of {classes} labels")?,
        }

        let times = epsilon.exp();
        writeln!(out, "\nPromise")?;
        writeln!(
            out,
            "  ε = {epsilon}: no report is more than e^ε = {times:.6} times likelier under one label than another"
        )?;
        writeln!(out, "  realised loss, rounded up      {}", self.realised_epsilon)?;

        writeln!(out, "\nProbabilities, in words out of 2^64 = {}", 1u128 << 64)?;
        writeln!(out, "  the true label is reported     {:>20}   {:.12}", self.p_true_words, self.p_true)?;
        let other = self.p_other_words.clone().unwrap_or_else(|| {
            let size = self.set_size.unwrap_or(1);
            format!("({size} - p)/({classes} - 1)")
        });
        writeln!(out, "  any one other label is         {other:>20}   {:.12}", self.p_other)?;
        if self.p_other_words.is_none() {
            writeln!(out, "  (the places that the truth leaves are filled evenly from the other labels)")?;
        }
        if let Some(Top { k, .. }) = &self.top
            && *k < *classes as usize
        {
            writeln!(
                out,
                "  any other truth is answered by one of the {k} labels, 1/{k} each: its estimate"
            )?;
            writeln!(out, "  is their even mixture, and what follows is about the {k} labels only")?;
        }
        if let Some(Prior { p_correct }) = &self.prior {
            writeln!(out, "  a report is right, if the prior is                     {p_correct:.12}")?;
        }

        writeln!(out, "\nDecoder: a_k, unbiased for 1 at the true label and 0 elsewhere")?;
        writeln!(out, "  k is reported                  {:>20.12}", self.in_value)?;
        writeln!(out, "  k is not                       {:>20.12}", self.out_value)?;

        let Covariance { own, cross, other, pair, .. } = covariance;
        writeln!(out, "\nExact variances given the true label y")?;
        writeln!(out, "  Var a_y, Var a_k               {own:>20.9}   {other:.9}")?;
        writeln!(out, "  Cov(a_y, a_k), Cov(a_k, a_l)   {cross:>20.9}   {pair:.9}")?;
        writeln!(out, "  trace, E|a - e_y|²             {:>20.9}", self.trace_variance)?;
        let (moment, bound) = (self.worst_case_second_moment, self.lower_bound_second_moment);
        writeln!(
            out,
            "  worst-case second moment       {moment:>20.9}   {:.4} times the bound",
            moment / bound
        )?;
        writeln!(out, "  no mechanism goes below        {bound:>20.9}")?;

        writeln!(out, "\nReport")?;
        writeln!(out, "  {:.2} bits on average, its members written out", self.expected_report_bits)?;
        Ok(())
    }
}
