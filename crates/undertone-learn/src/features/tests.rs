//! Encoders as a whole: from cells to rows, to a file and back.

use super::*;
use crate::LearnError;
use undertone_report::{CategoryWords, ColumnKind, EncodingWords, FeatureColumn, Stretch, TextWords};

fn column(name: &str, kind: ColumnKind) -> FeatureColumn {
    FeatureColumn { name: name.into(), kind }
}

fn columns() -> Vec<FeatureColumn> {
    vec![
        column("age", ColumnKind::Number),
        column("colour", ColumnKind::Words),
        column("note", ColumnKind::Words),
        column("photo", ColumnKind::Vector(2)),
    ]
}

/// Ages go through 20, 40 and nothing, colours through red and blue, and every note is another.
fn batch(rows: std::ops::Range<usize>) -> Batch {
    let ages = rows.clone().map(|row| [20.0, 40.0, f64::NAN][row % 3]).collect();
    let colours = rows.clone().map(|row| [Some("red"), Some("blue")][row % 2]).collect();
    let notes: Vec<String> = rows.clone().map(|row| format!("this is note number {row}")).collect();
    let photos = rows.clone().flat_map(|row| [row as f32, 0.0]).collect();
    Batch {
        columns: vec![
            Column::Numbers(ages),
            Column::Words(colours),
            Column::Words(notes.iter().map(|note| Some(note.as_str())).collect()),
            Column::Vectors { width: 2, values: photos },
        ],
        rows: rows.len(),
    }
}

fn options(overrides: &[&str]) -> EncoderOptions {
    let overrides = overrides.iter().map(|text| text.parse().unwrap()).collect();
    EncoderOptions { overrides, ..EncoderOptions::default() }
}

fn fit(overrides: &[&str], batches: &[Batch]) -> Encoder {
    let mut fit = EncoderFit::new(&columns(), options(overrides)).unwrap();
    for batch in batches {
        fit.observe(batch).unwrap();
    }
    fit.finish().unwrap()
}

fn encode(encoder: &Encoder, batch: &Batch) -> Rows {
    let mut rows = encoder.rows();
    encoder.encode(batch, &mut rows).unwrap();
    rows
}

