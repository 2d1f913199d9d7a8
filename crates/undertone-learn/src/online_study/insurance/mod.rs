//! A stand-in for the US insurance data: a million people who do not exist, and what their insurance would charge them.
//!
//! All columns are independent and uniform, and
//!
//! > charges = 2500 + 40·age + 90·bmi + 250·children + 5000·smoker + 600·male + {900, 600, 300, 0}\[region\]
//! > + 1300·medical + 900·family - 300·exercise + 350·occupation + {0, 1800, 4500}\[coverage\] + N(0, 900²),
//!
//! at least 500 and in cents, of mean 16570 and standard deviation 3905. Conditions and occupations count from 0 to 3 in the
//! order of their names below, exercise from `Never` = 0 to `Frequently` = 3.

mod coding;
mod study;

pub use coding::{Coding, Task};
pub use study::{Outcome, Study, StudySetting};

use undertone_privacy::vector::stream::PublicStream;

/// The names of the columns, in order.
pub const HEADER: [&str; 12] = [
    "age",
    "gender",
    "bmi",
    "children",
    "smoker",
    "region",
    "medical_history",
    "family_medical_history",
    "exercise_frequency",
    "occupation",
    "coverage_level",
    "charges",
];
/// Places to live, dearest first.
pub const REGIONS: [&str; 4] = ["northeast", "northwest", "southeast", "southwest"];
/// Illnesses, one's own or of the family, by how much they cost.
pub const CONDITIONS: [&str; 4] = ["None", "High blood pressure", "Diabetes", "Heart disease"];
/// How often people exercise.
pub const EXERCISE: [&str; 4] = ["Never", "Rarely", "Occasionally", "Frequently"];
/// What people do.
pub const OCCUPATIONS: [&str; 4] = ["Student", "Unemployed", "Blue collar", "White collar"];
/// What an insurance covers.
pub const COVERAGE: [&str; 3] = ["Basic", "Standard", "Premium"];

/// One person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Person {
    /// In years, from 18 to 65
    pub age: u8,
    /// Gender: male, or female
    pub male: bool,
    /// The body mass index from 18 to 50, in hundredths
    pub bmi: u16,
    /// From 0 to 5
    pub children: u8,
    /// Whether the person smokes
    pub smoker: bool,
    /// Of [`REGIONS`]
    pub region: u8,
    /// Of [`CONDITIONS`]
    pub medical: u8,
    /// Of [`CONDITIONS`]
    pub family: u8,
    /// Of [`EXERCISE`]
    pub exercise: u8,
    /// Of [`OCCUPATIONS`]
    pub occupation: u8,
    /// Of [`COVERAGE`]
    pub coverage: u8,
    /// In cents
    pub cents: u32,
}

impl Person {
    /// Person number `row` of the table of this seed: the same on every machine, whoever else is made.
    pub fn new(seed: u64, row: u64) -> Self {
        let mut stream = PublicStream::new(u128::from(seed), row);
        // one of k values, each of probability 1/k to within 2^-32
        let mut one_of = |k: u64| (((stream.next_word() >> 32) * k) >> 32) as u16;
        let mut person = Self {
            age: 18 + one_of(48) as u8,
            male: one_of(2) == 1,
            bmi: 1800 + one_of(3201),
            children: one_of(6) as u8,
            smoker: one_of(2) == 1,
            region: one_of(4) as u8,
            medical: one_of(4) as u8,
            family: one_of(4) as u8,
            exercise: one_of(4) as u8,
            occupation: one_of(4) as u8,
            coverage: one_of(3) as u8,
            cents: 0,
        };
        let mut error = [0.0];
        stream.fill_normal(&mut error);
        let charges = (person.expected_charges() + 900.0 * error[0]).max(500.0);
        person.cents = (100.0 * charges).round() as u32;
        person
    }

    /// Without the error.
    fn expected_charges(&self) -> f64 {
        let is = |yes: bool| f64::from(u8::from(yes));
        2500.0
            + 40.0 * f64::from(self.age)
            + 0.9 * f64::from(self.bmi)
            + 250.0 * f64::from(self.children)
            + 5000.0 * is(self.smoker)
            + 600.0 * is(self.male)
            + [900.0, 600.0, 300.0, 0.0][usize::from(self.region)]
            + 1300.0 * f64::from(self.medical)
            + 900.0 * f64::from(self.family)
            - 300.0 * f64::from(self.exercise)
            + 350.0 * f64::from(self.occupation)
            + [0.0, 1800.0, 4500.0][usize::from(self.coverage)]
    }

    /// In dollars.
    pub fn charges(&self) -> f64 {
        f64::from(self.cents) / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_have_the_mean_and_the_deviation_that_the_formula_gives() {
        let charges: Vec<f64> = (0..200_000).map(|row| Person::new(1, row).charges()).collect();
        let n = charges.len() as f64;
        let mean = charges.iter().sum::<f64>() / n;
        let moment = |k| charges.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
        let (variance, fourth) = (moment(2), moment(4));
        assert!((mean - 16_570.0).abs() < 5.0 * (variance / n).sqrt(), "{mean}");
        // The formula's variance, term by term: uniform on k steps of h has h²(k² - 1)/12
        let uniform = |h: f64, k: f64| h * h * (k * k - 1.0) / 12.0;
        let coverage = (1800.0f64.powi(2) + 4500.0f64.powi(2)) / 3.0 - 2100.0f64.powi(2);
        let expected = uniform(40.0, 48.0)
            + uniform(0.9, 3201.0)
            + uniform(250.0, 6.0)
            + uniform(5000.0, 2.0)
            + uniform(600.0, 2.0)
            + [300.0, 1300.0, 900.0, 300.0, 350.0].map(|h| uniform(h, 4.0)).iter().sum::<f64>()
            + coverage
            + 900.0 * 900.0;
        assert!((expected.sqrt() - 3905.0).abs() < 1.0, "{}", expected.sqrt());
        assert!(
            (variance - expected).abs() < 5.0 * ((fourth - variance * variance) / n).sqrt(),
            "{variance}"
        );
    }

    #[test]
    fn a_person_depends_on_seed_and_row_alone_and_every_value_occurs() {
        assert_eq!(Person::new(7, 12), Person::new(7, 12));
        assert_ne!(Person::new(7, 12), Person::new(8, 12));
        let people: Vec<Person> = (0..5000).map(|row| Person::new(2, row)).collect();
        for (least, most, of) in [
            (18, 65, (|p| u16::from(p.age)) as fn(&Person) -> u16),
            (0, 5, |p| u16::from(p.children)),
            (0, 3, |p| u16::from(p.region)),
            (0, 3, |p| u16::from(p.exercise)),
            (0, 2, |p| u16::from(p.coverage)),
        ] {
            let seen: std::collections::BTreeSet<u16> = people.iter().map(of).collect();
            assert!(seen.into_iter().eq(least..=most));
        }
        assert!(people.iter().all(|p| (1800..=5000).contains(&p.bmi) && p.cents >= 50_000));
    }
}
