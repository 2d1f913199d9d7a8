//! Which reports have been counted, and how often each token was used: in memory that does not grow with their number.
//!
//! What is known lives in three places.
//!
//! - The **shelves** have nearly all of it, on the disk: one for each group of time units (a *generation*), thrown away
//!   when the horizon has passed all of its times, and one for the tokens, which is kept. A shelf holds whole ids. A
//!   fingerprint would do with less room, but some day two reports would share it, and the second, which nobody counted,
//!   would be called a duplicate. Beside each id of a report is a digest of its body, so that who says something else under
//!   the same id is told so.
//! - The **front** has the newest, in memory, in 64 parts by bucket. When all parts together are full, the next part in
//!   turn is sorted by bucket and written to its shelves. So many ids of a bucket go out in one write, and nobody waits
//!   for more than one part.
//! - The **filter** has a few bits of everything, and answers for nearly all that is new.
//!
//! Buckets are chosen by SipHash under a secret key, so that strangers, who choose the ids, cannot fill one of them.
//!
//! **After a crash** the shelves are worthless: they may lack what the log has, or have what the log lost. They are built
//! again from the log, which alone is the truth. Only a log that was closed in good order leaves a file `clean` behind, which
//! says at which position; it is taken away before anything changes. Whatever is read back has to add up to the sum
//! that is written there, or else the shelves are built again as well.

mod filter;
mod key;
mod shelf;

use crate::LogError;
use filter::Filter;
pub(crate) use key::Key;
use key::Prehashed;
use shelf::{BUCKETS, Entry, Shelf};
use siphasher::sip::SipHasher13;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Parts of the front
const PARTS: usize = 64;
/// The place of tokens: a generation that no horizon reaches
const TOKENS: u64 = u64::MAX;
const MAGIC: &[u8; 16] = b"undertone-seen-2";

/// How much memory is used, and how ids are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Units of time in a generation
    pub(crate) units: u32,
    /// Ids and tokens in the front
    pub(crate) front: usize,
    /// Bytes of the filter
    pub(crate) filter: usize,
}

/// What has been counted.
pub(crate) struct Seen {
    folder: PathBuf,
    secret: [u8; 16],
    sizes: Sizes,
    /// Generations before this one are forgotten
    oldest: u64,
    fronts: Vec<HashMap<Key, Slot, Prehashed>>,
    in_front: usize,
    next_part: usize,
    filter: Filter,
    shelves: BTreeMap<u64, Kept>,
}

/// What belongs to a key.
#[derive(Clone, Copy)]
struct Slot {
    /// The unit of a report, or the uses of a token
    number: u32,
    /// Of a report, that of its body
    digest: u32,
}

/// A shelf, and what its entries add up to.
struct Kept {
    shelf: Shelf,
    sum: u64,
}

