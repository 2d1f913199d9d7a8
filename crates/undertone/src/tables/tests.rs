//! Files as people have them, written by the tests themselves; and real ones, where they lie.

use super::*;
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, ListBuilder, StringDictionaryBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int16Type, Int32Type, UInt8Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int64Array, LargeStringArray,
    NullArray, StringArray, StringViewArray, UInt64Array,
};
use flate2::Compression as Level;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use undertone_learn::features::{Batch, Column, EncoderFit, EncoderOptions, Words};
use undertone_report::ColumnKind;

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("undertone-tables-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        let packed = path.extension().is_some_and(|ending| ending == "gz");
        std::fs::write(&path, if packed { gzip(bytes) } else { bytes.to_vec() }).unwrap();
        path
    }

    fn parquet(&self, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
        let path = self.0.join("table.parquet");
        let level = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(level).build();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind lies in the system's temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Level::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Everything that goes wrong when the file is opened and read to its end.
fn error(path: &Path) -> String {
    let read = TableFile::open(path).and_then(|table| table.batches()?.try_for_each(|batch| batch.map(drop)));
    let text = format!("{:#}", read.unwrap_err());
    text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text).to_owned()
}

fn csv_error(text: &str) -> String {
    error(&Folder::new().file("table.csv", text.as_bytes()))
}

fn columns(table: &TableFile) -> Vec<(String, ColumnKind)> {
    let columns = feature_columns(table.schema(), &[]).unwrap();
    columns.into_iter().map(|column| (column.name, column.kind)).collect()
}

fn cells(table: &TableFile) -> Batch {
    let wanted = feature_columns(table.schema(), &[]).unwrap();
    let mut batches = table.batches().unwrap();
    let first = features(&batches.next().unwrap().unwrap(), &wanted).unwrap();
    assert!(batches.next().is_none(), "one batch");
    first
}

fn some_words(cells: &[Option<&str>]) -> Column {
    Column::Words(cells.iter().copied().collect())
}

/// Numbers with a mark for what is missing, as NaN is not equal to itself.
fn numbers(column: &Column) -> Vec<Option<f64>> {
    let Column::Numbers(cells) = column else { panic!("numbers, not {column:?}") };
    cells.iter().map(|x| (!x.is_nan()).then_some(*x)).collect()
}

mod of_csv {
    use super::*;

    const TABLE: &str =
        "\u{feff}age, city,code\n39,\"Rome, Lazio\",NA\n,?,x\n NA ,\" two\nlines\",\n-1.5e1,NaN,7\n";

    #[test]
    fn a_column_is_numbers_if_every_cell_is_one_or_missing() {
        for name in ["table.csv", "table.csv.gz", "without-ending"] {
            let folder = Folder::new();
            let table = TableFile::open(&folder.file(name, TABLE.as_bytes())).unwrap();
            let kinds =
                [("age", ColumnKind::Number), ("city", ColumnKind::Words), ("code", ColumnKind::Words)];
            assert_eq!(columns(&table), kinds.map(|(name, kind)| (name.to_owned(), kind)));
            assert_eq!(table.rows(), 4);
            let batch = cells(&table);
            assert_eq!(numbers(&batch.columns[0]), [Some(39.0), None, None, Some(-15.0)]);
            let city = [Some("Rome, Lazio"), None, Some("two\nlines"), Some("NaN")];
            assert_eq!(batch.columns[1], some_words(&city));
            assert_eq!(batch.columns[2], some_words(&[Some("NA"), Some("x"), None, Some("7")]));
            // A second pass is like the first.
            assert_eq!(cells(&table).columns[1..], batch.columns[1..]);
        }
    }

