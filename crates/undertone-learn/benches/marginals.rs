//! What tables over three attributes cost and how far they are off, method by method.
//!
//! `cargo bench -p undertone-learn --bench marginals -- [TABLE.csv [binary]]`
//!
//! A table has names in its first row and no quotes. With `binary`, numbers are cut at their median and words at the
//! commonest one. Without a table, 12,000 people of a chain of nine attributes with three levels each stand in. A table
//! that a method has no answer for, because nobody was asked some of its questions, counts as an even guess.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;
use undertone_learn::marginals::{Design, Marginals, Method, Tally};
use undertone_privacy::statistic::{Answer, Answering, Schema};
use undertone_privacy::{Epsilon, Randomizer};

/// Repetitions, each with a seed of its own.
const SEEDS: u64 = 20;
const ORDER: usize = 3;

type Failure = Box<dyn std::error::Error>;

/// Attributes, and the shares of the cells.
type Table = (Vec<usize>, Vec<f64>);

/// Levels by attribute, and records.
struct People {
    schema: Schema,
    records: Vec<Vec<u32>>,
}

fn main() -> Result<(), Failure> {
    // Cargo itself passes `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let people = match arguments.first() {
        Some(path) => read(path, arguments.iter().any(|word| word == "binary"))?,
        None => chain(9, 3, 12_000)?,
    };
    let epsilon = Epsilon::new(1.0)?;
    println!("{} people, levels {:?}, ε = 1, {SEEDS} seeds", people.records.len(), people.schema.levels());
    println!("Total variation, mean over all tables of {ORDER} attributes ± standard error\n");
    let truth = tables(&people)?;
    let words = ["method", "questions", "TV", "±", "guessed", "ns/report", "words", "bits"];
    println!("{}", words.map(|word| format!("{word:>11}")).concat());
    for (name, answer) in
        [("even guess", even as fn(&People, &[usize]) -> Vec<f64>), ("product", independent)]
    {
        println!("{name:>11}{:>11}{:>11.4}", "-", distances(&truth, |set| answer(&people, set)));
    }
    for (name, method) in [
        ("chebyshev", Method::Chebyshev { error: 0.05 }),
        ("hadamard", Method::Hadamard),
        ("published", Method::Direct(Answering::Published)),
        ("direct", Method::Direct(Answering::Best)),
        ("views", Method::Views),
    ] {
        let design = Design::new(method, people.schema.clone(), people.records.len() as u64, epsilon, ORDER)?;
        let (mut values, mut guessed) = (Vec::new(), 0);
        for seed in 0..SEEDS {
            let tally = collect(&design, &people, seed)?;
            let marginals = Marginals::new(&design, &tally)?;
            let found: Vec<_> = truth.iter().map(|(set, _)| marginals.marginal(set).ok()).collect();
            guessed += found.iter().filter(|table| table.is_none()).count();
            let mut found = found.into_iter();
            values.push(distances(&truth, |set| match found.next().flatten() {
                Some(table) => table.cells.iter().map(|cell| cell.share).collect(),
                None => even(&people, set),
            }));
        }
        let (mean, error) = summary(&values);
        let guessed = guessed as f64 / (SEEDS as f64 * truth.len() as f64);
        let (time, words, bits) = report(&people, &design);
        print!(
            "{name:>11}{:>11}{mean:>11.4}{error:>11.4}{guessed:>11.2}",
            design.questionnaire().questions()
        );
        println!("{time:>11.0}{words:>11.0}{bits:>11.1}");
        if let Some(predicted) = design.predicted_total_variation() {
            println!("{:>11}{:>11}{predicted:>11.4}", "predicted", "");
        }
    }
    speed(&people, epsilon)
}

/// What a report costs, in nanoseconds and in words of the generator, and its bits: the question's number and each
/// member's.
fn report(people: &People, design: &Design) -> (f64, f64, f64) {
    let (n, questionnaire) = (people.records.len(), design.questionnaire());
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let word = nanoseconds(n, || {
        black_box((0..n).fold(0u64, |sum, _| sum.wrapping_add(rng.next_u64())));
    });
    let mut answers = Vec::new();
    let time = nanoseconds(n, || {
        answers.clear();
        answers
            .extend(people.records.iter().map(|r| questionnaire.randomize(r, &mut rng).expect("a record")));
    });
    let bits = |count: u64| f64::from(u64::BITS - (count - 1).leading_zeros());
    let size = |answer: &Answer| {
        let question = questionnaire.question(answer.question).expect("a question");
        let labels = question.labels(&people.schema).expect("labels");
        bits(questionnaire.questions()) + answer.labels.members().len() as f64 * bits(labels.into())
    };
    (time, time / word, answers.iter().map(size).sum::<f64>() / n as f64)
}

/// Times of an answer counted, of pooling and of 2000 tables, beside words of the generator.
fn speed(people: &People, epsilon: Epsilon) -> Result<(), Failure> {
    let n = people.records.len();
    let design = Design::new(Method::Views, people.schema.clone(), n as u64, epsilon, ORDER)?;
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let word = nanoseconds(n, || {
        black_box((0..n).fold(0u64, |sum, _| sum.wrapping_add(rng.next_u64())));
    });
    let answers = people
        .records
        .iter()
        .map(|r| design.questionnaire().randomize(r, &mut rng))
        .collect::<Result<Vec<_>, _>>()?;
    let mut tally = Tally::new(&design)?;
    let count = nanoseconds(n, || {
        for answer in &answers {
            tally.observe(answer.question, answer.labels.members()).expect("an answer");
        }
    });
    let pool = nanoseconds(1, || {
        black_box(Marginals::new(&design, &tally).expect("answers"));
    });
    let marginals = Marginals::new(&design, &tally)?;
    let sets = triples(people.schema.attributes());
    let query = nanoseconds(2000, || {
        for set in sets.iter().cycle().take(2000) {
            black_box(marginals.marginal(set).expect("a table"));
        }
    });
    println!(
        "\nviews: {count:.0} ns to count a report ({:.1} words of the generator), {:.1} ms to pool all,",
        count / word,
        pool / 1e6
    );
    println!("2000 tables in {:.3} s, {:.0} words each", query * 2e-6, query / word);
    Ok(())
}