impl Seen {
    /// Nothing seen yet; what the folder holds is thrown away.
    pub(crate) fn create(folder: &Path, sizes: Sizes) -> Result<Self, LogError> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(LogError::io(folder)(error));
            }
            _ => fs::create_dir_all(folder).map_err(LogError::io(folder))?,
        }
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(|error| LogError::io(folder)(error.into()))?;
        Ok(Self::with(folder, sizes, secret))
    }

    fn with(folder: &Path, sizes: Sizes, secret: [u8; 16]) -> Self {
        Self {
            folder: folder.to_owned(),
            secret,
            sizes,
            oldest: 0,
            fronts: (0..PARTS).map(|_| HashMap::default()).collect(),
            in_front: 0,
            next_part: 0,
            filter: Filter::new(sizes.filter),
            shelves: BTreeMap::new(),
        }
    }

    /// The key of a report.
    pub(crate) fn report(&self, time: u64, id: &[u8; 16]) -> Key {
        let units = u64::from(self.sizes.units);
        Key::new(&self.secret, time / units, (time % units) as u32, *id)
    }

    /// The key of a token.
    pub(crate) fn token(&self, nonce: &[u8; 16]) -> Key {
        Key::new(&self.secret, TOKENS, 0, *nonce)
    }

    /// Looks into the filter for these reports, and forgets what it saw.
    ///
    /// The filter is larger than the processor's caches. What a loop that does nothing else asks the memory for comes side by
    /// side; asked for one after the other, amid the other work on a report, it took a third of the time of a commit.
    pub(crate) fn approach(&self, reports: &[Key]) {
        black_box(reports.iter().filter(|report| self.filter.may_contain(report.hash)).count());
    }

    /// What is kept of the body of a report: enough to tell another one, but for a chance of 2⁻³², that nobody can look for
    /// without the secret.
    pub(crate) fn digest(&self, body: &[u8]) -> u32 {
        SipHasher13::new_with_key(&self.secret).hash(body) as u32
    }

    /// The digest of a report that was counted.
    pub(crate) fn counted(&self, report: &Key) -> Result<Option<u32>, LogError> {
        self.slot(report).map(|slot| slot.map(|slot| slot.digest))
    }

    /// How often a token was used.
    pub(crate) fn uses(&self, token: &Key) -> Result<u32, LogError> {
        self.slot(token).map(|slot| slot.map_or(0, |slot| slot.number))
    }

    /// The report, of which the body has this digest, is counted. It must not have been before.
    pub(crate) fn insert(&mut self, report: Key, digest: u32) {
        let number = report.unit;
        self.put(report, Slot { number, digest });
    }

    /// The token has been used so often.
    pub(crate) fn set_uses(&mut self, token: Key, uses: u32) {
        self.put(token, Slot { number: uses, digest: 0 });
    }

    fn put(&mut self, key: Key, slot: Slot) {
        let hash = key.hash;
        if self.fronts[part_of(hash)].insert(key, slot).is_none() {
            self.filter.add(hash);
            self.in_front += 1;
        }
    }

    fn slot(&self, key: &Key) -> Result<Option<Slot>, LogError> {
        if !self.filter.may_contain(key.hash) {
            return Ok(None);
        }
        if let Some(&slot) = self.fronts[part_of(key.hash)].get(key) {
            return Ok(Some(slot));
        }
        let Some(kept) = self.shelves.get(&key.generation) else { return Ok(None) };
        let fits =
            |entry: &Entry| entry.id == key.id && (key.generation == TOKENS || entry.number == key.unit);
        let found = kept.shelf.find(bucket_of(key.hash), fits)?;
        Ok(found.map(|Entry { number, digest, .. }| Slot { number, digest }))
    }

    /// Forgets the generations that lie wholly before the horizon.
    pub(crate) fn forget_before(&mut self, horizon: u64) -> Result<(), LogError> {
        self.oldest = self.oldest.max(horizon / u64::from(self.sizes.units));
        while let Some(oldest) = self.shelves.first_entry().filter(|first| *first.key() < self.oldest) {
            oldest.remove().shelf.remove()?;
        }
        Ok(())
    }

    /// Writes part of the front to the shelves if it is full. Only what the log has for certain may be in it.
    pub(crate) fn make_room(&mut self) -> Result<(), LogError> {
        while self.in_front > self.sizes.front {
            self.write_part()?;
        }
        let live = self.in_front as u64 + self.shelves.values().map(|kept| kept.shelf.entries()).sum::<u64>();
        if self.filter.is_worn(live) {
            self.refill_filter()?;
        }
        Ok(())
    }

    fn write_part(&mut self) -> Result<(), LogError> {
        let part = &mut self.fronts[self.next_part];
        self.in_front -= part.len();
        let mut leaving: Vec<(Key, Slot)> =
            part.drain().filter(|(key, _)| key.generation >= self.oldest).collect();
        self.next_part = (self.next_part + 1) % PARTS;
        leaving.sort_unstable_by_key(|(key, _)| (key.generation, bucket_of(key.hash)));
        for together in leaving
            .chunk_by(|(a, _), (b, _)| (a.generation, bucket_of(a.hash)) == (b.generation, bucket_of(b.hash)))
        {
            let (first, _) = &together[0];
            let kept = match self.shelves.entry(first.generation) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let shelf = Shelf::create(&shelf_path(&self.folder, first.generation))?;
                    entry.insert(Kept { shelf, sum: 0 })
                }
            };
            let entry =
                |(key, slot): &(Key, Slot)| Entry { id: key.id, number: slot.number, digest: slot.digest };
            let entries: Vec<Entry> = together.iter().map(entry).collect();
            kept.shelf.extend(bucket_of(first.hash), &entries)?;
            let terms = together.iter().zip(&entries).map(|((key, _), entry)| term(key.hash, entry));
            kept.sum = terms.fold(kept.sum, u64::wrapping_add);
        }
        Ok(())
    }

    /// Forgets in the filter, too, what the shelves have forgotten.
    fn refill_filter(&mut self) -> Result<(), LogError> {
        self.filter.clear();
        for key in self.fronts.iter().flat_map(HashMap::keys) {
            self.filter.add(key.hash);
        }
        for (&generation, kept) in &self.shelves {
            let (secret, filter) = (&self.secret, &mut self.filter);
            kept.shelf.read_all(|_, entry| filter.add(Key::of_entry(secret, generation, &entry).hash))?;
        }
        Ok(())
    }

    /// Writes everything down, and that it is all there is up to this position of the log.
    pub(crate) fn close(mut self, position: u64) -> Result<(), LogError> {
        for _ in 0..PARTS {
            self.write_part()?;
        }
        let mut marker = Vec::from(*MAGIC);
        marker.extend_from_slice(&position.to_le_bytes());
        marker.extend_from_slice(&self.sizes.units.to_le_bytes());
        marker.extend_from_slice(&self.secret);
        for (generation, kept) in &self.shelves {
            kept.shelf.sync()?;
            marker.extend_from_slice(&generation.to_le_bytes());
            marker.extend_from_slice(&kept.sum.to_le_bytes());
            kept.shelf.lengths().iter().for_each(|length| marker.extend_from_slice(&length.to_le_bytes()));
        }
        marker.extend_from_slice(&crc32c::crc32c(&marker).to_le_bytes());
        let (new, path) = (self.folder.join("clean.new"), self.folder.join("clean"));
        let mut file = File::create(&new).map_err(LogError::io(&new))?;
        file.write_all(&marker).and_then(|()| file.sync_all()).map_err(LogError::io(&new))?;
        fs::rename(&new, &path).map_err(LogError::io(&path))?;
        sync_folder(&self.folder)
    }

    /// The position at which the folder was closed, if it was, in good order. Changes nothing.
    pub(crate) fn closed_at(folder: &Path, sizes: Sizes) -> Option<u64> {
        Marker::read(folder, sizes).map(|marker| marker.position)
    }

    /// What was closed in good order, or nothing if it cannot be trusted. From here on the folder counts as open.
    pub(crate) fn reopen(folder: &Path, sizes: Sizes) -> Result<Option<Self>, LogError> {
        let Some(marker) = Marker::read(folder, sizes) else { return Ok(None) };
        let path = folder.join("clean");
        fs::remove_file(&path).map_err(LogError::io(&path))?;
        sync_folder(folder)?;
        let mut seen = Self::with(folder, sizes, marker.secret);
        for (generation, expected, lengths) in marker.shelves {
            let Ok(shelf) = Shelf::open(&shelf_path(folder, generation), lengths) else { return Ok(None) };
            let (mut sum, mut astray) = (0u64, false);
            let read = shelf.read_all(|bucket, entry| {
                let hash = Key::of_entry(&seen.secret, generation, &entry).hash;
                astray |= bucket_of(hash) != bucket;
                sum = sum.wrapping_add(term(hash, &entry));
                seen.filter.add(hash);
            });
            if read.is_err() || astray || sum != expected {
                return Ok(None);
            }
            seen.shelves.insert(generation, Kept { shelf, sum });
        }
        Ok(Some(seen))
    }
}

