//! The reports of the vectors, and what is done to them so that they are refused.

use super::records::stated_otherwise;
use super::tasks::{
    columns, named, numbered, of_classes, of_numbers, of_records, survey, task, with_priors,
    with_rare_spellings, with_top,
};
use super::{
    Batch, Batches, Documents, Outcome, RefusedBytes, RefusedDocument, RefusedJson, Valid, Vectors,
    fields_of, hex,
};
use undertone_privacy::survey::SurveyReport;
use undertone_privacy::vector::{CodebookReport, VectorReport};
use undertone_report::{
    CategoryWords, Cell, EncodingWords, GradientReport, LearnerWords, MOST_BYTES, MOST_WORDS, MomentWords,
    NumberWords, OnlineWords, OrderWords, RecordWords, Report, ReportFormat, ReportId, SurveyWords, Task,
    TextWords, batch,
};

/// The bytes before the cells.
const HEADER: usize = 58;

pub(crate) fn all() -> Vec<(&'static str, Vectors)> {
    vec![
        ("cells", cells()),
        ("number", number()),
        ("wide-number", wide_number()),
        ("mask", mask()),
        ("fixed-set", fixed_set()),
        ("top", top()),
        ("prior", prior()),
        ("spelling", spelling()),
        ("gradient", gradient()),
        ("codeword", codeword()),
        ("noisy-number", noisy_number()),
        ("one-bit", one_bit()),
        ("survey-tables", survey_tables()),
        ("survey-moments", survey_moments()),
    ]
}

struct Maker {
    format: ReportFormat,
    vectors: Vectors,
}

impl Maker {
    fn new(about: &str, task: &Task) -> Self {
        let vectors = Vectors {
            about: about.into(),
            task_canonical: task.to_json(),
            task_id: task.id().to_string(),
            task_toml: task.to_toml(),
            reports: Vec::new(),
            refused_bytes: Vec::new(),
            refused_json: Vec::new(),
        };
        Self { format: ReportFormat::new(task).unwrap(), vectors }
    }

    fn valid(&mut self, about: &str, report: &Report) -> Vec<u8> {
        let bytes = self.format.encode(report).unwrap();
        let json = self.format.to_json(report).unwrap();
        let (about, fields) = (about.into(), fields_of(report));
        self.vectors.reports.push(Valid { about, fields, bytes: hex(&bytes), json });
        bytes
    }

    fn refused(&mut self, about: &str, reason: &str, bytes: &[u8]) {
        let (about, reason) = (about.into(), reason.into());
        self.vectors.refused_bytes.push(RefusedBytes { about, bytes: hex(bytes), reason });
    }

    /// Bytes with those from `place` on replaced.
    fn changed(&mut self, about: &str, reason: &str, valid: &[u8], place: usize, bytes: &[u8]) {
        let mut changed = valid.to_vec();
        changed[place..place + bytes.len()].copy_from_slice(bytes);
        self.refused(about, reason, &changed);
    }

    fn refused_json(&mut self, about: &str, reason: &str, json: &str) {
        let (about, reason) = (about.into(), reason.into());
        self.vectors.refused_json.push(RefusedJson { about, json: json.into(), reason });
    }
}

fn report(features: Vec<Cell>, members: &[u32]) -> Report {
    Report {
        id: ReportId(std::array::from_fn(|place| 0x10 * place as u8 + 1)),
        time: 500_007,
        tier: 0,
        features,
        members: members.to_vec(),
        among: Vec::new(),
        number: None,
        gradient: None,
        survey: None,
    }
}