/// The least of several timings of `work`, in nanoseconds for each of `items`.
fn nanoseconds(items: usize, mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e9 / items as f64
    };
    (0..5).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

fn collect(design: &Design, people: &People, seed: u64) -> Result<Tally, Failure> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut tally = Tally::new(design)?;
    for record in &people.records {
        let answer = design.questionnaire().randomize(record, &mut rng)?;
        tally.observe(answer.question, answer.labels.members())?;
    }
    Ok(tally)
}

fn triples(attributes: usize) -> Vec<Vec<usize>> {
    let pairs = (0..attributes).flat_map(|a| (a + 1..attributes).map(move |b| (a, b)));
    pairs.flat_map(|(a, b)| (b + 1..attributes).map(move |c| vec![a, b, c])).collect()
}

/// The true tables.
fn tables(people: &People) -> Result<Vec<Table>, Failure> {
    triples(people.schema.attributes())
        .into_iter()
        .map(|set| Ok((set.clone(), shares(people, &set)?)))
        .collect()
}

fn shares(people: &People, set: &[usize]) -> Result<Vec<f64>, Failure> {
    let mut cells = vec![0.0; people.schema.cells(set)? as usize];
    for record in &people.records {
        let cell = set.iter().fold(0, |cell, &a| cell * people.schema.levels()[a] + record[a]);
        cells[cell as usize] += 1.0 / people.records.len() as f64;
    }
    Ok(cells)
}

fn even(people: &People, set: &[usize]) -> Vec<f64> {
    let cells = set.iter().map(|&a| people.schema.levels()[a] as usize).product();
    vec![1.0 / cells as f64; cells]
}

fn independent(people: &People, set: &[usize]) -> Vec<f64> {
    let one = |&a: &usize| shares(people, &[a]).expect("an attribute");
    set.iter().map(one).fold(vec![1.0], |cells, more| {
        cells.iter().flat_map(|cell| more.iter().map(move |share| cell * share)).collect()
    })
}

/// The mean total variation of answers from the truth.
fn distances(truth: &[Table], mut answer: impl FnMut(&[usize]) -> Vec<f64>) -> f64 {
    let one =
        |(set, cells): &Table| 0.5 * cells.iter().zip(answer(set)).map(|(a, b)| (a - b).abs()).sum::<f64>();
    truth.iter().map(one).sum::<f64>() / truth.len() as f64
}

fn summary(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// A chain in which each attribute is like the one before it seven times in ten.
fn chain(attributes: usize, levels: u32, people: usize) -> Result<People, Failure> {
    let mut rng = ChaCha12Rng::seed_from_u64(7);
    let mut record = || {
        let mut record = vec![(rng.next_u64() % u64::from(levels)) as u32];
        for j in 1..attributes {
            let fresh = rng.next_u64() % 10 >= 7;
            let level = if fresh { (rng.next_u64() % u64::from(levels)) as u32 } else { record[j - 1] };
            record.push(level);
        }
        record
    };
    let records = (0..people).map(|_| record()).collect();
    Ok(People { schema: Schema::new(vec![levels; attributes])?, records })
}

/// A table of words; columns with a single level are left out.
fn read(path: &str, binary: bool) -> Result<People, Failure> {
    let text = std::fs::read_to_string(path)?;
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let width = rows.first().map_or(0, Vec::len);
    let (mut levels, mut columns) = (Vec::new(), Vec::new());
    for column in 0..width {
        let words: Vec<&str> = rows.iter().map(|row| row[column]).collect();
        let codes = if binary { halves(&words) } else { numbered(&words) };
        let count = codes.iter().max().map_or(0, |most| most + 1);
        if count > 1 {
            levels.push(count);
            columns.push(codes);
        }
    }
    let records = (0..rows.len()).map(|i| columns.iter().map(|column| column[i]).collect()).collect();
    Ok(People { schema: Schema::new(levels)?, records })
}

fn numbered(words: &[&str]) -> Vec<u32> {
    let mut known: BTreeMap<&str, u32> = words.iter().map(|&word| (word, 0)).collect();
    known.values_mut().zip(0..).for_each(|(code, number)| *code = number);
    words.iter().map(|word| known[word]).collect()
}

/// One above the median of numbers, or for the commonest word.
fn halves(words: &[&str]) -> Vec<u32> {
    let numbers: Result<Vec<f64>, _> = words.iter().map(|word| word.parse::<f64>()).collect();
    if let Ok(numbers) = numbers {
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        let least = sorted[0];
        // Where the median is the least value, above it
        return numbers
            .iter()
            .map(|&x| u32::from(if median > least { x >= median } else { x > median }))
            .collect();
    }
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_insert(0) += 1;
    }
    let commonest = counts.iter().max_by_key(|(_, count)| **count).map(|(word, _)| **word);
    words.iter().map(|&word| u32::from(Some(word) == commonest)).collect()
}