/// What the file `clean` says.
struct Marker {
    position: u64,
    secret: [u8; 16],
    /// Generation, sum, length of each bucket
    shelves: Vec<(u64, u64, Vec<u32>)>,
}

impl Marker {
    /// Nothing if there is none, or if it is damaged, or of other groups of units.
    fn read(folder: &Path, sizes: Sizes) -> Option<Self> {
        let bytes = fs::read(folder.join("clean")).ok()?;
        let (content, crc) = bytes.split_last_chunk::<4>()?;
        if crc32c::crc32c(content) != u32::from_le_bytes(*crc) {
            return None;
        }
        let rest = content.strip_prefix(MAGIC.as_slice())?;
        let (position, rest) = rest.split_first_chunk()?;
        let (units, rest) = rest.split_first_chunk()?;
        let (secret, rest) = rest.split_first_chunk()?;
        if u32::from_le_bytes(*units) != sizes.units {
            return None;
        }
        let shelf = |bytes: &[u8]| {
            let (generation, rest) = bytes.split_first_chunk()?;
            let (sum, rest) = rest.split_first_chunk()?;
            let lengths = rest.as_chunks().0.iter().map(|length| u32::from_le_bytes(*length)).collect();
            Some((u64::from_le_bytes(*generation), u64::from_le_bytes(*sum), lengths))
        };
        let shelves = rest.chunks(16 + 4 * BUCKETS).map(shelf).collect::<Option<_>>()?;
        Some(Self { position: u64::from_le_bytes(*position), secret: *secret, shelves })
    }
}