    #[test]
    fn what_is_known_about_a_column_is_not_guessed() {
        let folder = Folder::new();
        let path = folder.file("table.csv", b"user,age\n17,?\n018,\n");
        let known = |kind| [FeatureColumn { name: "user".into(), kind }];
        let table = TableFile::open_as(&path, &known(ColumnKind::Words)).unwrap();
        assert_eq!(cells(&table).columns[0], some_words(&[Some("17"), Some("018")]));
        assert_eq!(numbers(&cells(&table).columns[1]), [None, None]);

        let path = folder.file("table.csv", b"user,age\n17,1\neighteen,2\n");
        let error = TableFile::open_as(&path, &known(ColumnKind::Number)).unwrap_err();
        assert!(format!("{error:#}").ends_with("row 2, column `user`: `eighteen` is not a number"));
    }

    #[test]
    fn columns_can_be_selected_in_another_order() {
        let folder = Folder::new();
        let path = folder.file("table.csv", b"a,b,c\n1,2,x\n");
        let table = TableFile::open(&path).unwrap().select(["c", "a"]).unwrap();
        assert_eq!(columns(&table).len(), 2);
        assert_eq!(cells(&table).columns, [some_words(&[Some("x")]), Column::Numbers(vec![1.0])]);
        let error = TableFile::open(&path).unwrap().select(["d"]).unwrap_err().to_string();
        assert!(error.ends_with("table.csv: there is no column `d`"), "{error}");
    }

    #[test]
    fn long_tables_come_in_batches() {
        let rows: Vec<String> = (0..150_000).map(|row| row.to_string()).collect();
        let folder = Folder::new();
        let table =
            TableFile::open(&folder.file("table.csv", format!("n\n{}\n", rows.join("\n")).as_bytes()))
                .unwrap();
        let batches: Vec<RecordBatch> = table.batches().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [65_536, 65_536, 18_928]);
        let all = batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Float64Type>().values());
        assert!(all.copied().eq((0..150_000).map(f64::from)));
    }

    #[test]
    fn errors_name_row_and_column() {
        assert_eq!(csv_error(""), "the file is empty");
        assert_eq!(csv_error("\n\n"), "the file is empty");
        assert_eq!(csv_error("a,b\n"), "there is a header, but no row");
        assert_eq!(csv_error("a,b\n1,2\n1,2,3\n"), "row 2 has 3 cell(s), but the header has 2");
        assert_eq!(csv_error("a,b\n1,2\n3\n"), "row 2 has 1 cell(s), but the header has 2");
        assert_eq!(csv_error("a,b, a\n1,2,3\n"), "there are two columns `a`");
        assert_eq!(csv_error("a,,c\n1,2,3\n"), "column 2 has no name");
        let leave = "is not a finite number; leave the cell empty if the value is missing";
        assert_eq!(csv_error("a,b\n1,2\n3,NaN\n"), format!("row 2, column `b`: NaN {leave}"));
        assert_eq!(csv_error("a,b\n1,2\n-inf,1\n"), format!("row 2, column `a`: -inf {leave}"));
        assert_eq!(csv_error("a,b\n1e999,2\n"), format!("row 1, column `a`: 1e999 {leave}"));
        let folder = Folder::new();
        let latin = folder.file("table.csv", b"a,b\nx,y\nx,\xe9\n");
        assert_eq!(error(&latin), "row 2, column `b`: the cell is not UTF-8");
        assert_eq!(error(&folder.file("table.csv", b"PK\0\0")), "neither CSV nor Parquet nor IDX");
        assert_eq!(error(&folder.file("empty.csv.gz", b"")), "the file is empty");
        let mut short = gzip(TABLE.repeat(100).as_bytes());
        short.truncate(short.len() - 20);
        let short = folder.file("short.csv", &short);
        assert!(error(&short).starts_with("cannot be read"), "{}", error(&short));
        assert!(error(&folder.0).contains("cannot be read"), "a folder");
        assert!(error(&folder.0.join("nowhere.csv")).starts_with("cannot be opened"));
    }
}

mod of_parquet {
    use super::*;

    fn vectors(rows: &[Option<&[f32]>]) -> ArrayRef {
        let mut lists = ListBuilder::new(Float32Builder::new());
        for row in rows {
            lists.values().append_slice(row.unwrap_or_default());
            lists.append(row.is_some());
        }
        Arc::new(lists.finish())
    }

