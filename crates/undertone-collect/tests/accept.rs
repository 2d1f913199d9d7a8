//! What strangers send, from bytes to the log, without a fuzzer: the test vectors, damaged in ways that are the same in every
//! run. The checks are those of the fuzz target `accept`.
//!
//! `UNDERTONE_CASES` says how many bodies are sent; 50,000 unless said otherwise.

#[path = "../../../fuzz/fuzz_targets/accept_path.rs"]
mod accept_path;
#[path = "../../../fuzz/fuzz_targets/formats.rs"]
mod formats;

use accept_path::AcceptPath;
use serde_json::Value;
use std::path::PathBuf;

/// The test vectors, in the order of `formats`.
const FILES: [&str; 9] = [
    include_str!("../../../testdata/wire/cells.json"),
    include_str!("../../../testdata/wire/codeword.json"),
    include_str!("../../../testdata/wire/fixed-set.json"),
    include_str!("../../../testdata/wire/gradient.json"),
    include_str!("../../../testdata/wire/mask.json"),
    include_str!("../../../testdata/wire/number.json"),
    include_str!("../../../testdata/wire/prior.json"),
    include_str!("../../../testdata/wire/top.json"),
    include_str!("../../../testdata/wire/wide-number.json"),
];

/// The reports of one task: those that are right, and those that nearly are.
struct Vectors {
    binary: Vec<Vec<u8>>,
    json: Vec<Vec<u8>>,
    /// How many of each are right, which come first
    right: usize,
    /// Whether they are gradients, at the version that follows the first 58 bytes
    gradients: bool,
}

impl Vectors {
    fn read(file: &str) -> Self {
        let file: Value = serde_json::from_str(file).unwrap();
        let all = |lists: [&str; 2], field: &str| -> Vec<String> {
            let reports = lists.iter().flat_map(|list| file[list].as_array().unwrap());
            reports.map(|report| report[field].as_str().unwrap().to_owned()).collect()
        };
        let bytes = |hex: &String| {
            let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap();
            hex.as_bytes().chunks(2).map(byte).collect()
        };
        Self {
            right: file["reports"].as_array().unwrap().len(),
            gradients: file["reports"][0]["fields"]["gradient"].is_object(),
            binary: all(["reports", "refused_bytes"], "bytes").iter().map(bytes).collect(),
            json: all(["reports", "refused_json"], "json").into_iter().map(String::into_bytes).collect(),
        }
    }
}

/// A public stream of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize % bound
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// Flips, sets, inserts, removes, doubles or cuts, somewhere.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let place = self.below(bytes.len() + 1);
        match (self.below(6), bytes.get(place).copied()) {
            (0, Some(byte)) => bytes[place] = byte ^ 1 << self.below(8),
            (1, Some(_)) => bytes[place] = [0, 1, 0x7f, 0x80, 0xfe, 0xff, b'"', b'['][self.below(8)],
            (2, Some(_)) => drop(bytes.remove(place)),
            (3, Some(byte)) => bytes.insert(place, byte),
            (4, _) => bytes.truncate(place),
            _ => bytes.insert(place, self.below(256) as u8),
        }
    }

    /// A body as `AcceptPath::walk` takes it, when the log has this length.
    fn body(&mut self, vectors: &[Vectors], length: u64) -> Vec<u8> {
        let (task, json) = (self.below(vectors.len()), self.one_in(2));
        let reports = if json { &vectors[task].json } else { &vectors[task].binary };
        let count = self.below(5);
        let mut choose = |_| {
            let among = if self.one_in(3) { reports.len() } else { vectors[task].right };
            reports[self.below(among)].clone()
        };
        let mut chosen: Vec<Vec<u8>> = (0..count).map(&mut choose).collect();
        for report in &mut chosen {
            if !json && report.len() >= 49 {
                // Another person, or one of a few who may come again
                match self.below(4) {
                    0 | 1 => report[33..37].copy_from_slice(&(self.below(1 << 32) as u32).to_be_bytes()),
                    2 => report[33 + self.below(16)] ^= 1 << self.below(8),
                    _ => {}
                }
            }
            if !json && vectors[task].gradients && !self.one_in(4) && report.len() >= 66 {
                // At another point: of a version that is right, too old, or yet to come
                let version = (length + self.below(400) as u64).saturating_sub(300);
                report[58..66].copy_from_slice(&version.to_be_bytes());
            }
            (0..self.below(4).saturating_sub(1)).for_each(|_| self.damage(report));
        }
        // Above 128 for JSON, and a multiple of the number of tasks away
        let choice = task + if json { 19 * vectors.len() } else { 0 };
        let body = if json {
            [b"[".as_slice(), &chosen.join(&b","[..]), b"]"].concat()
        } else {
            undertone_report::batch::join(&chosen)
        };
        // Most of these times are right for the reports of the vectors.
        let mut data = [&[choice as u8, 80 + self.below(14) as u8], &body[..]].concat();
        if self.one_in(8) {
            self.damage(&mut data);
        }
        data
    }
}

#[test]
fn whatever_is_accepted_is_a_report_of_now_and_counted_once() {
    let cases: u64 = std::env::var("UNDERTONE_CASES").map_or(50_000, |cases| cases.parse().unwrap());
    let memory = Some(PathBuf::from("/dev/shm")).filter(|memory| memory.is_dir());
    let mut path = AcceptPath::new(&memory.unwrap_or_else(std::env::temp_dir));
    let (vectors, mut numbers) = (FILES.map(Vectors::read), Numbers(1));
    let mut walk = |_| path.walk(&numbers.body(&vectors, path.length()));
    let accepted: usize = (0..cases).map(&mut walk).sum();
    path.read_back();
    println!("{cases} bodies, {accepted} reports accepted, {} of them gradients", path.gradients());
    assert!(path.gradients() as u64 > cases / 100, "{} gradients of {cases} bodies", path.gradients());
    assert!(accepted as u64 > cases / 20, "{accepted} accepted of {cases} bodies: too few to say anything");
}
