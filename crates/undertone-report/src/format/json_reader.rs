//! JSON from strangers, read with the task at hand: of what is longer than any report of it, one more than there may be is
//! kept, so that it is refused, and the rest takes time to read, which whoever sends it has paid for, and no memory.

use super::ReportFormat;
use crate::{Cell, ColumnKind, ReportError};
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Reads an object of cells by the names of their columns: one for each column that is there, or what is wrong with them.
pub(super) struct Cells<'a>(pub(super) &'a ReportFormat);

/// Reads a list of classes, by their names or places, into labels as they come, or what is wrong with them.
pub(super) struct Labels<'a>(pub(super) &'a ReportFormat);

struct OneCell {
    /// The numbers of a vector in this column
    width: usize,
}

struct OneLabel<'a>(&'a ReportFormat);

impl<'de> DeserializeSeed<'de> for Cells<'_> {
    type Value = Result<Vec<Option<Cell>>, ReportError>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = Result<Vec<Option<Cell>>, ReportError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cells of the public columns by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self(format) = self;
        let mut cells: Vec<Option<Cell>> = vec![None; format.columns.len()];
        while let Some(column) = map.next_key::<String>()? {
            let refusal = match format.places.get(&column) {
                Some(&place) if cells[place].is_none() => {
                    let width = match format.columns[place].kind {
                        ColumnKind::Vector(width) => width as usize,
                        ColumnKind::Number | ColumnKind::Words => 0,
                    };
                    cells[place] = Some(map.next_value_seed(OneCell { width })?);
                    continue;
                }
                Some(_) => ReportError::RepeatedColumn { column },
                None => ReportError::UnknownColumn { column },
            };
            map.next_value::<IgnoredAny>()?;
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Err(refusal));
        }
        Ok(Ok(cells))
    }
}

impl<'de> DeserializeSeed<'de> for OneCell {
    type Value = Cell;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cell, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneCell {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a number, words or a list of numbers")
    }

    fn visit_unit<E>(self) -> Result<Cell, E> {
        Ok(Cell::Missing)
    }

    fn visit_f64<E>(self, x: f64) -> Result<Cell, E> {
        // Adding zero takes the sign from a negative zero, here and below.
        Ok(Cell::Number(x + 0.0))
    }

    fn visit_u64<E>(self, x: u64) -> Result<Cell, E> {
        Ok(Cell::Number(x as f64))
    }

    fn visit_i64<E>(self, x: i64) -> Result<Cell, E> {
        Ok(Cell::Number(x as f64))
    }

    fn visit_str<E>(self, words: &str) -> Result<Cell, E> {
        Ok(Cell::Words(words.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Cell, A::Error> {
        let mut values = Vec::new();
        while values.len() <= self.width {
            let Some(x) = numbers.next_element::<f64>()? else { return Ok(Cell::Vector(values)) };
            values.push(x as f32 + 0.0);
        }
        while numbers.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Cell::Vector(values))
    }
}

impl<'de> DeserializeSeed<'de> for Labels<'_> {
    type Value = Result<Vec<u32>, ReportError>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Labels<'_> {
    type Value = Result<Vec<u32>, ReportError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of classes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut classes: A) -> Result<Self::Value, A::Error> {
        let Self(format) = self;
        let mut labels = Ok(Vec::new());
        // Of one more than K, one is there twice or there is none such: either is refused.
        while let Ok(read) = &mut labels
            && read.len() <= format.classes.len()
        {
            match classes.next_element_seed(OneLabel(format))? {
                Some(Ok(label)) => read.push(label),
                Some(Err(error)) => labels = Err(error),
                None => return Ok(labels),
            }
        }
        while classes.next_element::<IgnoredAny>()?.is_some() {}
        Ok(labels)
    }
}

impl<'de> DeserializeSeed<'de> for OneLabel<'_> {
    type Value = Result<u32, ReportError>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for OneLabel<'_> {
    type Value = Result<u32, ReportError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a class or its place")
    }

    fn visit_u64<E: Error>(self, place: u64) -> Result<Self::Value, E> {
        u32::try_from(place).map(Ok).map_err(|_| E::custom(format_args!("{place} is no place of a class")))
    }

    fn visit_str<E>(self, class: &str) -> Result<Self::Value, E> {
        let label = self.0.labels.get(class).copied();
        Ok(label.ok_or_else(|| ReportError::UnknownClass { class: class.to_owned() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;

    /// A list of `count` zeros, behind which stands what is no label, no number and no cell.
    fn zeros(count: usize) -> String {
        format!("[{}{{}}]", "0,".repeat(count))
    }

    fn read<'de, S: DeserializeSeed<'de>>(seed: S, json: &'de str) -> Option<S::Value> {
        seed.deserialize(&mut serde_json::Deserializer::from_str(json)).ok()
    }

    #[test]
    fn of_what_is_too_long_one_more_than_there_may_be_is_kept() {
        let format = ReportFormat::new(&task("rr")).unwrap();
        // Five classes, and a vector of two numbers
        assert_eq!(read(Labels(&format), &zeros(5)), None);
        assert_eq!(read(Labels(&format), &zeros(1000)), Some(Ok(vec![0; 6])));
        assert_eq!(read(OneCell { width: 2 }, &zeros(2)), None);
        assert_eq!(read(OneCell { width: 2 }, &zeros(1000)), Some(Cell::Vector(vec![0.0; 3])));
        let cells = |json: &str| read(Cells(&format), json).unwrap().unwrap_err().reason();
        assert_eq!(cells(&format!(r#"{{"age":1,"x":{0},"y":{0}}}"#, zeros(1000))), "unknown-column");
        assert_eq!(cells(&format!(r#"{{"age":1,"age":{0},"y":{0}}}"#, zeros(1000))), "repeated-column");
    }
}
