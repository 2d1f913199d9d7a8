//! Means over seeds, and tables of them: a line for each method, a column for each ε.

use super::networks::{self, Network};
use super::published;
use super::record::Run;
use super::setting::{Budget, Method, Part, Purpose, Set, Setting};
use serde::Serialize;
use std::cmp::Ordering;
use undertone_learn::evaluation::{Figure, mean};

/// A setting, over all its seeds of one purpose.
#[derive(Clone, Debug)]
pub(super) struct Mean {
    /// With one of the seeds
    pub(super) setting: Setting,
    /// The standard error is NaN from one seed
    pub(super) figure: Figure,
    pub(super) seeds: usize,
    /// By whom the judge happens to know, the same for all seeds
    pub(super) sampling_error: f64,
    /// The mean of a run, where the system tells
    pub(super) cpu_seconds: Option<f64>,
}

/// One set, the same people, seeds of one purpose.
pub(super) struct Table {
    pub(super) set: Set,
    pub(super) people: usize,
    pub(super) purpose: Purpose,
    pub(super) epsilons: Vec<Budget>,
    pub(super) lines: Vec<Line>,
}

/// A method, with its network.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) method: Method,
    /// At each ε of the table
    pub(super) cells: Vec<Option<Mean>>,
}

/// A mean for machines: a line of a CSV file, and the same in JSON.
#[derive(Serialize)]
pub(super) struct Row {
    part: Part,
    set: Set,
    method: Method,
    epsilon: Budget,
    /// What the seeds are for
    purpose: Purpose,
    people: usize,
    network: Option<Network>,
    epochs: Option<usize>,
    temperature: Option<f64>,
    first_share: Option<f64>,
    mixup: Option<f64>,
    /// How many
    seeds: usize,
    mean: f64,
    /// Over seeds; none from one seed
    standard_error: Option<f64>,
    /// By whom the judge happens to know
    sampling_error: f64,
    /// The paper's number of this method, if there is one
    published: Option<f64>,
    /// The best of the paper's numbers, whatever the method
    best_published: Option<f64>,
}

impl Mean {
    fn of(runs: &[&Run]) -> Self {
        let each = |of: fn(&Run) -> f64| runs.iter().map(|run| of(run)).collect::<Vec<f64>>();
        let cpu: Option<Vec<f64>> = runs.iter().map(|run| run.outcome.cpu_seconds).collect();
        Self {
            setting: runs[0].setting.clone(),
            figure: mean(&each(|run| run.outcome.value)),
            seeds: runs.len(),
            sampling_error: mean(&each(|run| run.outcome.sampling_error)).value,
            cpu_seconds: cpu.map(|cpu| mean(&cpu).value),
        }
    }

    /// Of the coins; from one seed nobody can tell, and the sampling error has to do.
    pub(super) fn error(&self) -> f64 {
        let Figure { standard_error, .. } = self.figure;
        if standard_error.is_nan() { self.sampling_error } else { standard_error }
    }

    /// By how many combined standard errors this is better than another, whom the same judge has judged.
    pub(super) fn lead(&self, other: &Self) -> f64 {
        let error = self.error().hypot(other.error()).max(f64::MIN_POSITIVE);
        self.gain(other.figure.value) / error
    }

    /// By how much this is better than a value.
    pub(super) fn gain(&self, value: f64) -> f64 {
        if self.setting.set.is_error() { value - self.figure.value } else { self.figure.value - value }
    }

    /// The value with its standard error, as people write it. From one seed there is none: what the judges say then has their sampling
    /// error, with their name so that nobody takes it for the other.
    pub(super) fn words(&self) -> String {
        let [value, error] = [self.figure.value, self.error()].map(|number| self.setting.set.words(number));
        if self.seeds < 2 { format!("{value} (judges ± {error})") } else { format!("{value} ± {error}") }
    }

