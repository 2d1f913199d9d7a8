//! IDX, the format of MNIST: bytes 0, 0, type, number of dimensions; the dimensions as 32-bit integers; then the
//! elements, all of them big-endian.
//!
//! The table is the images file. Its labels are in a file of nearly the same name, `labels-idx1` for `images-idx3`; without
//! it there is only the column `image`.

use super::{Batches, source};
use anyhow::{Context, bail, ensure};
use arrow_array::{
    ArrayRef, FixedSizeListArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, RecordBatch,
    UInt8Array,
};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An images file and its labels file.
#[derive(Debug)]
pub(super) struct IdxTable {
    images: Header,
    labels: Option<(PathBuf, Header)>,
    schema: SchemaRef,
}

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementType {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    element: ElementType,
    dimensions: u8,
    /// The first dimension
    rows: u64,
    /// The product of the others
    width: usize,
    /// The second and the last of them
    sides: [u32; 2],
}

impl IdxTable {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let images = Header::read(&mut source::open(path)?)?;
        ensure!(images.dimensions > 1, "an IDX file of one dimension; the table is the file of the images");
        ensure!(images.rows > 0, "there are no images");
        ensure!(images.width > 0, "the images have no pixels");
        let [height, width] = images.sides;
        ensure!(
            images.dimensions == 2 || (images.dimensions == 3 && height == width),
            "the images are not square, or have several layers, and would be taken for others: pad them to squares of one layer, or write \
             their {} pixels as a row of numbers, in an IDX file of two dimensions or in a table",
            images.width
        );
        let labels = labels_file(path).map(|labels| {
            let header =
                Header::read(&mut source::open(&labels)?).and_then(|header| check_labels(header, images));
            header.with_context(|| labels.display().to_string()).map(|header| (labels, header))
        });
        let labels = labels.transpose()?;
        let label = labels.as_ref().map(|(_, header)| Field::new("label", header.element.data_type(), false));
        let image = Field::new("image", DataType::FixedSizeList(images.pixel(), images.width as i32), false);
        let schema = Arc::new(Schema::new([image].into_iter().chain(label).collect::<Vec<_>>()));
        Ok(Self { images, labels, schema })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn rows(&self) -> u64 {
        self.images.rows
    }

    /// The labels file, if there is one.
    pub(super) fn labels(&self) -> Option<&Path> {
        self.labels.as_ref().map(|(path, _)| path.as_path())
    }

    pub(super) fn batches(&self, path: &Path) -> anyhow::Result<Batches> {
        let mut images = Elements::open(path, self.images)?;
        let labels = self.labels.as_ref();
        let labels = labels.map(|(path, header)| anyhow::Ok((path.clone(), Elements::open(path, *header)?)));
        let mut labels = labels.transpose()?;
        let schema = Arc::clone(&self.schema);
        let size = super::batch_rows([self.schema.field(0).data_type()]);
        Ok(Box::new(std::iter::from_fn(move || batch(&mut images, &mut labels, &schema, size).transpose())))
    }
}

/// The next images and their labels; `None` after the last.
fn batch(
    images: &mut Elements,
    labels: &mut Option<(PathBuf, Elements)>,
    schema: &SchemaRef,
    size: usize,
) -> anyhow::Result<Option<RecordBatch>> {
    let Some(bytes) = images.next(size)? else { return Ok(None) };
    let header = images.header;
    let pixels = match header.element {
        ElementType::U8 => header.element.array(&bytes),
        other => Arc::new(Float32Array::from(other.floats(&bytes))) as ArrayRef,
    };
    let image = FixedSizeListArray::try_new(header.pixel(), header.width as i32, pixels, None)?;
    let mut columns: Vec<ArrayRef> = vec![Arc::new(image)];
    if let Some((path, labels)) = labels {
        let bytes = labels.next(size).with_context(|| path.display().to_string())?;
        columns.push(labels.header.element.array(&bytes.unwrap_or_default()));
    }
    Ok(Some(RecordBatch::try_new(Arc::clone(schema), columns)?))
}

impl Header {
    fn read(bytes: &mut impl Read) -> anyhow::Result<Self> {
        let mut word = || {
            let mut word = [0; 4];
            bytes.read_exact(&mut word).ok().context("the IDX header is cut short")?;
            anyhow::Ok(word)
        };
        let [zero, another, code, dimensions] = word()?;
        ensure!(zero == 0 && another == 0, "not an IDX file");
        let element =
            ElementType::from_code(code).with_context(|| format!("IDX type {code:#04x} is unknown"))?;
        ensure!(dimensions > 0, "an IDX file without dimensions");
        let rows = u64::from(u32::from_be_bytes(word()?));
        let (mut width, mut sides) = (1_u64, [0; 2]);
        for dimension in 1..dimensions {
            let side = u32::from_be_bytes(word()?);
            sides = if dimension == 1 { [side; 2] } else { [sides[0], side] };
            width *= u64::from(side);
            // Below 2^31, the limit of a column's width, the next product does not overflow.
            ensure!(i32::try_from(width).is_ok(), "{width} numbers in a row are too many");
        }
        Ok(Self { element, dimensions, rows, width: width as usize, sides })
    }