#[test]
fn a_row_is_its_columns_side_by_side() {
    let encoder = fit(&[], &[batch(0..12)]);
    let names = encoder.feature_names();
    assert_eq!(
        names[..6],
        ["age", "age is missing", "colour = blue", "colour = red", "photo[0]", "photo[1]"]
    );
    assert_eq!(names[6], "note #0");
    assert_eq!((names.len(), encoder.width()), (6 + (1 << 14), 6 + (1 << 14)));
    let rows = encode(&encoder, &batch(0..3));
    assert_eq!(rows.get(0).dense, [-1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(rows.get(1).dense, [1.0, 0.0, 1.0, 0.0, 1.0 / 11.0, 0.0]);
    assert_eq!(rows.get(2).dense, [0.0, 1.0, 0.0, 1.0, 2.0 / 11.0, 0.0]);
    // Five words and four pairs of neighbours
    assert!(rows.iter().all(|row| row.sparse.len() == 9));
}

#[test]
fn batches_one_after_the_other_are_as_good_as_one() {
    let whole = fit(&[], &[batch(0..100)]);
    let parts = fit(&[], &[batch(0..7), batch(7..7), batch(7..60), batch(60..100)]);
    assert_eq!(whole, parts);
    let mut rows = whole.rows();
    whole.encode(&batch(0..30), &mut rows).unwrap();
    whole.encode(&batch(30..100), &mut rows).unwrap();
    assert_eq!(rows, encode(&whole, &batch(0..100)));
}

#[test]
fn an_encoder_reads_back_bit_for_bit() {
    let mut skewed = batch(0..50);
    skewed.columns[0] = Column::Numbers((0..50).map(|row| 1.0 / f64::from(row + 1)).collect());
    for overrides in [&[][..], &["age=category", "note=category"], &["colour=text", "photo=skip"]] {
        let encoder = fit(overrides, &[skewed.clone()]);
        let text = serde_json::to_string(&encoder).unwrap();
        let back: Encoder = serde_json::from_str(&text).unwrap();
        assert_eq!(back, encoder);
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }
}

#[test]
fn a_file_that_no_fit_has_written_is_refused() {
    let age = |rule: &str| format!(r#"[{{"column":{{"name":"age","kind":"number"}},"encoding":{rule}}}]"#);
    let note = |rule: &str| format!(r#"[{{"column":{{"name":"note","kind":"words"}},"encoding":{rule}}}]"#);
    let read = |text: &str| serde_json::from_str::<Encoder>(text).map_err(|error| error.to_string());
    assert!(read(&age(r#"{"number":{"mean":1.0,"scale":1.0,"missing":false}}"#)).is_ok());
    let cases = [
        (age(r#"{"number":{"mean":1.0,"scale":-1.0,"missing":false}}"#), "finite"),
        (age(r#"{"text":{"texts":1,"hits":[1]}}"#), "another kind"),
        (age(r#"{"vector":{"width":2,"divisor":1.0}}"#), "another kind"),
        (age(r#"{"magic":{}}"#), "magic"),
        (note(r#"{"text":{"texts":1,"hits":[]}}"#), "bucket"),
        (note(r#"{"text":{"texts":1,"hits":[2]}}"#), "more texts"),
        (note(r#"{"category":{"hashed":{"buckets":0}}}"#), "bucket"),
        (note(r#"{"category":{"levels":{"levels":["b","a"],"other":true,"missing":true}}}"#), "in order"),
    ];
    for (text, problem) in cases {
        let error = read(&text).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn numbers_that_are_names_can_be_a_category() {
    let columns = [column("user", ColumnKind::Number)];
    let mut fit = EncoderFit::new(&columns, options(&["user=category"])).unwrap();
    let users = |cells: &[f64]| Batch { columns: vec![Column::Numbers(cells.to_vec())], rows: cells.len() };
    for _ in 0..5 {
        fit.observe(&users(&[17.0, 2.5, -0.0, 0.0, f64::NAN])).unwrap();
    }
    let encoder = fit.finish().unwrap();
    assert_eq!(encoder.feature_names(), ["user = 0", "user = 17", "user = 2.5", "user is missing"]);
    let rows = encode(&encoder, &users(&[17.0, f64::NAN, 3.0]));
    assert_eq!(rows.dense_block(0..3), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn many_levels_and_texts_share_the_sparse_part() {
    let columns =
        [column("a", ColumnKind::Words), column("b", ColumnKind::Words), column("c", ColumnKind::Words)];
    let levels: Vec<String> = (0..100).map(|level| format!("level{level:02}")).collect();
    let words: Words = levels.iter().map(|level| Some(level.as_str())).collect();
    let all = Batch { columns: vec![Column::Words(words); 3], rows: 100 };
    let options = EncoderOptions { buckets: 200, least_level_count: 1, ..options(&["b=text"]) };
    let mut fit = EncoderFit::new(&columns, options).unwrap();
    fit.observe(&all).unwrap();
    let encoder = fit.finish().unwrap();
    assert_eq!((encoder.rows().dense_width(), encoder.rows().sparse_width()), (0, 100 + 200 + 100));
    let names = encoder.feature_names();
    for (row, features) in encode(&encoder, &all).iter().enumerate() {
        let found: Vec<&str> =
            features.sparse.iter().map(|&(feature, _)| names[feature as usize].as_str()).collect();
        assert_eq!(found[0], format!("a = level{row:02}"));
        assert!(found[1].starts_with("b #"));
        assert_eq!(found[2], format!("c = level{row:02}"));
    }
}

#[test]
fn skipped_columns_are_not_asked_for_again() {
    let encoder = fit(&["note=skip", "age=skip"], &[batch(0..12)]);
    assert_eq!(
        encoder.columns().iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["colour", "photo"]
    );
    let mut fewer = batch(0..12);
    fewer.columns.remove(2);
    fewer.columns.remove(0);
    assert_eq!(encode(&encoder, &fewer).dense_width(), 4);
}

#[test]
fn long_cells_that_differ_are_texts_and_long_cells_that_repeat_are_a_category() {
    let is_text = |cells: &[String]| {
        let words = cells.iter().map(|cell| Some(cell.as_str())).collect();
        let mut fit = EncoderFit::new(&[column("note", ColumnKind::Words)], options(&[])).unwrap();
        fit.observe(&Batch { columns: vec![Column::Words(words)], rows: cells.len() }).unwrap();
        fit.finish().unwrap().width() == 1 << 14
    };
    let cells = |count: usize, distinct: usize, words: &str| -> Vec<String> {
        (0..count).map(|row| format!("{words}{}", row % distinct)).collect()
    };
    assert!(is_text(&cells(100, 100, "a note on ")));
    assert!(is_text(&cells(10_000, 1001, "a note on ")));
    assert!(!is_text(&cells(10_000, 1000, "a note on ")));
    assert!(!is_text(&cells(100, 100, "two words")));
    assert!(!is_text(&[]));
}

#[test]
fn a_table_with_other_columns_is_refused_by_name() {
    let encoder = fit(&[], &[batch(0..12)]);
    let mut more = columns();
    more.insert(0, column("extra", ColumnKind::Words));
    assert!(encoder.check_columns(&more).is_ok());
    let refused = |change: fn(&mut Vec<FeatureColumn>)| {
        let mut columns = columns();
        change(&mut columns);
        encoder.check_columns(&columns).unwrap_err().to_string()
    };
    assert_eq!(refused(|columns| drop(columns.remove(1))), "there is no column `colour`");
    assert_eq!(
        refused(|columns| columns[0].kind = ColumnKind::Words),
        "column `age`: it holds words, but numbers are needed"
    );
    assert_eq!(
        refused(|columns| columns[3].kind = ColumnKind::Vector(3)),
        "column `photo`: it holds vectors of 3 numbers, but vectors of 2 numbers are needed"
    );
}

#[test]
fn bad_cells_are_refused_by_row_and_column_and_change_nothing() {
    let encoder = fit(&[], &[batch(0..12)]);
    let mut fitting = EncoderFit::new(&columns(), options(&[])).unwrap();
    fitting.observe(&batch(0..12)).unwrap();
    let mut rows = encode(&encoder, &batch(0..2));
    let before = rows.clone();
    let mut refused = |change: fn(&mut Batch)| {
        let mut batch = batch(0..4);
        change(&mut batch);
        let error = |result: Result<(), LearnError>| result.unwrap_err().to_string();
        let errors = (error(encoder.encode(&batch, &mut rows)), error(fitting.observe(&batch)));
        assert_eq!(rows, before);
        errors
    };
    let (encoding, fit) =
        refused(|batch| batch.columns[0] = Column::Numbers(vec![1.0, 2.0, f64::INFINITY, 4.0]));
    assert_eq!(encoding, "row 3, column `age`: inf is not a finite number");
    assert_eq!(fit, "row 15, column `age`: inf is not a finite number");
    let nan = |batch: &mut Batch| {
        batch.columns[3] =
            Column::Vectors { width: 2, values: vec![0.0, 1.0, 2.0, f32::NAN, 4.0, 5.0, 6.0, 7.0] };
    };
    assert_eq!(refused(nan).0, "row 2, column `photo`: NaN is not a finite number");
    let short = refused(|batch| batch.columns[0] = Column::Numbers(vec![1.0])).0;
    assert_eq!(short, "column `age`: it has 1 cells and the table 4 rows");
    let other = refused(|batch| batch.columns.swap(0, 1)).0;
    assert_eq!(other, "column `age`: it holds words, but numbers are needed");
    let fewer = refused(|batch| drop(batch.columns.pop())).0;
    assert_eq!(fewer, "3 column(s) given where 4 are encoded");
}

#[test]
fn choices_that_make_no_sense_are_refused() {
    let refused =
        |overrides: &[&str]| EncoderFit::new(&columns(), options(overrides)).unwrap_err().to_string();
    assert_eq!(refused(&["weight=skip"]), "there is no column `weight`");
    assert_eq!(refused(&["age=text"]), "column `age`: numbers cannot be treated as text");
    assert_eq!(refused(&["note=number"]), "column `note`: words cannot be treated as number");
    assert_eq!(
        refused(&["photo=category"]),
        "column `photo`: vectors of 2 numbers cannot be treated as category"
    );
    let no_buckets = EncoderOptions { buckets: 0, ..EncoderOptions::default() };
    let error = EncoderFit::new(&columns(), no_buckets).unwrap_err().to_string();
    assert_eq!(error, "the number of buckets is 0, but has to be at least one");
}

#[test]
fn the_words_of_a_fitted_encoder_make_the_same_one() {
    let skip_texts = fit(&["note=skip"], &[batch(0..100)]);
    let again = Encoder::from_words(skip_texts.columns(), &skip_texts.words()).unwrap();
    assert_eq!(again, skip_texts);
    let names = fit(&["age=category", "note=category"], &[batch(0..100)]);
    assert_eq!(Encoder::from_words(names.columns(), &names.words()).unwrap(), names);
    // Every divisor comes back from its reciprocal.
    for place in 1..=1000_u16 {
        let photo = Column::Vectors { width: 2, values: vec![f32::from(place) * 0.37, 0.0] };
        let columns = vec![Column::Numbers(vec![1.0]), words("a"), words("b"), photo];
        let fitted = fit(&["note=skip"], &[Batch { columns, rows: 1 }]);
        assert_eq!(Encoder::from_words(fitted.columns(), &fitted.words()).unwrap(), fitted, "{place}");
    }
}

fn words(cell: &str) -> Column {
    Column::Words([Some(cell)].into_iter().collect())
}

#[test]
fn a_range_goes_from_minus_one_to_one_and_values_may_have_any_order() {
    let said = [
        EncodingWords::Number(Stretch::Range { low: 20.0, high: 40.0, missing: true }),
        EncodingWords::Category(CategoryWords::Values {
            values: vec!["red".into(), "blue".into()],
            other: true,
            missing: false,
        }),
        EncodingWords::Text(TextWords { buckets: 8 }),
        EncodingWords::Vector(Stretch::Range { low: -1.0, high: 3.0, missing: false }),
    ];
    let encoder = Encoder::from_words(&columns(), &said).unwrap();
    let names = encoder.feature_names();
    let dense = [
        "age",
        "age is missing",
        "colour = blue",
        "colour = red",
        "colour is another",
        "photo[0]",
        "photo[1]",
    ];
    assert_eq!(names[..7], dense);
    let rows = encode(&encoder, &batch(0..3));
    let dense = |row| rows.get(row).dense.to_vec();
    assert_eq!(dense(0), [-1.0, 0.0, 0.0, 1.0, 0.0, -0.5, -0.5]);
    assert_eq!(dense(1), [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, -0.5]);
    assert_eq!(dense(2), [0.0, 1.0, 0.0, 1.0, 0.0, 0.5, -0.5]);
    // Words of a text count alike, and it has length one.
    let sparse: f32 = rows.get(0).sparse.iter().map(|(_, x)| x * x).sum();
    assert!((sparse - 1.0).abs() < 1e-6, "{sparse}");
    let file = serde_json::to_string(&encoder).unwrap();
    assert_eq!(serde_json::from_str::<Encoder>(&file).unwrap(), encoder);
}

#[test]
fn words_that_do_not_fit_their_column_are_refused_by_its_name() {
    let number = EncodingWords::Number(Stretch::Standard { mean: 0.0, scale: 1.0, missing: false });
    let columns = [column("age", ColumnKind::Number), column("colour", ColumnKind::Words)];
    let error = Encoder::from_words(&columns, std::slice::from_ref(&number)).unwrap_err();
    assert!(matches!(error, LearnError::Columns { found: 1, expected: 2 }), "{error}");
    let error = Encoder::from_words(&columns, &[number.clone(), number]).unwrap_err().to_string();
    assert_eq!(error, "column `colour`: its encoding is `number`, which is for another kind of cells");
}
