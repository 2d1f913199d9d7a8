//! A linear function of the parameters, as people write it on the command line.

use std::str::FromStr;
use undertone_report::{FunctionalTerm, FunctionalWords};

/// NAME=PARAMETER:FACTOR,…
#[derive(Clone, Debug)]
pub(super) struct Function(pub(super) FunctionalWords);

impl FromStr for Function {
    type Err = String;

    /// Parameters of categories have an equals sign in their names, and those of classes a colon: the first equals sign ends the
    /// name of the function, and the last colon begins the factor.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not NAME=PARAMETER:FACTOR,…");
        let (name, terms) = text.split_once('=').ok_or_else(wrong)?;
        let term = |text: &str| {
            let (parameter, factor) = text.rsplit_once(':')?;
            let factor = factor.trim().parse().ok()?;
            Some(FunctionalTerm { parameter: parameter.trim().to_owned(), factor })
        };
        let terms: Option<Vec<FunctionalTerm>> = terms.split(',').map(term).collect();
        Ok(Self(FunctionalWords { name: name.trim().to_owned(), terms: terms.ok_or_else(wrong)? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_signs_in_them_are_read() {
        let read = |text: &str| text.parse::<Function>().map(|Function(words)| words);
        let words = read("smokers of 50 = smoker = yes:1, age:-0.5").unwrap();
        assert_eq!(words.name, "smokers of 50");
        let terms: Vec<(&str, f64)> =
            words.terms.iter().map(|term| (&term.parameter[..], term.factor)).collect();
        assert_eq!(terms, [("smoker = yes", 1.0), ("age", -0.5)]);
        assert_eq!(read("f=a: age:2").unwrap().terms[0].parameter, "a: age");
        for bad in ["f", "f=age", "f=age:", "f=age:x", "f=age:1,"] {
            assert!(read(bad).unwrap_err().contains(bad), "{bad}");
        }
    }
}
