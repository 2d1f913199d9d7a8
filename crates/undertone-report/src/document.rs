//! The task as people write it: TOML, with a comment above whatever is not obvious.

use crate::{EncodingWords, Task, TaskError};
use serde::Serialize;
use std::fmt::Write;

impl Task {
    /// Reads a document in TOML and checks all of it.
    pub fn from_toml(text: &str) -> Result<Self, TaskError> {
        let task: Self = toml::from_str(text)
            .map_err(|problem| TaskError::MalformedToml { problem: problem.to_string().trim_end().into() })?;
        task.check()?;
        Ok(task)
    }

    /// The document for people. It reads back as this task, with the same id.
    pub fn to_toml(&self) -> String {
        let mut text = Lines::default();
        text.comment("What is asked, of whom, under which promise. Everything here is public; whatever is changed makes");
        text.comment("another task with another id, to which no report of this one belongs.");
        text.value("version", &self.version);
        let (label, column) = match &self.record {
            None if self.asks_once() => (
                "The column that is explained by the others, if one is, and its two values, or none for numbers",
                "A column of the record, which never leaves its device",
            ),
            None if self.asks_for_numbers() => (
                "The column whose values are private: numbers without classes, which are clipped to these bounds",
                "A public column, which comes with each report as it is",
            ),
            None => (
                "The column whose values are private, and all values that it can have",
                "A public column, which comes with each report as it is",
            ),
            Some(_) => (
                "The column that is explained, and all values that it can have, or none for numbers",
                "A column of the record, which never leaves its device",
            ),
        };
        text.space(label);
        text.value("label", &self.label);
        text.value("classes", &self.classes);
        if let Some(number) = &self.number {
            text.value("number", number);
        }
        if let Some(survey) = &self.survey {
            text.comment("The question of which family everybody is asked, once");
            text.value("survey", survey);
        }
        if self.features.is_empty() {
            text.comment("No other columns");
            text.value("features", &self.features);
        }
        self.write_mechanism(&mut text);
        for feature in &self.features {
            text.section("[[features]]", column);
            text.value("name", &feature.name);
            text.value("kind", &feature.kind);
        }
        self.write_record(&mut text);
        self.write_collection(&mut text);
        text.0
    }

    fn write_mechanism(&self, text: &mut Lines) {
        let words = &self.mechanism;
        let what = match (self.asks_for_records(), self.asks_once()) {
            (true, _) => "the gradient of their record",
            (_, true) => "the answer to their question",
            _ => "the label",
        };
        text.section("[mechanism]", &format!("How devices randomize {what} before anything leaves them"));
        text.value("kind", &words.kind);
        let than = self.secret();
        let pure =
            format!("ε: no report is more than e^ε times likelier under one {than} than under another");
        text.optional(&pure, "epsilon", words.epsilon.as_ref());
        text.optional("δ: the mass on which that may fail", "delta", words.delta.as_ref());
        let gaussian = format!("μ: two {than}s are as hard to tell apart as N(0, 1) and N(μ, 1)");
        text.optional(&gaussian, "mu", words.mu.as_ref());
        text.optional("The number of labels in each report", "set_size", words.set_size.as_ref());
        text.optional("The labels to answer among, by their places", "top", words.top.as_ref());
        text.optional("Where each person's prior comes from", "prior", words.prior.as_ref());
    }

    fn write_record(&self, text: &mut Lines) {
        let Some(record) = &self.record else { return };
        text.section(
            "[record]",
            "What devices compute of a record, all of which is private: a gradient in a known ball",
        );
        text.comment("huber with its cut and the bounds of its scale, logistic or multinomial");
        text.value("loss", &record.loss);
        text.comment(
            "square: min(1, R²/|x|²), linear: min(1, R/|x|), clip: |gradient| ≤ R, which is biased; and R",
        );
        text.value("weights", &record.weights);
        text.value("radius", &record.radius);
        text.comment("No coefficient leaves ± this");
        text.value("bound", &record.bound);
        text.optional(
            "y becomes (y - mean)·scale, by public constants",
            "response",
            record.response.as_ref(),
        );
        text.comment("What follows from the above, and no device takes from here: it refuses a document that states anything");
        text.comment("else. The last coordinate of the centre of the ball of all gradients, its radius, the steps of its grid,");
        text.comment(
            "and the scale of each tier's noise in steps, or how often a codeword is one of the best",
        );
        text.value("ball", &record.ball);
        text.optional("The share of people expected in each tier", "shares", record.shares.as_ref());
        text.optional(
            "Linear functions of the parameters, each of which gets an interval",
            "functionals",
            Some(&record.functionals).filter(|functionals| !functionals.is_empty()),
        );
    }