/// What an entry adds to the sum of its shelf, in any order.
fn term(hash: u64, entry: &Entry) -> u64 {
    let rest = u64::from(entry.digest) << 32 | u64::from(entry.number);
    (hash ^ rest).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// From bits that neither the map's places nor its tags are made of.
fn bucket_of(hash: u64) -> usize {
    (hash >> 32) as usize % BUCKETS
}

/// Neighbouring buckets are in the same part of the front.
fn part_of(hash: u64) -> usize {
    bucket_of(hash) / (BUCKETS / PARTS)
}

fn shelf_path(folder: &Path, generation: u64) -> PathBuf {
    match generation {
        TOKENS => folder.join("tokens"),
        generation => folder.join(format!("reports-{generation}")),
    }
}

/// After this, files that were made, renamed or removed in the folder stay so.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), LogError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(LogError::io(folder))
}

#[cfg(test)]
mod tests {
    use super::shelf::ENTRY;
    use super::*;
    use crate::scratch::Scratch;
    use std::collections::BTreeSet;

    const SMALL: Sizes = Sizes { units: 4, front: 50, filter: 1 << 12 };

    fn id(number: u32) -> [u8; 16] {
        // Alike but for a few bits: what a generator of random ids would never give
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_le_bytes());
        id
    }

    fn insert(seen: &mut Seen, time: u64, number: u32) {
        let key = seen.report(time, &id(number));
        assert_eq!(seen.counted(&key).unwrap(), None, "{number} at {time} was never inserted");
        seen.insert(key, digest_of(time, number));
        seen.make_room().unwrap();
    }

    /// Any that is another for each.
    fn digest_of(time: u64, number: u32) -> u32 {
        number << 8 | time as u32
    }

    fn contains(seen: &Seen, time: u64, number: u32) -> bool {
        let found = seen.counted(&seen.report(time, &id(number))).unwrap();
        assert!(found.is_none_or(|found| found == digest_of(time, number)));
        found.is_some()
    }

    #[test]
    fn every_id_is_found_again_at_its_own_time_and_at_no_other() {
        let scratch = Scratch::new();
        let mut seen = Seen::create(scratch.path(), SMALL).unwrap();
        let held: BTreeSet<(u64, u32)> = (0..4_000).map(|i| (u64::from(i % 13), i / 3)).collect();
        for &(time, number) in &held {
            insert(&mut seen, time, number);
        }
        assert!(seen.in_front <= SMALL.front, "memory is bounded");
        for time in 0..14 {
            for number in 0..1_400 {
                assert_eq!(contains(&seen, time, number), held.contains(&(time, number)));
            }
        }
    }

    #[test]
    fn a_generation_is_forgotten_when_the_horizon_has_passed_all_of_it_and_tokens_never_are() {
        let scratch = Scratch::new();
        let mut seen = Seen::create(scratch.path(), SMALL).unwrap();
        (0..800).for_each(|i| insert(&mut seen, u64::from(i % 8), i));
        let token = seen.token(&id(7));
        seen.set_uses(token, 3);
        let files = || std::fs::read_dir(scratch.path()).unwrap().count();
        assert_eq!(files(), 2);
        seen.forget_before(3).unwrap();
        assert_eq!(files(), 2, "time 3 is still open");
        assert!(contains(&seen, 3, 3));
        seen.forget_before(4).unwrap();
        assert_eq!(files(), 1);
        assert!(contains(&seen, 4, 4));
        seen.forget_before(8).unwrap();
        (0..PARTS).for_each(|_| seen.write_part().unwrap());
        assert_eq!(files(), 1, "only the tokens are left");
        assert_eq!(seen.uses(&seen.token(&id(7))).unwrap(), 3);
    }

    #[test]
    fn a_filter_full_of_the_forgotten_is_refilled_with_the_rest() {
        let scratch = Scratch::new();
        let mut seen = Seen::create(scratch.path(), SMALL).unwrap();
        for time in 0..64 {
            seen.forget_before(time).unwrap();
            (0..200).for_each(|i| insert(&mut seen, time, i));
        }
        // 12,800 were added, the filter is good for 3,276, and no more than 4 × 200 + 50 are live.
        assert!(!seen.filter.is_worn(850));
        assert!((0..200).all(|i| contains(&seen, 63, i) && contains(&seen, 62, i)));
    }

    #[test]
    fn the_last_count_of_a_token_is_the_one_that_counts() {
        let scratch = Scratch::new();
        let mut seen = Seen::create(scratch.path(), SMALL).unwrap();
        for uses in 1..=30 {
            for token in 0..20 {
                let key = seen.token(&id(token));
                assert_eq!(seen.uses(&key).unwrap(), uses - 1);
                seen.set_uses(key, uses);
                seen.make_room().unwrap();
            }
            (0..PARTS).for_each(|_| seen.write_part().unwrap());
        }
        assert_eq!(seen.uses(&seen.token(&id(3))).unwrap(), 30);
        assert_eq!(seen.uses(&seen.token(&id(99))).unwrap(), 0);
    }

    #[test]
    fn what_was_closed_reopens_once_with_everything_in_it() {
        let scratch = Scratch::new();
        let mut seen = Seen::create(scratch.path(), SMALL).unwrap();
        (0..500).for_each(|i| insert(&mut seen, 5, i));
        let token = seen.token(&id(7));
        seen.set_uses(token, 3);
        seen.close(500).unwrap();
        assert_eq!(Seen::closed_at(scratch.path(), SMALL), Some(500));
        assert_eq!(Seen::closed_at(scratch.path(), Sizes { units: 5, ..SMALL }), None);
        let seen = Seen::reopen(scratch.path(), SMALL).unwrap().unwrap();
        assert!((0..500).all(|i| contains(&seen, 5, i)));
        assert!(!contains(&seen, 5, 500) && !contains(&seen, 6, 1));
        assert_eq!(seen.uses(&seen.token(&id(7))).unwrap(), 3);
        assert!(Seen::reopen(scratch.path(), SMALL).unwrap().is_none(), "as after a crash");
    }

    #[test]
    fn shelves_that_changed_behind_our_back_are_not_trusted() {
        for damage in ["reports-1", "tokens", "clean"] {
            for flip in [0usize, 1, 5, 17, 21] {
                let scratch = Scratch::new();
                let mut seen = Seen::create(scratch.path(), SMALL).unwrap();
                (0..500).for_each(|i| insert(&mut seen, 5, i));
                let token = seen.token(&id(7));
                seen.set_uses(token, 3);
                seen.close(500).unwrap();
                let path = scratch.path().join(damage);
                let mut bytes = fs::read(&path).unwrap();
                // In an entry, not in a hole between them
                let used = bytes.chunks(ENTRY).position(|entry| entry.iter().any(|&byte| byte != 0));
                let start = used.unwrap() * ENTRY;
                bytes[start + flip] ^= 1;
                fs::write(&path, bytes).unwrap();
                assert!(Seen::reopen(scratch.path(), SMALL).unwrap().is_none(), "{damage}, byte {flip}");
            }
        }
    }
}
