//! The figures: what one knob does while the others stay.

use super::plan::KNOBS;
use super::setting::{Method, Part, Setting};
use super::table::Mean;

/// What is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knob {
    Stages,
    Temperature,
    Split,
    Mixup,
}

/// One setting of a knob.
pub(super) struct Notch {
    /// Rising; without mixup it is zero
    pub(super) value: f64,
    pub(super) mean: Mean,
}

/// The same people and network, a knob turned from least to most.
pub(super) struct Turned {
    pub(super) knob: Knob,
    pub(super) notches: Vec<Notch>,
}

impl Knob {
    pub(super) const ALL: [Self; 4] = [Self::Stages, Self::Temperature, Self::Split, Self::Mixup];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stages => "stages",
            Self::Temperature => "temperature",
            Self::Split => "split",
            Self::Mixup => "mixup",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Stages => "number of stages",
            Self::Temperature => "temperature of what the first network believes",
            Self::Split => "share of people in the first stage",
            Self::Mixup => "α of mixup in the first stage (half of it later)",
        }
    }

    fn value(self, setting: &Setting) -> f64 {
        match self {
            Self::Stages => setting.method.stages().unwrap_or(0) as f64,
            Self::Temperature => setting.temperature.unwrap_or(f64::NAN),
            Self::Split => setting.first_share.unwrap_or(f64::NAN),
            Self::Mixup => setting.mixup.unwrap_or(0.0),
        }
    }

    /// Whether it is turned away from where it usually is.
    fn is_turned(self, setting: &Setting) -> bool {
        match self {
            Self::Stages => setting.method != Method::TwoStages,
            Self::Temperature => setting.temperature.is_some_and(|t| !same(t, KNOBS.temperature)),
            Self::Split => setting.first_share != setting.method.first_share(),
            Self::Mixup => setting.mixup != KNOBS.mixup,
        }
    }
}

fn same(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq()
}

impl Turned {
    pub(super) fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.notches.iter().map(|notch| &notch.mean.setting)
    }
}

impl Notch {
    pub(super) fn label(&self, knob: Knob) -> String {
        if knob == Knob::Mixup && self.value == 0.0 { "none".to_owned() } else { self.value.to_string() }
    }
}

/// All knobs that were turned, each while the others were where they usually are.
pub(super) fn turned(means: &[Mean]) -> Vec<Turned> {
    let own = means.iter().filter(|mean| mean.setting.part == Part::Figures).collect::<Vec<_>>();
    Knob::ALL.into_iter().flat_map(|knob| lines(knob, &own)).collect()
}

/// One for each set, network and so on of which there are two notches at least.
fn lines(knob: Knob, means: &[&Mean]) -> Vec<Turned> {
    let others = |setting: &Setting| Knob::ALL.iter().any(|other| *other != knob && other.is_turned(setting));
    let mut groups: Vec<Vec<&Mean>> = Vec::new();
    for mean in means.iter().filter(|mean| !others(&mean.setting)) {
        match groups.iter_mut().find(|group| is_beside(&group[0].setting, &mean.setting)) {
            Some(group) => group.push(mean),
            None => groups.push(vec![mean]),
        }
    }
    let turned = |group: Vec<&Mean>| {
        let notch = |mean: &Mean| Notch { value: knob.value(&mean.setting), mean: mean.clone() };
        let mut notches: Vec<Notch> = group.into_iter().map(notch).collect();
        notches.sort_by(|a, b| a.value.total_cmp(&b.value));
        Turned { knob, notches }
    };
    groups.into_iter().filter(|group| group.len() > 1).map(turned).collect()
}

/// Whether nothing but knobs and seeds differs.
fn is_beside(a: &Setting, b: &Setting) -> bool {
    let key = |setting: &Setting| {
        let Setting { set, people, network, epochs, epsilon, .. } = setting;
        (*set, *people, *network, *epochs, setting.purpose(), epsilon.to_string())
    };
    key(a) == key(b)
}

#[cfg(test)]
mod tests {
    use super::super::record::{Outcome, Run};
    use super::super::setting::example;
    use super::super::table::means;
    use super::*;

    #[test]
    fn each_knob_is_drawn_while_the_others_stay() {
        let run = |setting: Setting| {
            let outcome = Outcome { value: 0.5, sampling_error: 0.1, cpu_seconds: None, wall_seconds: 1.0 };
            Run { setting: Setting { part: Part::Figures, ..setting }, outcome }
        };
        let two = || example(Method::TwoStages, 2.0, 1);
        let runs = [
            run(example(Method::ThreeStages, 2.0, 1)),
            run(two()),
            run(example(Method::OneStage, 2.0, 1)),
            run(Setting { temperature: Some(2.0), ..two() }),
            run(Setting { first_share: Some(0.5), ..two() }),
            run(Setting { mixup: None, ..two() }),
            run(Setting { mixup: None, temperature: Some(2.0), ..two() }),
        ];
        let turned = turned(&means(&runs));
        let found: Vec<(Knob, Vec<String>)> = turned
            .iter()
            .map(|turned| {
                (turned.knob, turned.notches.iter().map(|notch| notch.label(turned.knob)).collect())
            })
            .collect();
        let expected = [
            (Knob::Stages, ["1", "2", "3"].map(String::from).to_vec()),
            (Knob::Temperature, ["0.5", "2"].map(String::from).to_vec()),
            (Knob::Split, ["0.5", "0.65"].map(String::from).to_vec()),
            (Knob::Mixup, ["none", "4"].map(String::from).to_vec()),
        ];
        assert_eq!(found, expected);
    }
}