    fn write_collection(&self, text: &mut Lines) {
        let Some(collection) = &self.collection else { return };
        text.section("[collection]", "How a collector runs it");
        text.value("name", &collection.name);
        text.comment("Nothing is shown before so many reports are in");
        text.value("min_reports", &collection.min_reports);
        text.comment("Seconds of the Unix epoch: reports are made from `opens` on, and before `closes`");
        text.value("opens", &collection.opens);
        text.value("closes", &collection.closes);
        text.comment(
            "Seconds: the unit of time in which reports are dated, of which both times above are multiples",
        );
        text.value("time_precision", &collection.time_precision);
        text.comment("Seconds: older reports are refused; and how far a device's clock may be ahead");
        text.value("expiry_age", &collection.expiry_age);
        text.value("clock_skew", &collection.clock_skew);
        text.comment(if self.asks_for_records() {
            "Steps η·(i + offset)^-α, averaged after burn_in reports, at points at most `stale` reports old"
        } else if self.asks_once() {
            "later: answers are kept, and what they say is asked later"
        } else if self.asks_for_numbers() {
            "linear or mean-only"
        } else {
            "softmax, logistic, hinge, linear or shares-only"
        });
        text.value("learner", &collection.learner);
        text.comment(
            "Each ε, or μ, that a person may choose; the first is that of the mechanism, and the default",
        );
        text.value("tiers", &collection.tiers);
        text.comment("Whether a report needs a token of the collector's");
        text.value("admission", &collection.admission);
        if collection.encoding.is_empty() {
            text.value("encoding", &collection.encoding);
        }
        for (words, column) in collection.encoding.iter().zip(&self.features) {
            // A name may hold anything, a comment ends with its line.
            let name = column.name.replace(char::is_control, " ");
            text.section("[[collection.encoding]]", &format!("How the column `{name}` becomes features"));
            match words {
                EncodingWords::Number(stretch) => text.value("number", stretch),
                EncodingWords::Category(category) => text.value("category", category),
                EncodingWords::Text(words) => text.value("text", words),
                EncodingWords::Vector(stretch) => text.value("vector", stretch),
            }
        }
    }
}

/// A document in the making.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn comment(&mut self, comment: &str) {
        // Writing to a string does not fail, here and below.
        let _ = writeln!(self.0, "# {comment}");
    }

    fn space(&mut self, comment: &str) {
        self.0.push('\n');
        self.comment(comment);
    }

    fn section(&mut self, name: &str, comment: &str) {
        self.space(comment);
        let _ = writeln!(self.0, "{name}");
    }

    fn value(&mut self, key: &str, value: &(impl Serialize + ?Sized)) {
        let mut inline = String::new();
        // Tasks hold nothing that TOML does not know: no nulls, and no whole numbers beyond 63 bits once checked.
        let _ = value.serialize(toml::ser::ValueSerializer::new(&mut inline));
        let _ = writeln!(self.0, "{key} = {inline}");
    }

    fn optional(&mut self, comment: &str, key: &str, value: Option<&impl Serialize>) {
        if let Some(value) = value {
            self.comment(comment);
            self.value(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::task;
    use crate::{EncodingWords, PriorWords, Stretch, Task};
    use undertone_privacy::label::LabelKind;

    #[test]
    fn a_document_reads_back_as_its_task_whatever_its_mechanism() {
        for kind in LabelKind::ALL.map(LabelKind::name) {
            let mut task = task(kind);
            assert_eq!(Task::from_toml(&task.to_toml()).unwrap(), task);
            task.collection = None;
            if kind == "rr-prior" {
                task.mechanism.prior = Some(PriorWords::Columns(task.classes.clone()));
            }
            assert_eq!(Task::from_toml(&task.to_toml()).unwrap(), task);
        }
    }

    #[test]
    fn names_may_hold_whatever_they_like() {
        let mut task = task("subset");
        task.mechanism.set_size = Some(2);
        task.label = "a = 1\n[mechanism]\nkind = \"rr\"".into();
        task.classes[0] = "\"\"\"'''\\ \t\u{0}\u{7f}é".into();
        task.features[0].name = "age\nlabel = \"x\"".into();
        task.collection.as_mut().unwrap().name = "# \"x\"".into();
        let read = Task::from_toml(&task.to_toml()).unwrap();
        assert_eq!(read, task);
        assert_eq!(read.id(), task.id());
    }

    #[test]
    fn people_may_write_whole_numbers_where_others_are_meant() {
        let text = task("rr").to_toml().replace("100.0", "100").replace("epsilon = 1.0", "epsilon = 1");
        assert_eq!(Task::from_toml(&text).unwrap(), task("rr"));
    }

    #[test]
    fn numbers_keep_their_last_bit() {
        let mut task = task("rr");
        let stretch = Stretch::Standard { mean: 0.1 + 0.2, scale: 1e-300, missing: false };
        task.collection.as_mut().unwrap().encoding[0] = EncodingWords::Number(stretch);
        assert_eq!(Task::from_toml(&task.to_toml()).unwrap(), task);
        assert_eq!(Task::from_json(&task.to_json()).unwrap(), task);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_or_its_value() {
        let text = task("rr").to_toml();
        for (from, to, says) in [
            ("min_reports", "min_report", "min_report"),
            ("low = 0.0, ", "", "either mean and scale, or low and high"),
            ("other = true", "others = true", "either values"),
            ("closes = 1800086400", "closes = 1800086401", "1800086401"),
            ("admission = false", "", "admission"),
            ("opens = 1800000000", "opens = -1", "line"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            let error = Task::from_toml(&changed).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