    pub(super) fn row(&self) -> Row {
        let Setting { part, set, method, epsilon, people, network, epochs, .. } = self.setting;
        let Setting { temperature, first_share, mixup, .. } = self.setting;
        // Figures have fewer people than anything that was published.
        let published = |whose: &dyn Fn(&str) -> bool| {
            published::best(set, epsilon, whose).filter(|_| part != Part::Figures)
        };
        Row {
            part,
            set,
            method,
            epsilon,
            purpose: self.setting.purpose(),
            people,
            network,
            epochs,
            temperature,
            first_share,
            mixup,
            seeds: self.seeds,
            mean: self.figure.value,
            standard_error: Some(self.figure.standard_error).filter(|error| !error.is_nan()),
            sampling_error: self.sampling_error,
            published: published(&|name| name.ends_with(method.name())),
            best_published: published(&|_| true),
        }
    }
}

/// The means of all settings, in the order in which each was first run.
pub(super) fn means(runs: &[Run]) -> Vec<Mean> {
    let mut groups: Vec<Vec<&Run>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| run.setting.is_repetition_of(&group[0].setting)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups.iter().map(|group| Mean::of(group)).collect()
}

/// The tables that some means make; those of the figures are in none.
pub(super) fn tables(means: &[Mean]) -> Vec<Table> {
    let key = |mean: &Mean| {
        let Setting { set, people, .. } = mean.setting;
        (set, mean.setting.purpose(), people)
    };
    let mut own: Vec<&Mean> = means.iter().filter(|mean| mean.setting.part != Part::Figures).collect();
    own.sort_by_key(|mean| key(mean));
    own.chunk_by(|a, b| key(a) == key(b)).map(Table::of).collect()
}

impl Table {
    fn of(means: &[&Mean]) -> Self {
        let Setting { set, people, .. } = means[0].setting;
        let mut epsilons: Vec<Budget> = means.iter().map(|mean| mean.setting.epsilon).collect();
        epsilons.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        epsilons.dedup();
        let mut lines: Vec<Line> = Vec::new();
        for mean in means {
            let (name, method) = (name(&mean.setting), mean.setting.method);
            let place = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
                lines.push(Line { name, method, cells: vec![None; epsilons.len()] });
                lines.len() - 1
            });
            let column = epsilons.iter().position(|epsilon| *epsilon == mean.setting.epsilon);
            if let Some(cell) = column.and_then(|column| lines[place].cells.get_mut(column)) {
                *cell = Some((*mean).clone());
            }
        }
        lines.sort_by(|a, b| (a.method, &a.name).cmp(&(b.method, &b.name)));
        Self { set, people, purpose: means[0].setting.purpose(), epsilons, lines }
    }

    pub(super) fn title(&self) -> String {
        let Self { set, people, purpose, .. } = self;
        format!("{}, {people} people, {} seeds", set.name(), purpose.name())
    }

    /// The paper's lines, at the ε of the table.
    pub(super) fn published(&self) -> impl Iterator<Item = (&'static str, Vec<Option<f64>>)> {
        let lines = published::lines(self.set).iter();
        lines.map(|line| (line.name, self.epsilons.iter().map(|&epsilon| line.at(epsilon)).collect()))
    }

    /// What is to be known before networks of this table are compared with the paper's.
    pub(super) fn departures(&self) -> Option<String> {
        networks::departures(self.settings())
    }

    /// All settings of the table, each with one of its seeds.
    pub(super) fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.lines.iter().flat_map(|line| line.cells.iter().flatten()).map(|mean| &mean.setting)
    }

    /// The cells of a method, one line after the other: ε and the mean.
    pub(super) fn of_method(&self, method: Method) -> impl Iterator<Item = &Mean> {
        self.lines
            .iter()
            .filter(move |line| line.method == method)
            .flat_map(|line| line.cells.iter().flatten())
    }
}

/// Method, network, epochs.
fn name(setting: &Setting) -> String {
    let network = setting.network.map_or_else(String::new, |network| format!(", {network}"));
    let epochs = setting.epochs.map_or_else(String::new, |epochs| format!(", {epochs} epochs"));
    format!("{}{network}{epochs}", setting.method.name())
}