    /// The field of an image's pixels: bytes stay bytes.
    fn pixel(&self) -> FieldRef {
        let data_type = if self.element == ElementType::U8 { DataType::UInt8 } else { DataType::Float32 };
        Arc::new(Field::new("item", data_type, false))
    }
}

fn check_labels(labels: Header, images: Header) -> anyhow::Result<Header> {
    if labels.dimensions != 1 {
        bail!("labels have one dimension, but this file has {}", labels.dimensions);
    }
    ensure!(labels.rows == images.rows, "{} labels for {} images", labels.rows, images.rows);
    Ok(labels)
}

/// The elements of a file, some rows at a time.
struct Elements {
    bytes: source::Bytes,
    header: Header,
    done: u64,
}

impl Elements {
    fn open(path: &Path, expected: Header) -> anyhow::Result<Self> {
        let mut bytes = source::open(path)?;
        let header = Header::read(&mut bytes)?;
        ensure!(header == expected, "the file was changed while it was read");
        Ok(Self { bytes, header, done: 0 })
    }

    /// The bytes of the next rows; `None` after the last, which has to be the end of the file.
    fn next(&mut self, rows: usize) -> anyhow::Result<Option<Vec<u8>>> {
        let (total, row_bytes) = (self.header.rows, self.header.width * self.header.element.bytes());
        let rows = (total - self.done).min(rows as u64);
        let mut block = vec![0; rows as usize * row_bytes];
        let found = read_up_to(&mut self.bytes, &mut block)?;
        if found < block.len() {
            let whole = self.done + (found / row_bytes) as u64;
            bail!("the file is cut short: its header says {total} rows, but it ends in row {}", whole + 1);
        }
        self.done += rows;
        if self.done == total {
            let more = read_up_to(&mut self.bytes, &mut [0])?;
            ensure!(more == 0, "the file goes on after the {total} rows that its header says");
        }
        Ok((rows > 0).then_some(block))
    }
}

/// Fills the block as far as there are bytes.
fn read_up_to(bytes: &mut impl Read, block: &mut [u8]) -> anyhow::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match bytes.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            // A gzip stream that stops in the middle is as short as a plain file that does.
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => break,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("cannot be read"),
        }
    }
    Ok(filled)
}

impl ElementType {
    pub(super) fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x08 => Self::U8,
            0x09 => Self::I8,
            0x0b => Self::I16,
            0x0c => Self::I32,
            0x0d => Self::F32,
            0x0e => Self::F64,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::U8 => DataType::UInt8,
            Self::I8 => DataType::Int8,
            Self::I16 => DataType::Int16,
            Self::I32 => DataType::Int32,
            Self::F32 => DataType::Float32,
            Self::F64 => DataType::Float64,
        }
    }

    fn array(self, bytes: &[u8]) -> ArrayRef {
        match self {
            Self::U8 => Arc::new(UInt8Array::from(bytes.to_vec())),
            Self::I8 => Arc::new(Int8Array::from(numbers(bytes, i8::from_be_bytes))),
            Self::I16 => Arc::new(Int16Array::from(numbers(bytes, i16::from_be_bytes))),
            Self::I32 => Arc::new(Int32Array::from(numbers(bytes, i32::from_be_bytes))),
            Self::F32 => Arc::new(Float32Array::from(numbers(bytes, f32::from_be_bytes))),
            Self::F64 => Arc::new(Float64Array::from(numbers(bytes, f64::from_be_bytes))),
        }
    }

    fn floats(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::U8 => bytes.iter().map(|&x| f32::from(x)).collect(),
            Self::I8 => numbers(bytes, |x| f32::from(i8::from_be_bytes(x))),
            Self::I16 => numbers(bytes, |x| f32::from(i16::from_be_bytes(x))),
            Self::I32 => numbers(bytes, |x| i32::from_be_bytes(x) as f32),
            Self::F32 => numbers(bytes, f32::from_be_bytes),
            Self::F64 => numbers(bytes, |x| f64::from_be_bytes(x) as f32),
        }
    }
}

fn numbers<const N: usize, T>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (whole, _) = bytes.as_chunks::<N>();
    whole.iter().map(|&chunk| number(chunk)).collect()
}

/// The labels of `train-images-idx3-ubyte.gz` are in `train-labels-idx1-ubyte.gz`, or in a file of another type, or
/// packed otherwise.
fn labels_file(images: &Path) -> Option<PathBuf> {
    let name = images.file_name()?.to_str()?;
    let (before, rest) = name.split_once("images")?;
    // -idx3-ubyte.gz or .idx3-ubyte
    let joint = rest.chars().next()?;
    let rest = rest[joint.len_utf8()..].strip_prefix("idx")?;
    let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let stem = format!("{before}labels{joint}idx1");
    let types = ["-ubyte", "-byte", "-short", "-int", "-float", "-double", ""];
    let others = types.into_iter().flat_map(|name| [format!("{name}.gz"), name.to_owned()]);
    let names = [rest.to_owned()].into_iter().chain(others).map(|end| format!("{stem}{end}"));
    names.map(|name| images.with_file_name(name)).find(|path| path.is_file())
}
