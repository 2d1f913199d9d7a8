//! How a person becomes numbers, with public constants: sample means of private data would be releases of their own.

use super::Person;

/// q, the constant included.
pub(super) const COVARIATES: usize = 14;

/// What is learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Charges, as (dollars - 16500)/4000
    Charges,
    /// Which third of all charges, cut at 14720 and 18290 dollars
    Thirds,
}

/// Which numbers stand for words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// As published: 0, 1, 2, 3, with `Occasionally` before `Rarely`, and dummies for regions, southwest without
    Paper,
    /// The same in the order of the words' meaning, every column with mean 0 and variance 1
    Centred,
}

impl Coding {
    /// x, the constant first.
    pub(super) fn covariates(self, person: &Person) -> [f64; COVARIATES] {
        let is = |yes: bool| f64::from(u8::from(yes));
        let region = |which: u8| is(person.region == which);
        let exercise = match self {
            Self::Paper => [0.0, 2.0, 1.0, 3.0][usize::from(person.exercise)],
            Self::Centred => f64::from(person.exercise),
        };
        let mut x = [
            1.0,
            (f64::from(person.age) - 41.5) / 13.85,
            (f64::from(person.bmi) / 100.0 - 34.0) / 9.24,
            (f64::from(person.children) - 2.5) / 1.708,
            is(person.male),
            is(person.smoker),
            region(0),
            region(1),
            region(2),
            f64::from(person.medical),
            f64::from(person.family),
            exercise,
            f64::from(person.occupation),
            f64::from(person.coverage),
        ];
        if self == Self::Centred {
            for (x, (mean, variance)) in x[4..].iter_mut().zip(MOMENTS) {
                *x = (*x - mean) / variance.sqrt();
            }
        }
        x
    }
}

/// Mean and variance of the coded columns, from gender on.
const MOMENTS: [(f64, f64); 10] = [
    (0.5, 0.25),
    (0.5, 0.25),
    (0.25, 0.1875),
    (0.25, 0.1875),
    (0.25, 0.1875),
    (1.5, 1.25),
    (1.5, 1.25),
    (1.5, 1.25),
    (1.5, 1.25),
    (1.0, 2.0 / 3.0),
];

impl Task {
    /// K, where there are classes.
    pub(super) const CLASSES: u32 = 3;

    /// y.
    pub(super) fn response(self, person: &Person) -> f64 {
        let charges = person.charges();
        match self {
            Self::Charges => (charges - 16_500.0) / 4000.0,
            Self::Thirds => f64::from(u8::from(charges >= 14_720.0) + u8::from(charges >= 18_290.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_coded_by_hand() {
        let person = Person {
            age: 18,
            male: true,
            bmi: 3400,
            children: 0,
            smoker: false,
            region: 1,
            medical: 3,
            family: 0,
            exercise: 1,
            occupation: 2,
            coverage: 2,
            cents: 1_650_000,
        };
        let x = Coding::Paper.covariates(&person);
        assert_eq!(x[4..], [1.0, 0.0, 0.0, 1.0, 0.0, 3.0, 0.0, 2.0, 2.0, 2.0]);
        assert!((x[1] + 23.5 / 13.85).abs() < 1e-12 && x[2].abs() < 1e-12);
        assert_eq!((Task::Charges.response(&person), Task::Thirds.response(&person)), (0.0, 1.0));
    }

    #[test]
    fn centred_columns_have_mean_zero_and_variance_one() {
        let n = 50_000;
        let (mut sums, mut squares) = ([0.0; COVARIATES], [0.0; COVARIATES]);
        let mut thirds = [0u32; 3];
        for row in 0..n {
            let person = Person::new(3, row);
            thirds[Task::Thirds.response(&person) as usize] += 1;
            for (j, x) in Coding::Centred.covariates(&person).into_iter().enumerate() {
                sums[j] += x / n as f64;
                squares[j] += x * x / n as f64;
            }
        }
        for j in 1..COVARIATES {
            let bound = 5.0 / (n as f64).sqrt();
            assert!(sums[j].abs() < bound && (squares[j] - 1.0).abs() < 3.0 * bound, "{j}");
        }
        assert!(
            thirds.iter().all(|&count| (0.31..0.36).contains(&(f64::from(count) / n as f64))),
            "{thirds:?}"
        );
    }
}
