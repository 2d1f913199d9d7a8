//! Records that are looked at before they are told, in a simulation or by whoever owns them: what a device would turn into the
//! centre of its ball without a word is an error here.

use crate::LearnError;
use undertone_privacy::statistic::Response;

/// Refuses labels other than -1 and 1, numbers that are not finite, and columns that are the same in all records, which no
/// weight can be learnt for beside another constant.
///
/// `names` are those of the columns; `rows` hold as many numbers each, and the response.
pub fn check_records<'a>(
    names: &[String],
    response: Response,
    rows: impl IntoIterator<Item = (&'a [f64], f64)>,
) -> Result<(), LearnError> {
    let mut first: Option<Vec<f64>> = None;
    let mut varies = vec![false; names.len()];
    let mut count = 0u64;
    for (row, (x, y)) in (1u64..).zip(rows) {
        if x.len() != names.len() {
            return Err(LearnError::Columns { found: x.len(), expected: names.len() });
        }
        let cell =
            |column: &str, problem: String| LearnError::Cell { row, column: column.to_owned(), problem };
        #[expect(clippy::float_cmp, reason = "a label is -1 or 1 exactly, or none")]
        if response == Response::Sign && y != 1.0 && y != -1.0 {
            return Err(cell("label", format!("{y} is neither -1 nor 1")));
        }
        if !y.is_finite() {
            return Err(cell("response", format!("{y} is not finite")));
        }
        if let Some((name, value)) = names.iter().zip(x).find(|(_, value)| !value.is_finite()) {
            return Err(cell(name, format!("{value} is not finite")));
        }
        let first = first.get_or_insert_with(|| x.to_vec());
        for (varies, (a, b)) in varies.iter_mut().zip(first.iter().zip(x)) {
            *varies |= a.to_bits() != b.to_bits();
        }
        count = row;
    }
    if count == 0 {
        return Err(LearnError::NoReports);
    }
    match names.iter().zip(&varies).find(|(_, varies)| !**varies) {
        Some((column, _)) if count > 1 => {
            let problem = "has the same value in all records".to_owned();
            Err(LearnError::Column { column: column.clone(), problem })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: Response, rows: &[([f64; 2], f64)]) -> Result<(), LearnError> {
        let names = ["age".to_owned(), "income".to_owned()];
        check_records(&names, response, rows.iter().map(|(x, y)| (x.as_slice(), *y)))
    }

    #[test]
    fn good_records_pass() {
        assert!(check(Response::Sign, &[([0.1, 0.2], 1.0), ([0.3, 0.1], -1.0)]).is_ok());
        assert!(check(Response::Number, &[([0.1, 0.2], 0.7), ([0.3, 0.1], -0.2)]).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let said = |response, rows: &[([f64; 2], f64)]| check(response, rows).unwrap_err().to_string();
        let label = said(Response::Sign, &[([0.1, 0.2], 1.0), ([0.3, 0.1], 0.0)]);
        assert!(label.contains("row 2") && label.contains("neither -1 nor 1"), "{label}");
        let constant = said(Response::Sign, &[([0.1, 0.2], 1.0), ([0.3, 0.2], -1.0)]);
        assert!(constant.contains("income") && constant.contains("same value"), "{constant}");
        let infinite = said(Response::Number, &[([f64::NAN, 0.2], 1.0)]);
        assert!(infinite.contains("age"), "{infinite}");
        assert!(matches!(check(Response::Sign, &[]), Err(LearnError::NoReports)));
    }
}