/// Cells of all kinds, and whatever can be wrong with them and with what comes before.
fn cells() -> Vectors {
    let task = task("rr", &[1.0, 0.5], named(&["low", "middle", "high"]), &columns());
    let mut make = Maker::new("Cells of each kind, two tiers, three classes, one label in a report", &task);
    let words = |words: &str| Cell::Words(words.into());
    let usual = report(
        vec![Cell::Number(38.5), words("Ulm"), words("überall"), Cell::Vector(vec![0.0, 0.1, 255.0])],
        &[2],
    );
    let bytes = make.valid("The usual case", &usual);
    let empty = vec![Cell::Missing, Cell::Missing, Cell::Missing, Cell::Vector(vec![-1.0; 3])];
    make.valid("Empty cells, second tier", &Report { tier: 1, ..report(empty, &[0]) });
    let extreme =
        vec![Cell::Number(f64::MIN), words(""), words(&"x".repeat(253)), Cell::Vector(vec![f32::MAX; 3])];
    make.valid("Words of 0 and 253 bytes, extreme numbers", &report(extreme, &[1]));
    let tiny =
        vec![Cell::Number(5e-324), words("\u{0}\"\\"), words(&"é".repeat(127)), Cell::Vector(vec![1e-45; 3])];
    make.valid("Words of 254 bytes, the smallest numbers, characters that JSON escapes", &report(tiny, &[1]));
    let (mut first, mut last) = (usual.clone(), usual.clone());
    (first.time, last.time) = (500_000, 500_023);
    make.valid("The first unit of time", &first);
    make.valid("The last unit of time", &last);

    make.refused("Nothing", "truncated", &[]);
    make.refused("The header only", "truncated", &bytes[..HEADER]);
    make.refused("A byte too few", "truncated", &bytes[..bytes.len() - 1]);
    make.refused("A byte too many", "trailing-bytes", &[&bytes[..], &[0]].concat());
    make.changed("Version 2", "unknown-version", &bytes, 0, &[0xa2]);
    make.changed("JSON", "unknown-version", &bytes, 0, b"{");
    make.changed("One bit of the task's id", "other-task", &bytes, 32, &[bytes[32] ^ 1]);
    make.changed("A unit of time too early", "outside-window", &bytes, 49, &499_999_u64.to_be_bytes());
    make.changed("A unit of time too late", "outside-window", &bytes, 49, &500_024_u64.to_be_bytes());
    make.changed("The end of time", "outside-window", &bytes, 49, &[0xff; 8]);
    make.changed("A third tier", "unknown-tier", &bytes, 57, &[2]);
    make.changed("Neither there nor missing", "bad-presence", &bytes, HEADER, &[2]);
    make.changed("Not a number", "not-finite", &bytes, HEADER + 1, &f64::NAN.to_be_bytes());
    make.changed("Infinity", "not-finite", &bytes, HEADER + 1, &f64::INFINITY.to_be_bytes());
    make.changed("Minus infinity", "not-finite", &bytes, HEADER + 1, &f64::NEG_INFINITY.to_be_bytes());
    make.changed("Minus zero", "negative-zero", &bytes, HEADER + 1, &(-0f64).to_be_bytes());
    make.changed("Half a character", "not-utf8", &bytes, HEADER + 10, &[0xc3]);
    make.changed("A surrogate", "not-utf8", &bytes, HEADER + 10, &[0xed, 0xa0, 0x80]);
    make.changed("A length beyond the end", "truncated", &bytes, HEADER + 9, &[253]);
    let long =
        |length: u16| [&bytes[..HEADER + 9], &[0xfe], &length.to_be_bytes(), &bytes[HEADER + 10..]].concat();
    make.refused("Three bytes of length where one is enough", "length-not-minimal", &long(3));
    make.refused("The same for 253, the most that one byte says", "length-not-minimal", &long(253));
    make.refused("A long length beyond the end", "truncated", &long(u16::MAX));
    let photo = bytes.len() - 13;
    make.changed("Not a number in a vector", "not-finite", &bytes, photo, &f32::NAN.to_be_bytes());
    make.changed("Minus zero in a vector", "negative-zero", &bytes, photo, &(-0f32).to_be_bytes());
    make.changed("A fourth class", "unknown-label", &bytes, bytes.len() - 1, &[3]);
    make.changed("Class 255", "unknown-label", &bytes, bytes.len() - 1, &[255]);

    refused_documents(&mut make, &usual);
    make.vectors
}