    #[test]
    fn numbers_words_and_vectors_of_every_type_are_read() {
        let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
        dictionary.extend([Some("b"), None, Some("a")]);
        let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), 2);
        for row in 0..3_u8 {
            fixed.values().append_slice(&[f32::from(row), -0.5]);
            fixed.append(true);
        }
        let folder = Folder::new();
        let path = folder.parquet(vec![
            ("int", Arc::new(Int64Array::from(vec![Some(1), None, Some(-3)]))),
            ("unsigned", Arc::new(UInt64Array::from(vec![1, 2, u64::from(u32::MAX)]))),
            ("float", Arc::new(Float32Array::from(vec![Some(0.5), Some(1.0), None]))),
            ("bool", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
            ("null", Arc::new(NullArray::new(3))),
            ("string", Arc::new(StringArray::from(vec![Some("x"), None, Some("")]))),
            ("large", Arc::new(LargeStringArray::from(vec!["x", "y", "?"]))),
            ("view", Arc::new(StringViewArray::from(vec!["x", "y", "a string of more than twelve bytes"]))),
            ("dictionary", Arc::new(dictionary.finish())),
            ("list", vectors(&[Some(&[1.0, 2.0]), Some(&[3.0, 4.0]), Some(&[5.0, 6.0])])),
            ("fixed", Arc::new(fixed.finish())),
        ]);
        let table = TableFile::open(&path).unwrap();
        assert_eq!(table.rows(), 3);
        let batch = cells(&table);
        assert_eq!(numbers(&batch.columns[0]), [Some(1.0), None, Some(-3.0)]);
        assert_eq!(numbers(&batch.columns[1]), [Some(1.0), Some(2.0), Some(f64::from(u32::MAX))]);
        assert_eq!(numbers(&batch.columns[2]), [Some(0.5), Some(1.0), None]);
        assert_eq!(numbers(&batch.columns[3]), [Some(1.0), Some(0.0), None]);
        assert_eq!(numbers(&batch.columns[4]), [None; 3]);
        assert_eq!(batch.columns[5], some_words(&[Some("x"), None, Some("")]));
        assert_eq!(batch.columns[6], some_words(&[Some("x"), Some("y"), Some("?")]));
        assert_eq!(
            batch.columns[7],
            some_words(&[Some("x"), Some("y"), Some("a string of more than twelve bytes")])
        );
        assert_eq!(batch.columns[8], some_words(&[Some("b"), None, Some("a")]));
        let values = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(batch.columns[9], Column::Vectors { width: 2, values });
        let values = vec![0.0, -0.5, 1.0, -0.5, 2.0, -0.5];
        assert_eq!(batch.columns[10], Column::Vectors { width: 2, values });

        let some = TableFile::open(&path).unwrap().select(["list", "int"]).unwrap();
        assert_eq!(cells(&some).columns[0], batch.columns[9]);
        assert_eq!(numbers(&cells(&some).columns[1]), numbers(&batch.columns[0]));
    }

    #[test]
    fn errors_name_row_and_column() {
        let column_error = |column: ArrayRef| {
            let folder = Folder::new();
            error(&folder.parquet(vec![("x", column)]))
        };
        let leave = "is not a finite number; leave the cell empty if the value is missing";
        let floats = Float64Array::from(vec![Some(1.0), None, Some(f64::NAN)]);
        assert_eq!(column_error(Arc::new(floats)), format!("row 3, column `x`: NaN {leave}"));
        let floats = Float32Array::from(vec![f32::NEG_INFINITY]);
        assert_eq!(column_error(Arc::new(floats)), format!("row 1, column `x`: -inf {leave}"));
        let uneven = vectors(&[Some(&[1.0, 2.0]), Some(&[1.0, 2.0]), Some(&[1.0])]);
        assert_eq!(column_error(uneven), "row 3, column `x`: 1 number(s), but 2 in row 1");
        let gap = vectors(&[Some(&[1.0, 2.0]), None]);
        assert_eq!(column_error(gap), "row 2, column `x`: the vector is missing");
        assert_eq!(column_error(vectors(&[None])), "row 1, column `x`: the vector is missing");
        let infinite = vectors(&[Some(&[1.0, 2.0]), Some(&[1.0, f32::INFINITY])]);
        assert_eq!(column_error(infinite), format!("row 2, column `x`: inf {leave}"));
        assert_eq!(column_error(Arc::new(Int64Array::from(Vec::<i64>::new()))), "there are no rows");
        let folder = Folder::new();
        assert!(
            error(&folder.file("table.parquet", b"PAR1 and nothing else")).starts_with("not a whole Parquet")
        );
    }

    #[test]
    fn a_column_of_another_type_matters_only_to_whoever_asks_for_it() {
        let folder = Folder::new();
        let path = folder.parquet(vec![
            ("day", Arc::new(Date32Array::from(vec![1, 2]))),
            ("age", Arc::new(Int64Array::from(vec![3, 4]))),
        ]);
        let table = TableFile::open(&path).unwrap();
        let error = feature_columns(table.schema(), &[]).unwrap_err().to_string();
        assert_eq!(error, "column `day`: Date32 is neither a number nor words nor a vector of numbers");
        let wanted = feature_columns(table.schema(), &["day"]).unwrap();
        let batch = table.batches().unwrap().next().unwrap().unwrap();
        assert_eq!(features(&batch, &wanted).unwrap().columns, [Column::Numbers(vec![3.0, 4.0])]);

        let refused = |name: &str, kind| {
            features(&batch, &[FeatureColumn { name: name.into(), kind }]).unwrap_err().to_string()
        };
        assert_eq!(refused("weight", ColumnKind::Number), "there is no column `weight`");
        assert_eq!(refused("age", ColumnKind::Words), "column `age`: words are needed, but it holds numbers");
        assert_eq!(
            refused("day", ColumnKind::Vector(2)),
            "column `day`: vectors of 2 numbers are needed, but it holds Date32"
        );
    }

    #[test]
    fn any_label_can_be_written_as_a_word() {
        let word = |array: &dyn Array| {
            let words: Words = words(array).unwrap();
            words.iter().map(|cell| cell.map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(word(&Float64Array::from(vec![Some(3.0), None])), [Some("3".into()), None]);
        assert_eq!(word(&Float32Array::from(vec![0.1])), [Some("0.1".to_owned())]);
        assert_eq!(word(&Int64Array::from(vec![i64::MAX])), [Some(i64::MAX.to_string())]);
        assert_eq!(word(&BooleanArray::from(vec![true])), [Some("true".to_owned())]);
        assert_eq!(word(&StringArray::from(vec!["a"])), [Some("a".to_owned())]);
    }
}

mod of_idx {
    use super::*;

    fn idx(code: u8, dimensions: &[u32], elements: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, code, dimensions.len() as u8];
        bytes.extend(dimensions.iter().flat_map(|size| size.to_be_bytes()));
        bytes.extend(elements);
        bytes
    }

    /// Two images of two by two pixels.
    fn images() -> Vec<u8> {
        idx(8, &[2, 2, 2], &[0, 1, 2, 3, 252, 253, 254, 255])
    }

    #[test]
    fn images_and_labels_are_one_table() {
        let names = [
            ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
            ("train-images-idx3-ubyte", "train-labels-idx1-ubyte.gz"),
            ("train-images.idx3-ubyte", "train-labels.idx1-ubyte"),
        ];
        for (image, label) in names {
            let folder = Folder::new();
            folder.file(label, &idx(8, &[2], &[7, 3]));
            let table = TableFile::open(&folder.file(image, &images())).unwrap();
            assert_eq!(columns(&table)[0], ("image".to_owned(), ColumnKind::Vector(4)));
            assert_eq!(table.rows(), 2);
            let values = vec![0.0, 1.0, 2.0, 3.0, 252.0, 253.0, 254.0, 255.0];
            let expected = [Column::Vectors { width: 4, values }, Column::Numbers(vec![7.0, 3.0])];
            assert_eq!(cells(&table).columns, expected);
            assert_eq!(cells(&table).columns, expected);
        }
    }

    #[test]
    fn labels_may_be_of_another_type_and_may_be_absent() {
        let folder = Folder::new();
        let path = folder.file("train-images-idx3-ubyte.gz", &images());
        assert_eq!(columns(&TableFile::open(&path).unwrap()).len(), 1);
        folder.file("train-labels-idx1-short.gz", &idx(0x0b, &[2], &[1, 0, 0xff, 0xff]));
        let table = TableFile::open(&path).unwrap();
        let batch = table.batches().unwrap().next().unwrap().unwrap();
        assert_eq!(batch.column_by_name("label").unwrap().as_primitive::<Int16Type>().values(), &[256, -1]);
        let labels = table.select(["label"]).unwrap();
        assert_eq!(cells(&labels).columns, [Column::Numbers(vec![256.0, -1.0])]);
    }

    #[test]
    fn elements_of_every_type_are_numbers() {
        let elements: [(u8, Vec<u8>); 5] = [
            (0x09, [1_i8, -2].iter().flat_map(|x| x.to_be_bytes()).collect()),
            (0x0b, [1_i16, -2].iter().flat_map(|x| x.to_be_bytes()).collect()),
            (0x0c, [1_i32, -2].iter().flat_map(|x| x.to_be_bytes()).collect()),
            (0x0d, [1_f32, -2.0].iter().flat_map(|x| x.to_be_bytes()).collect()),
            (0x0e, [1_f64, -2.0].iter().flat_map(|x| x.to_be_bytes()).collect()),
        ];
        for (code, bytes) in elements {
            let folder = Folder::new();
            folder.file("labels-idx1", &idx(code, &[1], &bytes[..bytes.len() / 2]));
            let table = TableFile::open(&folder.file("images-idx2", &idx(code, &[1, 2], &bytes))).unwrap();
            let expected =
                [Column::Vectors { width: 2, values: vec![1.0, -2.0] }, Column::Numbers(vec![1.0])];
            assert_eq!(cells(&table).columns, expected);
        }
    }

    #[test]
    fn wide_images_come_in_small_batches() {
        let folder = Folder::new();
        let (rows, width) = (2500_u32, 1024_u32);
        let pixels: Vec<u8> = (0..rows).flat_map(|row| vec![row as u8; width as usize]).collect();
        let table = TableFile::open(&folder.file("i.gz", &idx(8, &[rows, width], &pixels))).unwrap();
        let batches: Vec<RecordBatch> = table.batches().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [1024, 1024, 452]);
        let last = batches[2].column(0).as_fixed_size_list().value(451);
        assert_eq!(last.as_primitive::<UInt8Type>().value(0), (rows - 1) as u8);
    }

    #[test]
    fn errors_say_what_does_not_fit() {
        let image_error = |bytes: &[u8]| {
            let folder = Folder::new();
            error(&folder.file("train-images-idx3-ubyte.gz", bytes))
        };
        let whole = images();
        let cut = "the file is cut short: its header says 2 rows, but it ends in row 2";
        assert_eq!(image_error(&whole[..whole.len() - 1]), cut);
        assert_eq!(
            image_error(&[&whole[..], &[0]].concat()),
            "the file goes on after the 2 rows that its header says"
        );
        assert_eq!(image_error(&whole[..9]), "the IDX header is cut short");
        assert_eq!(
            image_error(&idx(8, &[2], &[1, 2])),
            "an IDX file of one dimension; the table is the file of the images"
        );
        assert_eq!(image_error(&idx(8, &[0, 2, 2], &[])), "there are no images");
        assert_eq!(image_error(&idx(8, &[2, 0, 2], &[])), "the images have no pixels");
        assert_eq!(image_error(&idx(7, &[2, 2], &[])), "neither CSV nor Parquet nor IDX");
        assert_eq!(image_error(&idx(8, &[], &[])), "an IDX file without dimensions");
        for shape in [&[1, 4, 1][..], &[1, 1, 2, 2]] {
            assert!(image_error(&idx(8, shape, &[1, 2, 3, 4])).contains("their 4 pixels as a row"));
        }
        assert!(image_error(&idx(8, &[1, u32::MAX, 2], &[])).contains("too many"));
        assert!(
            image_error(&idx(0x0d, &[1, 1], &f32::NAN.to_be_bytes()))
                .starts_with("row 1, column `image`: NaN")
        );

        let folder = Folder::new();
        let path = folder.file("train-images-idx3-ubyte", &whole);
        folder.file("train-labels-idx1-ubyte", &idx(8, &[3], &[1, 2, 3]));
        assert!(error(&path).ends_with("train-labels-idx1-ubyte: 3 labels for 2 images"), "{}", error(&path));
        folder.file("train-labels-idx1-ubyte", &idx(8, &[2, 1], &[1, 2]));
        assert!(error(&path).ends_with("labels have one dimension, but this file has 2"));
        folder.file("train-labels-idx1-ubyte", &idx(8, &[2], &[1]));
        assert!(error(&path).ends_with("its header says 2 rows, but it ends in row 2"));
        let mut packed = gzip(&whole);
        packed.truncate(packed.len() - 12);
        std::fs::write(&path, packed).unwrap();
        folder.file("train-labels-idx1-ubyte", &idx(8, &[2], &[1, 2]));
        assert!(error(&path).contains("cut short"), "{}", error(&path));
    }
}