#[cfg(test)]
mod tests {
    use super::super::record::Outcome;
    use super::super::setting::example;
    use super::*;

    fn run(method: Method, epsilon: f64, seed: u64, value: f64) -> Run {
        let outcome = Outcome { value, sampling_error: 0.01, cpu_seconds: Some(2.0), wall_seconds: 1.0 };
        Run { setting: example(method, epsilon, seed), outcome }
    }

    #[test]
    fn seeds_become_a_mean_with_its_error_and_purposes_stay_apart() {
        let runs = [
            run(Method::OneStage, 1.0, 1, 0.5),
            run(Method::TwoStages, 1.0, 1, 0.9),
            run(Method::OneStage, 1.0, 2, 0.7),
            run(Method::OneStage, 1.0, 101, 0.2),
        ];
        let means = means(&runs);
        assert_eq!(means.iter().map(|mean| mean.seeds).collect::<Vec<_>>(), [2, 1, 1]);
        // 0.5 and 0.7: variance 0.02, of the mean 0.01
        let figure = means[0].figure;
        assert!((figure.value - 0.6).abs() < 1e-12 && (figure.standard_error - 0.1).abs() < 1e-12);
        assert_eq!(
            (means[0].words(), means[1].words()),
            ("60.00 ± 10.00".to_owned(), "90.00 (judges ± 1.00)".to_owned())
        );
        // 0.3 better, with an error of 0.1 and one seed that has 0.01 from its judge
        assert!((means[1].lead(&means[0]) - 0.3 / 0.1f64.hypot(0.01)).abs() < 1e-9);
        let tables = tables(&means);
        assert_eq!(tables.len(), 2);
        assert_eq!(tables[0].purpose, Purpose::Development);
        assert_eq!(tables[0].lines[0].name, "LP-1ST, cnn, 10 epochs");
        assert_eq!(tables[0].of_method(Method::TwoStages).count(), 1);
    }

    #[test]
    fn a_row_has_either_error_in_a_column_of_its_own_and_the_numbers_of_the_paper() {
        let runs = [
            run(Method::OneStage, 2.0, 1, 0.5),
            run(Method::OneStage, 2.0, 2, 0.7),
            run(Method::Ours, 2.0, 1, 0.9),
            run(Method::Ours, 0.5, 1, 0.8),
        ];
        let mut turned = run(Method::OneStage, 2.0, 1, 0.5);
        turned.setting.part = Part::Figures;
        let rows: Vec<Row> = means(&[&runs[..], &[turned]].concat()).iter().map(Mean::row).collect();
        let numbers = |row: &Row| (row.seeds, row.sampling_error, row.published, row.best_published);
        assert_eq!(numbers(&rows[0]), (2, 0.01, Some(0.9018), Some(0.9124)));
        assert!((rows[0].standard_error.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(numbers(&rows[1]), (1, 0.01, None, Some(0.9124)));
        assert_eq!((rows[1].standard_error, numbers(&rows[2])), (None, (1, 0.01, None, None)));
        assert_eq!(numbers(&rows[3]), (1, 0.01, None, None));
    }

    #[test]
    fn columns_rise_and_published_numbers_stand_where_they_belong() {
        let runs = [
            run(Method::Ours, f64::INFINITY, 1, 0.9),
            run(Method::Ours, 0.5, 1, 0.8),
            run(Method::Ours, 2.0, 1, 0.85),
        ];
        let tables = tables(&means(&runs));
        let words: Vec<String> = tables[0].epsilons.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["0.5", "2", "∞"]);
        let published: Vec<_> = tables[0].published().collect();
        assert_eq!(published[0], ("paper, LP-1ST", vec![None, Some(0.9018), Some(0.9428)]));
        assert_eq!(published[1], ("paper, LP-2ST", vec![None, Some(0.9124), None]));
    }
}