/// What can be wrong with a report as JSON, which is else `usual`.
fn refused_documents(make: &mut Maker, usual: &Report) {
    let json = make.format.to_json(usual).unwrap();
    let places = json.replace(r#"["high"]"#, "[2]");
    assert_eq!(make.format.from_json(&places).unwrap(), *usual, "a class may be named by its place");
    for (about, reason, from, to) in [
        ("Nothing at all", "malformed-json", json.as_str(), ""),
        ("A comma too many", "malformed-json", r#""tier":0"#, r#""tier":0,"#),
        ("A field too many", "malformed-json", r#""tier":0"#, r#""tier":0,"more":1"#),
        ("A field too few", "malformed-json", r#""tier":0,"#, ""),
        ("A field twice", "malformed-json", r#""tier":0"#, r#""tier":0,"tier":0"#),
        ("Version 2", "malformed-json", r#""version":1"#, r#""version":2"#),
        ("A tier below zero", "malformed-json", r#""tier":0"#, r#""tier":-1"#),
        ("A time with a fraction", "malformed-json", r#""time":500007"#, r#""time":500007.5"#),
        ("An id that is too short", "malformed-json", r#""id":"01"#, r#""id":""#),
        ("An id in upper case", "malformed-json", "a1b1c1", "A1B1C1"),
        ("A number too large", "malformed-json", "38.5", "1e999"),
        ("A column twice", "repeated-column", r#""age":38.5"#, r#""age":38.5,"age":38.5"#),
        ("A column too few", "missing-column", r#""age":38.5,"#, ""),
        ("A column too many", "unknown-column", r#""age":38.5"#, r#""age":38.5,"name":"x""#),
        ("Words for a number", "wrong-kind", r#""age":38.5"#, r#""age":"38.5""#),
        ("A vector that is too short", "wrong-kind", ",255.0]", "]"),
        ("A vector that is missing", "wrong-kind", "[0.0,0.10000000149011612,255.0]", "null"),
        ("A number too large for a vector", "not-finite", ",255.0]", ",1e39]"),
        ("A class that there is not", "unknown-class", r#""high""#, r#""High""#),
        ("A place that there is not", "unknown-label", r#"["high"]"#, "[3]"),
        ("Two classes", "set-size", r#"["high"]"#, r#"["high","low"]"#),
        ("A class twice", "labels-not-rising", r#"["high"]"#, r#"["high",2]"#),
        (
            "Classes to answer among that nobody chose",
            "wrong-choice",
            r#"["high"]"#,
            r#"["high"],"among":["low"]"#,
        ),
        (
            "A list of no classes to answer among, where nobody chose any",
            "wrong-choice",
            r#"["high"]"#,
            r#"["high"],"among":[]"#,
        ),
        (
            "Classes to answer among that are null",
            "malformed-json",
            r#"["high"]"#,
            r#"["high"],"among":null"#,
        ),
        ("More labels than classes", "labels-not-rising", r#"["high"]"#, "[0,0,0,0,0,0,0,0,0]"),
        ("A label that is a list", "malformed-json", r#"["high"]"#, "[[2]]"),
        ("Labels that are an object", "malformed-json", r#"["high"]"#, r#"{"high":2}"#),
        ("A vector that is too long", "wrong-kind", ",255.0]", ",255.0,0,0,0,0,0,0,0,0,0]"),
        ("A vector with words in it", "malformed-json", ",255.0]", r#","255.0"]"#),
        ("A third tier", "unknown-tier", r#""tier":0"#, r#""tier":2"#),
        ("A unit of time too late", "outside-window", "500007", "500024"),
    ] {
        let changed = json.replacen(from, to, 1);
        assert_ne!(changed, json, "{about}");
        make.refused_json(about, reason, &changed);
    }
    for (about, reason, from, to) in [
        ("Words for a number, a unit of time too late", "outside-window", "500007", "500024"),
        ("Words for a number, in a third tier", "unknown-tier", r#""tier":0"#, r#""tier":2"#),
        ("Words for a number, and a class that there is not", "wrong-kind", "high", "High"),
    ] {
        let changed = json.replacen(r#""age":38.5"#, r#""age":"38.5""#, 1).replacen(from, to, 1);
        make.refused_json(about, reason, &changed);
    }
    let array = format!(
        r#"[1,"{}","{}",500007,0,{{"age":38.5,"town":"Ulm","note":"überall","photo":[0.0,0.1,255.0]}},["high"]]"#,
        make.format.task_id(),
        usual.id
    );
    make.refused_json("An array of the fields in their order", "malformed-json", &array);
    let other = json.replace(&make.format.task_id().to_string(), &"00".repeat(32));
    make.refused_json("Another task", "other-task", &other);
}

/// One label of two in one byte, behind words whose length takes one byte or three.
fn number() -> Vectors {
    let column = columns().swap_remove(2);
    let task = task("rr", &[2.0], named(&["a", "b"]), &[column]);
    let mut make = Maker::new("One column of words, two classes", &task);
    let said = |words: usize| report(vec![Cell::Words("y".repeat(words))], &[1]);
    make.valid("Short words", &said(3));
    make.valid("300 bytes of words", &said(300));
    assert_eq!(make.format.encode(&said(MOST_WORDS + 1)).unwrap_err().reason(), "words-too-long");
    let bytes = make.format.encode(&said(3)).unwrap();
    make.changed("The third of two classes", "unknown-label", &bytes, bytes.len() - 1, &[2]);
    make.vectors
}

/// One label of 300 in two bytes.
fn wide_number() -> Vectors {
    let task = task("rr", &[3.0], numbered(300), &[]);
    let mut make = Maker::new("300 classes: a label takes two bytes", &task);
    let bytes = make.valid("Class 0", &report(vec![], &[0]));
    make.valid("Class 255", &report(vec![], &[255]));
    make.valid("Class 256", &report(vec![], &[256]));
    make.valid("Class 299", &report(vec![], &[299]));
    make.changed("Class 300", "unknown-label", &bytes, HEADER, &300_u16.to_be_bytes());
    make.refused("One byte of label only", "truncated", &bytes[..=HEADER]);
    make.vectors
}

/// Any number of labels of ten.
fn mask() -> Vectors {
    let task = task("bits", &[1.0], named(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]), &[]);
    let mut make = Maker::new("Ten classes, any number of them in a report: two bytes of mask", &task);
    let bytes = make.valid("Classes 0, 7 and 8", &report(vec![], &[0, 7, 8]));
    make.valid("None", &report(vec![], &[]));
    make.valid("All", &report(vec![], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    make.changed("An eleventh class", "stray-bits", &bytes, HEADER + 1, &[0b100]);
    make.changed("The last bit of the last byte", "stray-bits", &bytes, HEADER + 1, &[0x80]);
    make.refused("One byte of mask only", "truncated", &bytes[..=HEADER]);
    make.refused("Three bytes of mask", "trailing-bytes", &[&bytes[..], &[0]].concat());
    make.vectors
}

/// Exactly four labels of sixteen at ε = 1, one in the tier of ε = 5: there the form is another.
fn fixed_set() -> Vectors {
    let task = task("subset", &[1.0, 5.0], numbered(16), &[]);
    let sizes = [0, 1].map(|tier| {
        let epsilon = undertone_privacy::Epsilon::new([1.0, 5.0][tier]).unwrap();
        task.mechanism_at(epsilon).unwrap().set_size().unwrap()
    });
    assert_eq!(sizes, [4, 1]);
    let mut make = Maker::new(
        "Sixteen classes: sets of four as two bytes of mask in the first tier, one label as a number in the second",
        &task,
    );
    let bytes = make.valid("Four classes", &report(vec![], &[1, 7, 8, 15]));
    let single = make.valid("One class, in the second tier", &Report { tier: 1, ..report(vec![], &[9]) });
    make.changed("Three classes", "set-size", &bytes, HEADER, &[0b111, 0]);
    make.changed("Five classes", "set-size", &bytes, HEADER, &[0xff, 0]);
    make.changed("A set in the tier of one label", "trailing-bytes", &bytes, 57, &[1]);
    make.changed("A label in the tier of sets", "truncated", &single, 57, &[0]);
    make.vectors
}

/// One label of the three that are asked about.
fn top() -> Vectors {
    let mut make = Maker::new("Five classes, of which three are answered among", &with_top());
    let bytes = make.valid("Class 4", &report(vec![], &[4]));
    make.changed("A class that is not asked about", "not-asked", &bytes, HEADER, &[3]);
    make.changed("A class that there is not", "unknown-label", &bytes, HEADER, &[5]);
    make.vectors
}

/// One label among those that each person answers among.
fn prior() -> Vectors {
    let mut make =
        Maker::new("Three classes, answered among those that a person's prior makes likely", &with_priors());
    let features = vec![Cell::Number(0.5), Cell::Number(0.375), Cell::Number(0.125)];
    let report = Report { among: vec![0, 1], ..report(features, &[1]) };
    let bytes = make.valid("The second of two", &report);
    let answer = bytes.len() - 2;
    make.changed("Among nothing", "wrong-choice", &bytes, answer, &[0]);
    make.changed("Among classes that there are not", "stray-bits", &bytes, answer, &[0b1011]);
    make.changed("Among others than follow from the cells", "wrong-choice", &bytes, answer, &[0b110]);
    make.changed("Among more than follow from the cells", "wrong-choice", &bytes, answer, &[0b111]);
    make.changed("Not among those", "not-asked", &bytes, answer + 1, &[2]);
    let second = HEADER + 9;
    make.changed("A prior that sums to more", "wrong-choice", &bytes, second + 1, &0.5_f64.to_be_bytes());
    let missing = [&bytes[..second], &[0], &bytes[second + 9..]].concat();
    make.refused("A prior with an empty cell", "wrong-choice", &missing);
    let json = make.format.to_json(&report).unwrap();
    let among = r#","among":["a","b"]"#;
    make.refused_json("Among nothing", "wrong-choice", &json.replace(among, ""));
    make.refused_json("Among an empty list", "wrong-choice", &json.replace(among, r#","among":[]"#));
    let others = json.replace(among, r#","among":["b","c"]"#);
    make.refused_json("Among others than follow from the cells", "wrong-choice", &others);
    make.vectors
}

fn of_gradient(version: u64, said: VectorReport) -> Report {
    Report { gradient: Some(GradientReport { version, said }), ..report(vec![], &[]) }
}

/// A gradient with noise on every coordinate, and nothing of the record.
fn gradient() -> Vectors {
    let mut make = Maker::new("Whole records: integers, none of them beyond honest noise", &of_records());
    let usual = of_gradient(7, VectorReport::Steps(vec![0, -1, 1_048_576, -3_000_000, 5, 1 << 22]));
    let bytes = make.valid("The usual case", &usual);
    let second = VectorReport::Steps(vec![-(1 << 24), 0, 0, 0, 0, 0]);
    make.valid("The second tier, with more noise", &Report { tier: 1, ..of_gradient(u64::MAX, second) });
    make.refused("A byte too few", "truncated", &bytes[..bytes.len() - 1]);
    make.refused("A byte too many", "trailing-bytes", &[&bytes[..], &[0]].concat());
    make.changed("A tier that there is not", "unknown-tier", &bytes, HEADER - 1, &[2]);
    let far = (1i64 << 26).to_be_bytes();
    make.changed("More than any noise", "implausible", &bytes, HEADER + 8, &far);
    make.changed("Beyond 2^40", "implausible", &bytes, HEADER + 8, &i64::MIN.to_be_bytes());
    let json = make.format.to_json(&usual).unwrap();
    let steps = r#""steps":[0,-1,1048576,-3000000,5,4194304]"#;
    for (about, reason, to) in [
        ("An integer too few", "implausible", r#""steps":[0,-1,1048576,-3000000,5]"#),
        ("An integer too many", "implausible", r#""steps":[0,-1,1048576,-3000000,5,4194304,0]"#),
        ("A number that is no integer", "malformed-json", r#""steps":[0,-1,1048576,-3000000,5,0.5]"#),
        ("A seed that is null", "malformed-json", r#""steps":[0,-1,1048576,-3000000,5,4194304],"seed":null"#),
        ("A codeword", "implausible", r#""seed":"00000000000000000000000000000000","index":0"#),
    ] {
        make.refused_json(about, reason, &json.replace(steps, to));
    }
    let also = |more: &str| json.replace(r#""gradient":"#, &format!(r#"{more},"gradient":"#));
    make.refused_json("The record beside it", "wrong-answer", &also(r#""features":{"age":38.5}"#));
    make.refused_json("A label beside it", "wrong-answer", &also(r#""labels":["x"]"#));
    let without = format!("{}}}", &json[..json.find(r#","gradient""#).unwrap()]);
    make.refused_json("No gradient", "malformed-json", &without);
    make.vectors
}

/// A codeword of a public codebook.
fn codeword() -> Vectors {
    let mut make = Maker::new("Whole records: a seed and the place of a codeword", &of_classes());
    let said = CodebookReport { seed: 0x0123_4567_89ab_cdef_0011_2233_4455_6677, index: 255 };
    let usual = of_gradient(0, VectorReport::Codeword(said));
    let bytes = make.valid("The last codeword", &usual);
    make.refused("A byte too few", "truncated", &bytes[..bytes.len() - 1]);
    let json = make.format.to_json(&usual).unwrap();
    make.refused_json("A codeword that there is not", "implausible", &json.replace(":255", ":256"));
    make.refused_json("Half a seed", "malformed-json", &json.replace("0123456789abcdef", ""));
    make.vectors
}

fn of_number(number: i64) -> Report {
    Report { number: Some(number), ..report(vec![Cell::Number(38.5)], &[]) }
}

/// A label that is a number, with Laplace noise: an integer of eight bytes.
fn noisy_number() -> Vectors {
    let mut make = Maker::new("A number with Laplace noise, behind a public column", &of_numbers("laplace"));
    let usual = of_number(-1_048_577);
    let bytes = make.valid("Below the bounds", &usual);
    make.valid("Above them", &of_number(3 << 20));
    make.valid("In the second tier", &Report { tier: 1, ..of_number(0) });
    let answer = bytes.len() - 8;
    make.refused("A byte too few", "truncated", &bytes[..bytes.len() - 1]);
    make.refused("A byte too many", "trailing-bytes", &[&bytes[..], &[0]].concat());
    let noise = |integer: i64| integer.to_be_bytes();
    make.changed("More than any noise", "implausible", &bytes, answer, &noise(1 << 26));
    make.changed("Less than any noise", "implausible", &bytes, answer, &noise(-(1 << 26)));
    make.changed("The least integer", "implausible", &bytes, answer, &noise(i64::MIN));
    let json = make.format.to_json(&usual).unwrap();
    for (about, reason, to) in [
        ("More than any noise", "implausible", r#""number":67108864"#),
        ("A number that is no integer", "malformed-json", r#""number":0.5"#),
        ("An integer with an exponent", "malformed-json", r#""number":1e3"#),
        ("An integer beyond 64 bits", "malformed-json", r#""number":9223372036854775808"#),
        ("No number", "malformed-json", r#""number":null"#),
        ("A label", "wrong-answer", r#""labels":["x"]"#),
        ("A label beside it", "wrong-answer", r#""number":0,"labels":[]"#),
    ] {
        make.refused_json(about, reason, &json.replace(r#""number":-1048577"#, to));
    }
    make.vectors
}

/// A label that is a number, told by one bit, in as many bytes.
fn one_bit() -> Vectors {
    let mut make = Maker::new("A number as one bit", &of_numbers("one-bit"));
    let usual = of_number(1);
    let bytes = make.valid("One", &usual);
    make.valid("Zero", &of_number(0));
    let answer = bytes.len() - 8;
    make.changed("Two", "implausible", &bytes, answer, &2i64.to_be_bytes());
    make.changed("Below zero", "implausible", &bytes, answer, &(-1i64).to_be_bytes());
    let json = make.format.to_json(&usual).unwrap();
    make.refused_json("Two", "implausible", &json.replace(r#""number":1"#, r#""number":2"#));
    make.vectors
}

/// The canonical bytes of numbers and characters of all kinds.
fn spelling() -> Vectors {
    let task = with_rare_spellings();
    let canonical = task.to_json();
    for part in [
        r#""epsilon":1e-6}"#,
        r#"{"mean":-1.5e-300,"scale":1e-6}"#,
        r#"{"mean":-0.0,"scale":0.00001}"#,
        r#"{"low":9999999999999998.0,"high":1e+16}"#,
        r#"{"low":-123456789.125,"high":1.2345678901234568e+22}"#,
        r#"{"mean":5e-324,"scale":0.30000000000000004}"#,
        r#"["\b\t\n\f\r","\u0000\u000b\u001f","#,
        "\"\u{7f}\u{80}\",\"\\\"\\\\/'\",\"é\u{2028}😀\"]",
    ] {
        assert!(canonical.contains(part), "{part}: {canonical}");
    }
    let mut make = Maker::new("Numbers and characters whose spelling in the task is easily mistaken", &task);
    let numbers = [1e-6, 1e-5, 1e16, 1e22, 5e-324].map(Cell::Number).to_vec();
    let bytes = make.valid("The first class", &report(numbers.clone(), &[0]));
    make.valid("The last class", &report(numbers, &[4]));
    make.changed("A sixth class", "unknown-label", &bytes, bytes.len() - 1, &[5]);
    make.vectors
}

pub(crate) fn batches() -> Batches {
    let batch =
        |about: &str, bytes: &[u8], outcome| Batch { about: about.into(), bytes: hex(bytes), outcome };
    let reports = |reports: &[&[u8]]| Outcome::Reports(reports.iter().map(|report| hex(report)).collect());
    let refused = |reason: &str| Outcome::Refused(reason.into());
    let two = batch::join([&b"one"[..], b"three"]);
    let long = (MOST_BYTES as u32 + 1).to_be_bytes();
    Batches {
        about: "Batches: what is inside is not looked at".into(),
        batches: vec![
            batch("Nothing", &[], reports(&[])),
            batch("Two", &two, reports(&[b"one", b"three"])),
            batch("One without bytes", &[0; 4], reports(&[b""])),
            batch("A byte too few", &two[..two.len() - 1], refused("truncated")),
            batch("Half a length", &two[..2], refused("truncated")),
            batch("A length beyond what any report may have", &long, refused("too-long")),
        ],
    }
}

fn words(task: &mut Task) -> &mut RecordWords {
    task.record.as_mut().unwrap()
}

/// Documents that ask for a number in a wrong way.
fn of_a_number(mut change: impl FnMut(&str, &str, &dyn Fn(&mut Task))) {
    change("Classes of a number", "has no classes", &|task| {
        *task = of_numbers("one-bit");
        task.classes = named(&["a", "b"]);
    });
    change("A label mechanism for numbers", "no mechanism of such", &|task| {
        *task = of_numbers("rr");
    });
    change("A set size of a number", "no use for parameters", &|task| {
        *task = of_numbers("one-bit");
        task.mechanism.set_size = Some(1);
    });
    change("Bounds without room", "the interval from 1 to 1", &|task| {
        *task = of_numbers("one-bit");
        task.number = Some(NumberWords { low: 1.0, high: 1.0 });
    });
    change("The learner of classes", "not for numbers", &|task| {
        *task = of_numbers("one-bit");
        task.collection.as_mut().unwrap().learner = LearnerWords::Softmax;
    });
}

pub(crate) fn documents() -> Documents {
    let task = task("subset", &[1.0, 0.5], named(&["low", "middle", "high"]), &columns());
    let mut refused = Vec::new();
    let mut change = |about: &str, says: &str, change: &dyn Fn(&mut Task)| {
        let mut changed = task.clone();
        change(&mut changed);
        refused.push(RefusedDocument { about: about.into(), json: changed.to_json(), says: says.into() });
    };
    macro_rules! collection {
        ($about:literal, $says:literal, $collection:ident => $change:expr) => {
            change($about, $says, &|task| {
                let $collection = task.collection.as_mut().unwrap();
                $change;
            });
        };
    }
    collection!("No name", "name", c => c.name = " ".into());
    collection!("A name of two lines", "control character", c => c.name = "a\nb".into());
    collection!("No least number of reports", "min_reports", c => c.min_reports = 0);
    collection!("No unit of time", "time_precision", c => c.time_precision = 0);
    collection!("Opens within a unit of time", "opens", c => c.opens += 1);
    collection!("Closes within a unit of time", "closes", c => c.closes += 1);
    collection!("Closes when it opens", "after opens", c => c.closes = c.opens);
    collection!("Closes after all time", "2^53", c => c.closes = 1 << 60);
    collection!("Expires at once", "expiry_age", c => c.expiry_age = 0);
    collection!("Expires within a unit of time", "expiry_age", c => c.expiry_age = 3601);
    collection!("No tiers", "tiers", c => c.tiers.clear());
    collection!("A tier twice", "twice", c => c.tiers.push(0.5));
    collection!("A tier of zero", "epsilon is 0", c => c.tiers.push(0.0));
    collection!("A tier below zero", "epsilon is -1", c => c.tiers.push(-1.0));
    collection!("Too many tiers", "256 entries", c => c.tiers = (1..=256).map(f64::from).collect());
    collection!("Another first tier", "begins with 0.5", c => c.tiers.reverse());
    collection!("An encoding too few", "3 entries", c => { c.encoding.pop(); });
    collection!("The encoding of another kind", "another kind", c => c.encoding.swap(0, 3));
    change("Another version", "version 2", &|task| task.version = 2);
    change("One class", "at least two", &|task| task.classes.truncate(1));
    change("A class twice", "occurs twice", &|task| task.classes[1] = "low".into());
    change("A set size without use", "no use for a set size", &|task| {
        *task = with_priors();
        task.mechanism.set_size = Some(2);
    });
    change("Labels to answer among without use", "no use for labels", &|task| {
        *task = with_priors();
        task.mechanism.top = Some(vec![0, 1]);
    });
    macro_rules! record {
        ($about:literal, $says:literal, $task:ident => $change:expr) => {
            change($about, $says, &|$task| {
                *$task = of_records();
                $change;
            });
        };
    }
    record!("A label mechanism for records", "no mechanism of such", t => t.mechanism.kind = "rr".into());
    record!("A mechanism in floats", "no mechanism of such", t => t.mechanism.kind = "privunit".into());
    record!("Another currency", "keeps no promise", t => t.mechanism.kind = "codebook".into());
    record!("Two promises", "needs epsilon", t => t.mechanism.epsilon = Some(1.0));
    record!("Classes of a regression", "2 classes", t => t.classes = named(&["a", "b"]));
    record!("Weights that there are not", "`round`", t => words(t).weights = "round".into());
    record!("A radius of nothing", "radius", t => words(t).radius = 0.0);
    record!("A radius below half of the cut", "the cut is more than twice", t => words(t).radius = 0.5);
    record!("Coefficients of any size", "bound", t => words(t).bound = 1e9);
    record!("More points than memory", "more than 16777216 numbers", t => {
        t.collection.as_mut().unwrap().encoding[1] = EncodingWords::Category(CategoryWords::Values {
            values: numbered(2000),
            other: false,
            missing: false,
        });
        let most = OnlineWords { eta: 0.5, alpha: 0.6, offset: 0, burn_in: 0, stale: 1 << 16, curvature: None, decay: None, two_chains: false };
        t.collection.as_mut().unwrap().learner = LearnerWords::Online(most);
    });
    record!("Nobody to collect", "collection", t => t.collection = None);
    record!("The learner of labels", "which is for labels", t => {
        t.collection.as_mut().unwrap().learner = LearnerWords::Softmax;
    });
    record!("A text in a record", "neither number nor values", t => {
        t.collection.as_mut().unwrap().encoding[1] = EncodingWords::Text(TextWords { buckets: 16 });
    });
    of_a_number(&mut change);
    collection!("The mean of classes", "for numbers", c => c.learner = LearnerWords::MeanOnly);
    change("μ for labels", "neither δ nor μ", &|task| task.mechanism.mu = Some(1.0));
    let modelled = r#"{"kind":"rr-prior","epsilon":1.0,"prior":{"model":["00",1.0]}}"#;
    for (about, from, to) in [
        ("A mechanism as an array", r#"{"kind":"subset","epsilon":1.0}"#, r#"["subset",1.0]"#),
        ("A model as an array", r#"{"kind":"subset","epsilon":1.0}"#, modelled),
        ("A column as an array", r#"{"name":"age","kind":"number"}"#, r#"["age","number"]"#),
        ("An encoding as an array", r#"{"low":0.0,"high":100.0,"missing":true}"#, "[0.0,100.0,true]"),
        ("Values as an array", r#"{"values":["Ulm","Bonn"],"other":true}"#, r#"[["Ulm","Bonn"],true]"#),
        ("Buckets as an array", r#"{"buckets":1024}"#, "[1024]"),
    ] {
        let json = task.to_json().replacen(from, to, 1);
        assert_ne!(json, task.to_json(), "{about}");
        refused.push(RefusedDocument { about: about.into(), json, says: "expected an object".into() });
    }
    let array = r#"[1,"income",["low","high"],{"kind":"rr","epsilon":1.0},[]]"#;
    let about = "A task as an array".into();
    refused.push(RefusedDocument { about, json: array.into(), says: "expected an object".into() });
    refused.extend(stated_otherwise());
    Documents { about: "Documents that are no task of a collection".into(), refused }
}

/// The answer of a whole record to one question.
fn answered(question: u64, words: &[i64]) -> Report {
    let survey = Some(SurveyReport { question, words: words.to_vec() });
    Report { survey, ..report(Vec::new(), &[]) }
}

/// The cell of one of three tables, as a mask of labels.
fn survey_tables() -> Vectors {
    let task = survey(SurveyWords::Tables(OrderWords { order: 2 }), "published", 3.0);
    let mut make =
        Maker::new("A survey: the cell of a table over two of three columns, by randomized response", &task);
    let usual = answered(0, &[1 << 5]);
    let bytes = make.valid("The last of six cells of the first table", &usual);
    make.valid("The first cell of the last table", &answered(2, &[1]));
    make.refused("A byte too few", "truncated", &bytes[..bytes.len() - 1]);
    make.refused("No words", "truncated", &bytes[..HEADER + 8]);
    make.refused("A byte too many", "trailing-bytes", &[&bytes[..], &[0]].concat());
    make.changed("A fourth table", "unknown-question", &bytes, HEADER, &3_u64.to_be_bytes());
    make.changed("A seventh cell", "implausible", &bytes, HEADER + 8, &(1_u64 << 6).to_be_bytes());
    make.changed("Two cells", "implausible", &bytes, HEADER + 8, &3_u64.to_be_bytes());
    make.changed("No cell", "implausible", &bytes, HEADER + 8, &[0; 8]);
    let json = make.format.to_json(&usual).unwrap();
    for (about, reason, to) in [
        ("A fourth table", "unknown-question", r#""survey":{"question":3,"words":[1]}"#),
        ("Two words", "implausible", r#""survey":{"question":0,"words":[1,0]}"#),
        ("No words", "malformed-json", r#""survey":{"question":0}"#),
        ("A field too many", "malformed-json", r#""survey":{"question":0,"words":[1],"more":1}"#),
        ("A label beside it", "wrong-answer", r#""survey":{"question":0,"words":[1]},"labels":[]"#),
        ("A label", "wrong-answer", r#""labels":[0]"#),
    ] {
        make.refused_json(about, reason, &json.replace(r#""survey":{"question":0,"words":[32]}"#, to));
    }
    make.vectors
}

/// A codeword of the first or of the second moment.
fn survey_moments() -> Vectors {
    let words = MomentWords { radius: 2.0, share: 0.25, response: None };
    let task = survey(SurveyWords::Moments(words), "codebook", 1.0);
    let mut make = Maker::new("A survey: a codeword of one of two moments", &task);
    let bytes = make.valid("The first moment", &answered(0, &[i64::MIN, -1, 255]));
    make.valid("The second", &answered(1, &[0, 1, 0]));
    make.changed("A third moment", "unknown-question", &bytes, HEADER, &2_u64.to_be_bytes());
    make.changed("Codeword 256", "implausible", &bytes, HEADER + 24, &256_u64.to_be_bytes());
    make.changed("A codeword below zero", "implausible", &bytes, HEADER + 24, &[0xff; 8]);
    make.vectors
}