mod of_real_data {
    use super::*;

    /// A real file, if there is one on this machine.
    fn data(name: &str) -> Option<TableFile> {
        let near = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        let folder = std::env::var_os("UNDERTONE_DATA").map_or_else(near, PathBuf::from);
        let path = folder.join(name);
        if !path.exists() {
            eprintln!("skipped: there is no {name}; UNDERTONE_DATA names the folder of the data sets");
            return None;
        }
        Some(TableFile::open(&path).unwrap())
    }

    /// The columns by kind, and the number of features of the encoder.
    fn shape(table: &TableFile, label: &str) -> (usize, usize, usize) {
        let columns = feature_columns(table.schema(), &[label]).unwrap();
        let mut fit = EncoderFit::new(&columns, EncoderOptions::default()).unwrap();
        let mut rows = 0;
        for batch in table.batches().unwrap() {
            let batch = features(&batch.unwrap(), &columns).unwrap();
            rows += batch.rows;
            fit.observe(&batch).unwrap();
        }
        assert_eq!(rows as u64, table.rows());
        let encoder = fit.finish().unwrap();
        (rows, encoder.rows().dense_width(), encoder.rows().sparse_width())
    }

    #[test]
    fn the_data_sets_have_their_published_sizes() {
        let sets = [
            ("mnist/t10k-images-idx3-ubyte.gz", "label", (10_000, 784, 0)),
            ("omniglot-small/test-images-idx3-ubyte.gz", "label", (1210, 784, 0)),
            ("clinc150/test.csv.gz", "intent", (4500, 0, 1 << 14)),
            ("letter/letter.csv.gz", "letter", (20_000, 16, 0)),
            ("ml-1m/ratings.parquet", "rating", (999_964, 2, 0)),
            // 8 categories of 9, 16, 7, 15, 6, 5, 2 and 42 levels and 6 numbers
            ("adult/train.csv.gz", "income", (32_561, 108, 0)),
        ];
        for (name, label, expected) in sets {
            if let Some(table) = data(name) {
                assert_eq!(shape(&table, label), expected, "{name}");
            }
        }
    }
}
