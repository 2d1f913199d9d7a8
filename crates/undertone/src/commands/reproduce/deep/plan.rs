//! Which settings are run, in which order.

use super::networks::Network;
use super::setting::{Budget, Knobs, Method, Part, Set, Setting};
use super::sources::Source;

/// How much is run, unless somebody says otherwise.
pub(super) struct Extent {
    /// ε of digits, of other images and of ratings
    epsilons: [&'static [f64]; 3],
    repetitions: u64,
    /// Of networks for images and for ratings
    epochs: [usize; 2],
    network: Network,
    /// Those who are asked, of images and of ratings
    people: [usize; 2],
    /// The same of the figures
    figure_people: usize,
    temperatures: &'static [f64],
    first_shares: &'static [f64],
    mixups: &'static [Option<f64>],
}

/// ε of the figures, which is that of the paper's.
const FIGURE_EPSILON: f64 = 2.0;
/// As chosen for the published method: temperatures above one do not help, and mixup is good from 4 to 8 (the paper's appendix E).
pub(super) const KNOBS: Knobs = Knobs { temperature: 0.5, first_share: None, mixup: Some(4.0) };

impl Extent {
    pub(super) const FULL: Self = Self {
        epsilons: [
            &[0.25, 0.5, 1.0, 2.0, 3.0, 4.0, f64::INFINITY],
            &[0.5, 1.0, 2.0, 3.0, 4.0, f64::INFINITY],
            &[1.0, 2.0, 3.0, 4.0, 8.0, f64::INFINITY],
        ],
        repetitions: 3,
        epochs: [10, 20],
        network: Network::Cnn,
        people: [usize::MAX, usize::MAX],
        figure_people: 10_000,
        temperatures: &[0.25, 0.5, 1.0, 2.0],
        first_shares: &[0.35, 0.5, 0.65, 0.8],
        mixups: &[None, Some(1.0), Some(4.0), Some(8.0)],
    };
    pub(super) const QUICK: Self = Self {
        epsilons: [&[2.0, 3.0], &[2.0, 3.0], &[2.0, 4.0]],
        repetitions: 5,
        epochs: [4, 5],
        network: Network::Mlp,
        people: [4000, 100_000],
        figure_people: 2000,
        temperatures: &[0.5, 2.0],
        first_shares: &[0.5, 0.65],
        mixups: &[None, Some(4.0)],
    };
}

/// What is asked for.
pub(super) struct Plan {
    pub(super) extent: Extent,
    /// The first seed
    pub(super) seed: u64,
    /// What somebody said otherwise
    pub(super) epsilons: Vec<Budget>,
    pub(super) methods: Vec<Method>,
    pub(super) repetitions: Option<u64>,
    pub(super) epochs: Option<usize>,
    pub(super) network: Option<Network>,
    pub(super) people: Option<usize>,
}

/// One setting but for its seed and its people.
type Choice = (Method, Budget, Knobs);

impl Plan {
    /// The settings of a part, one repetition of everything after the other.
    pub(super) fn settings(&self, part: Part, source: &Source) -> anyhow::Result<Vec<Setting>> {
        let choices = if part == Part::Figures { self.figures()? } else { self.table(source.set)? };
        let repetitions = self.repetitions.unwrap_or(self.extent.repetitions);
        let seeds = (0..repetitions).map(|repetition| self.seed.wrapping_add(repetition));
        let settings = seeds
            .flat_map(|seed| choices.iter().map(move |choice| self.setting(part, source, seed, *choice)));
        Ok(settings.collect())
    }

    /// All methods at all ε. Without privacy there is nothing to ask in stages.
    fn table(&self, set: Set) -> anyhow::Result<Vec<Choice>> {
        let [of_digits, of_images, of_ratings] = self.extent.epsilons;
        let usual = match set {
            Set::Mnist => of_digits,
            Set::Fashion | Set::Synthetic => of_images,
            Set::Ratings => of_ratings,
        };
        let usual = usual.iter().map(|&value| Budget::new(value)).collect::<anyhow::Result<Vec<_>>>()?;
        let epsilons = if self.epsilons.is_empty() { &usual } else { &self.epsilons };
        let methods = [Method::OneStage, Method::TwoStages, Method::Ours];
        let methods = if self.methods.is_empty() { &methods } else { &self.methods[..] };
        let every = epsilons.iter().flat_map(|&epsilon| methods.iter().map(move |&method| (method, epsilon)));
        let meant = every.filter(|(method, epsilon)| epsilon.is_private() || method.first_share().is_none());
        Ok(meant.map(|(method, epsilon)| (method, epsilon, KNOBS)).collect())
    }

    /// One knob after the other is turned; what is the same for several is run once.
    fn figures(&self) -> anyhow::Result<Vec<Choice>> {
        let epsilon = self.epsilons.first().copied().map_or_else(|| Budget::new(FIGURE_EPSILON), Ok)?;
        let Extent { temperatures, first_shares, mixups, .. } = self.extent;
        let two = |knobs: Knobs| (Method::TwoStages, knobs);
        let stages = [Method::OneStage, Method::TwoStages, Method::ThreeStages].map(|method| (method, KNOBS));
        let turned = temperatures.iter().map(|&temperature| two(Knobs { temperature, ..KNOBS }));
        let split = first_shares.iter().map(|&share| two(Knobs { first_share: Some(share), ..KNOBS }));
        let mixed = mixups.iter().map(|&mixup| two(Knobs { mixup, ..KNOBS }));
        let mut choices: Vec<Choice> = Vec::new();
        for (method, mut knobs) in stages.into_iter().chain(turned).chain(split).chain(mixed) {
            knobs.first_share = knobs.first_share.or(method.first_share());
            let choice = (method, epsilon, knobs);
            if !choices.contains(&choice) {
                choices.push(choice);
            }
        }
        Ok(choices)
    }

    fn setting(&self, part: Part, source: &Source, seed: u64, (method, epsilon, knobs): Choice) -> Setting {
        let set = source.set;
        let which = usize::from(set.is_error());
        let usual = if part == Part::Figures { self.extent.figure_people } else { self.extent.people[which] };
        let trained = method.stages().is_some();
        let staged = method.first_share().is_some();
        let network =
            if set.is_error() { Network::Rating } else { self.network.unwrap_or(self.extent.network) };
        Setting {
            part,
            set,
            method,
            epsilon,
            seed,
            people: self.people.unwrap_or(usual).min(source.people),
            network: trained.then_some(network),
            epochs: trained.then_some(self.epochs.unwrap_or(self.extent.epochs[which])),
            temperature: staged.then_some(knobs.temperature),
            first_share: knobs.first_share.or(method.first_share()).filter(|_| staged),
            // Two people mixed are nobody's number.
            mixup: knobs.mixup.filter(|_| trained && !set.is_error()),
        }
    }
}
