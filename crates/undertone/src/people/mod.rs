//! Rows of a table or of reports, as learners see them.
//!
//! They come in blocks of a fixed number of rows, from memory if all of them fit and otherwise from the file, which is
//! then read again for each pass: what is learnt is the same either way.

mod origin;
mod part;
mod record_rows;

pub(crate) use origin::Origin;
pub(crate) use part::Part;
pub(crate) use record_rows::RecordRows;

use crate::exit::Usage;
use anyhow::Context;
use undertone_learn::features::{Encoder, EncoderFit, EncoderOptions};
use undertone_learn::{Examples, LearnError, Source};

/// The most rows of a block: rows are shuffled within their block.
const BLOCK_ROWS: usize = 1 << 16;
/// The most bytes of its features, for wide rows.
const BLOCK_BYTES: usize = 1 << 28;

/// Everybody in a table or in reports, with encoded features.
pub(crate) struct People<'a> {
    origin: &'a Origin,
    encoder: &'a Encoder,
    memory: Memory,
}

enum Memory {
    /// Nothing is known yet; so many bytes may be used
    Unknown(usize),
    /// All of them fit
    All(Vec<Examples>),
    /// They do not
    TooSmall,
}

/// Decides how to encode the public columns, looking at nothing else.
pub(crate) fn fit_encoder(origin: &Origin, options: EncoderOptions) -> anyhow::Result<Encoder> {
    let mut fit = EncoderFit::new(origin.columns(), options)
        .map_err(|error| Usage::new(format!("--column: {error}")))?;
    for batch in origin.batches()? {
        fit.observe(&batch?)?;
    }
    fit.finish().context("the public columns cannot be encoded")
}

impl<'a> People<'a> {
    /// They are kept in memory if that takes no more than `memory` bytes.
    pub(crate) fn new(origin: &'a Origin, encoder: &'a Encoder, memory: usize) -> Self {
        Self { origin, encoder, memory: Memory::Unknown(memory) }
    }

    /// Shows each block as it is read.
    fn read(&self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> anyhow::Result<()> {
        let mut block = Examples::new(self.encoder.rows());
        for chunk in self.origin.chunks(self.encoder)? {
            chunk?.append_to(&mut block)?;
            if block.len() >= BLOCK_ROWS || block.rows.bytes() >= BLOCK_BYTES {
                visit(&block)?;
                block.clear();
            }
        }
        if !block.is_empty() {
            visit(&block)?;
        }
        Ok(())
    }

    /// Reads everybody, and keeps them as long as they fit.
    fn first_pass(
        &self,
        limit: usize,
        visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>,
    ) -> anyhow::Result<Memory> {
        let (mut kept, mut bytes) = (Vec::new(), 0);
        self.read(&mut |block| {
            bytes += block.bytes();
            if bytes <= limit {
                kept.push(block.clone());
            } else {
                kept = Vec::new();
            }
            visit(block)
        })?;
        Ok(if bytes <= limit { Memory::All(kept) } else { Memory::TooSmall })
    }
}

impl Source for People<'_> {
    fn pass(&mut self, visit: &mut dyn FnMut(&Examples) -> Result<(), LearnError>) -> Result<(), LearnError> {
        match &self.memory {
            Memory::All(blocks) => return blocks.iter().try_for_each(visit),
            Memory::TooSmall => self.read(visit),
            Memory::Unknown(limit) => self.first_pass(*limit, visit).map(|memory| self.memory = memory),
        }
        .map_err(|error| match error.downcast::<LearnError>() {
            Ok(error) => error,
            Err(other) => LearnError::Source(other.into()),
        })
    }
}
