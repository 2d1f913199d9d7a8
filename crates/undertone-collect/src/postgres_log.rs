//! A log in PostgreSQL, for several collectors behind one balancer.
//!
//! Each append is one transaction. It begins by locking the row of the log, which has its length and its horizon; so
//! appends of all collectors come one after the other, positions have no gaps, and a position becomes visible only after
//! all that are smaller. Reports are unique by time and id, for ever: here nothing has to be forgotten. The horizon and the
//! uses of tokens change in the same transaction.
//!
//! Segments are a list of positions, which any of the collectors may add to, in an append or on demand. So all of them
//! agree on where each begins and ends.
//!
//! When the connection is lost, a new one is made and the batch is tried again. If it was lost while the transaction was
//! being committed, nobody knows whether it was: so the second attempt, which has to wait for the lock of the first to
//! be gone, looks at the positions that the first would have used. If they hold its reports, it has happened.
//!
//! The connection is not encrypted: the database is to be on the same machine or in a network of its own. The client blocks;
//! call it from threads of its own, never from a task of an asynchronous runtime.

use crate::log::{self, Log, LogReader, Reports, between};
use crate::{LogError, Outcome, Stored, Submission};
use postgres::{Client, Config, NoTls, Row, Statement};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A segment is closed when it has so many reports.
const SEGMENT: i64 = 1 << 20;
/// Reports that are fetched together
const PAGE: i64 = 500;
/// How long a server may say nothing before the connection counts as lost
const SILENCE: Duration = Duration::from_secs(10);
/// How long to wait before each new connection, after the last was lost
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
];

/// Two collectors that start together must not make the tables at the same time; the number is any that others do not use.
const TABLES: &str = "
    select pg_advisory_xact_lock(7810776152901);
    create table if not exists undertone_logs (
        log int generated always as identity primary key,
        task bytea not null unique,
        length bigint not null default 0,
        horizon bigint not null default 0,
        segment bigint not null default 0);
    create table if not exists undertone_segments (
        log int not null references undertone_logs,
        until bigint not null,
        primary key (log, until));
    create table if not exists undertone_reports (
        log int not null references undertone_logs,
        position bigint not null,
        time bigint not null,
        id bytea not null,
        body bytea not null,
        primary key (log, position),
        unique (log, time, id));
    create table if not exists undertone_tokens (
        log int not null references undertone_logs,
        nonce bytea not null,
        uses bigint not null,
        primary key (log, nonce));";

const LOCK: &str = "select length, horizon, segment from undertone_logs where log = $1 for update";
const COUNTED: &str = "
    select r.time, r.id, r.body from unnest($2::bigint[], $3::bytea[]) as sent (time, id)
    join undertone_reports r on r.log = $1 and r.time = sent.time and r.id = sent.id";
const USES: &str = "select nonce, uses from undertone_tokens where log = $1 and nonce = any($2::bytea[])";
const APPEND: &str = "
    insert into undertone_reports (log, position, time, id, body)
    select $1, * from unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[])";
const SPEND: &str = "
    insert into undertone_tokens (log, nonce, uses) select $1, * from unnest($2::bytea[], $3::bigint[])
    on conflict (log, nonce) do update set uses = excluded.uses";
const ADVANCE: &str = "update undertone_logs set length = $2, horizon = $3 where log = $1";
const CLOSE: &str = "
    with closed as (insert into undertone_segments (log, until) values ($1, $2))
    update undertone_logs set segment = $2 where log = $1";
const CLOSED: &str = "select until from undertone_segments where log = $1 order by until";
const THERE: &str = "
    select count(*) from unnest($2::bigint[], $3::bigint[], $4::bytea[]) as sent (position, time, id)
    join undertone_reports r on r.log = $1 and r.position = sent.position and r.time = sent.time and r.id = sent.id";
const LENGTH: &str = "select length from undertone_logs where log = $1";
const READ: &str = "
    select position, time, id, body from undertone_reports
    where log = $1 and position >= $2 and position < $3 order by position limit $4";

/// A [`Log`] in a PostgreSQL database that any number of collectors may append to.
pub struct PostgresLog {
    config: Config,
    connection: Option<Connection>,
    log: i32,
    reader: Arc<PostgresReader>,
}

/// A connection, with what is asked of it again and again.
struct Connection {
    client: Client,
    statements: HashMap<&'static str, Statement>,
}

/// What an append would put into the log.
struct Plan {
    outcomes: Vec<Outcome>,
    positions: Vec<i64>,
    times: Vec<i64>,
    /// Places in the batch of what is new
    new: Vec<usize>,
    /// What the log's horizon would be
    horizon: i64,
}

impl PostgresLog {
    /// Opens the log of a task, or begins it; `settings` as in `host=localhost user=undertone dbname=reports`.
    pub fn connect(settings: &str, task: [u8; 32]) -> Result<Self, LogError> {
        // Not what the parser says: it may repeat a part of the password.
        let mut config: Config = settings.parse().map_err(|_| LogError::Database {
            message: "the settings are none such as `host=localhost user=undertone dbname=reports`".into(),
        })?;
        limit_silence(&mut config);
        let mut connection = Connection::open(&config)?;
        let begin = |client: &mut Client| {
            let mut transaction = client.transaction()?;
            transaction.batch_execute(TABLES)?;
            let insert = "insert into undertone_logs (task) values ($1) on conflict do nothing";
            transaction.execute(insert, &[&task.as_slice()])?;
            let row = transaction
                .query_one("select log, length from undertone_logs where task = $1", &[&task.as_slice()])?;
            transaction.commit()?;
            Ok((row.try_get(0)?, row.try_get::<_, i64>(1)?))
        };
        let (log, length) = begin(&mut connection.client).map_err(database)?;
        let reader = PostgresReader {
            config: config.clone(),
            log,
            connection: Arc::default(),
            len: AtomicU64::new(length as u64),
        };
        Ok(Self { config, connection: Some(connection), log, reader: Arc::new(reader) })
    }

    /// One transaction. What it is about to commit is left in `plan`, in case nobody hears whether it was.
    fn attempt(
        &mut self,
        batch: &[Submission],
        horizon: u64,
        plan: &mut Option<Plan>,
    ) -> Result<Vec<Outcome>, LogError> {
        let log = self.log;
        let connection = Connection::of(&mut self.connection, &self.config)?;
        let [lock, counted, uses, append, spend, advance, close, there] =
            connection.prepared([LOCK, COUNTED, USES, APPEND, SPEND, ADVANCE, CLOSE, THERE])?;
        let mut transaction = connection.client.transaction().map_err(database)?;
        let row = transaction.query_one(&lock, &[&log]).map_err(database)?;
        let (length, old_horizon, segment) = (int(&row, 0)?, int(&row, 1)?, int(&row, 2)?);
        if let Some(before) = &*plan {
            let ids: Vec<&[u8]> = before.new.iter().map(|&place| batch[place].id.as_slice()).collect();
            let row = transaction.query_one(&there, &[&log, &before.positions, &before.times, &ids]);
            let there = int(&row.map_err(database)?, 0)? == before.new.len() as i64;
            // Where nothing was new the horizon alone tells.
            if there && old_horizon >= before.horizon {
                self.reader.len.fetch_max(length as u64, Ordering::AcqRel);
                return Ok(before.outcomes.clone());
            }
            *plan = None;
        }

        let new_horizon = old_horizon.max(horizon as i64);
        let times: Vec<i64> = batch.iter().map(|submission| submission.time as i64).collect();
        let ids: Vec<&[u8]> = batch.iter().map(|submission| submission.id.as_slice()).collect();
        let rows = transaction.query(&counted, &[&log, &times, &ids]).map_err(database)?;
        // The bodies are those of what was there before, so that they cost nothing where all is new.
        let mut seen: HashMap<(i64, Vec<u8>), Cow<'_, [u8]>> = rows
            .iter()
            .map(|row| Ok(((int(row, 0)?, bytes(row, 1)?), bytes(row, 2)?.into())))
            .collect::<Result<_, LogError>>()?;
        let nonces: Vec<&[u8]> = batch
            .iter()
            .filter_map(|submission| Some(submission.admission.as_ref()?.nonce.as_slice()))
            .collect();
        let mut used = HashMap::new();
        if !nonces.is_empty() {
            for row in transaction.query(&uses, &[&log, &nonces]).map_err(database)? {
                used.insert(bytes(&row, 0)?, int(&row, 1)?);
            }
        }

        let mut next = Plan {
            outcomes: Vec::new(),
            positions: Vec::new(),
            times: Vec::new(),
            new: Vec::new(),
            horizon: new_horizon,
        };
        let mut spent: HashMap<&[u8], i64> = HashMap::new();
        for (place, submission) in batch.iter().enumerate() {
            let time = submission.time as i64;
            let key = (time, submission.id.to_vec());
            let outcome = if time < new_horizon {
                Outcome::TooOld
            } else if let Some(body) = seen.get(&key) {
                if **body == submission.body { Outcome::Duplicate } else { Outcome::Equivocation }
            } else if submission.latest.is_some_and(|latest| (length as u64) + next.new.len() as u64 > latest)
            {
                Outcome::TooLate
            } else if !admit(submission, &mut used, &mut spent) {
                Outcome::AdmissionSpent
            } else {
                seen.insert(key, submission.body.as_slice().into());
                let position = length + next.new.len() as i64;
                next.positions.push(position);
                next.times.push(time);
                next.new.push(place);
                Outcome::Accepted(position as u64)
            };
            next.outcomes.push(outcome);
        }
        if next.new.is_empty() && new_horizon == old_horizon {
            self.reader.len.fetch_max(length as u64, Ordering::AcqRel);
            return Ok(next.outcomes);
        }

        let ids: Vec<&[u8]> = next.new.iter().map(|&place| batch[place].id.as_slice()).collect();
        let bodies: Vec<&[u8]> = next.new.iter().map(|&place| batch[place].body.as_slice()).collect();
        transaction
            .execute(&append, &[&log, &next.positions, &next.times, &ids, &bodies])
            .map_err(database)?;
        if !spent.is_empty() {
            let (nonces, uses): (Vec<&[u8]>, Vec<i64>) = spent.into_iter().unzip();
            transaction.execute(&spend, &[&log, &nonces, &uses]).map_err(database)?;
        }
        let length = length + next.new.len() as i64;
        transaction.execute(&advance, &[&log, &length, &new_horizon]).map_err(database)?;
        if length - segment >= SEGMENT {
            transaction.execute(&close, &[&log, &length]).map_err(database)?;
        }
        let outcomes = next.outcomes.clone();
        *plan = Some(next);
        transaction.commit().map_err(database)?;
        self.reader.len.fetch_max(length as u64, Ordering::AcqRel);
        Ok(outcomes)
    }

    /// One transaction that ends the present segment. If nobody hears that it did, the next finds nothing to do.
    fn attempt_to_close(&mut self) -> Result<u64, LogError> {
        let connection = Connection::of(&mut self.connection, &self.config)?;
        let [lock, close] = connection.prepared([LOCK, CLOSE])?;
        let mut transaction = connection.client.transaction().map_err(database)?;
        let row = transaction.query_one(&lock, &[&self.log]).map_err(database)?;
        let (length, segment) = (int(&row, 0)?, int(&row, 2)?);
        if length > segment {
            transaction.execute(&close, &[&self.log, &length]).map_err(database)?;
        }
        transaction.commit().map_err(database)?;
        self.reader.len.fetch_max(length as u64, Ordering::AcqRel);
        Ok(length as u64)
    }

    /// Tries until it succeeds or there is no more patience.
    fn persist<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let mut last = None;
        for pause in PAUSES {
            std::thread::sleep(pause);
            match attempt(self) {
                Ok(done) => return Ok(done),
                Err(error) => {
                    // Whatever it was, the next attempt has a connection that nothing has happened to.
                    self.connection = None;
                    last = Some(error);
                }
            }
        }
        // There are pauses, so there was an attempt.
        Err(last.unwrap_or_else(|| LogError::Database { message: "no attempt".into() }))
    }
}

/// A server that says nothing, not even that it is gone, is given up after a while, unless the settings say after which.
fn limit_silence(config: &mut Config) {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(SILENCE);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENCE);
    }
    // While an answer is waited for, only these notice that nobody is there. Two hours is what it is if nobody says.
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(SILENCE);
    }
}

/// Whether the token of a submission, if it has one, lets it in; then it has been used once more.
fn admit<'a>(
    submission: &'a Submission,
    used: &mut HashMap<Vec<u8>, i64>,
    spent: &mut HashMap<&'a [u8], i64>,
) -> bool {
    let Some(admission) = &submission.admission else { return true };
    let uses = used.entry(admission.nonce.to_vec()).or_default();
    if *uses >= i64::from(admission.cap) {
        return false;
    }
    *uses += 1;
    spent.insert(&admission.nonce, *uses);
    true
}

impl Log for PostgresLog {
    fn append(&mut self, batch: &[Submission], horizon: u64) -> Result<Vec<Outcome>, LogError> {
        log::check(batch, horizon)?;
        let mut plan = None;
        self.persist(|log| log.attempt(batch, horizon, &mut plan))
    }

    fn close_segment(&mut self) -> Result<u64, LogError> {
        self.persist(Self::attempt_to_close)
    }

    fn reader(&self) -> Arc<dyn LogReader> {
        Arc::clone(&self.reader) as Arc<dyn LogReader>
    }
}

/// Reads over a connection of its own. What other collectors have appended is in `len` after the next append or read.
struct PostgresReader {
    config: Config,
    log: i32,
    /// Shared by all who read: each asks for a page at a time
    connection: Arc<Mutex<Option<Connection>>>,
    len: AtomicU64,
}

impl PostgresReader {
    /// Asks, and asks once more over a new connection if the old one was lost.
    fn ask(
        &self,
        query: &'static str,
        parameters: &[&(dyn postgres::types::ToSql + Sync)],
    ) -> Result<Vec<Row>, LogError> {
        let mut kept = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = kept.as_mut().and_then(|connection| connection.query(query, parameters).ok()) {
            return Ok(rows);
        }
        *kept = None;
        let mut connection = Connection::open(&self.config)?;
        let rows = connection.query(query, parameters)?;
        *kept = Some(connection);
        Ok(rows)
    }

    fn page(&self, from: u64, until: u64) -> Result<VecDeque<Stored>, LogError> {
        let rows = self.ask(READ, &[&self.log, &(from as i64), &(until as i64), &PAGE])?;
        let stored = |row: &Row| {
            let id = bytes(row, 2)?.try_into().map_err(|id: Vec<u8>| LogError::Database {
                message: format!("an id of {} bytes", id.len()),
            })?;
            Ok(Stored { position: int(row, 0)? as u64, time: int(row, 1)? as u64, id, body: bytes(row, 3)? })
        };
        let page: VecDeque<Stored> = rows.iter().map(stored).collect::<Result<_, LogError>>()?;
        let expected = from..from + page.len() as u64;
        if page.is_empty() || !page.iter().map(|stored| stored.position).eq(expected) {
            return Err(LogError::Database {
                message: format!("no report at position {from} or soon after"),
            });
        }
        Ok(page)
    }
}

impl LogReader for PostgresReader {
    fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    fn read(&self, from: u64) -> Result<Reports, LogError> {
        let rows = self.ask(LENGTH, &[&self.log])?;
        let until = rows.first().map_or(Ok(0), |row| int(row, 0))? as u64;
        self.len.fetch_max(until, Ordering::AcqRel);
        let reader = Self {
            config: self.config.clone(),
            log: self.log,
            connection: Arc::clone(&self.connection),
            len: AtomicU64::new(until),
        };
        Ok(Box::new(Reading { reader, next: from, until, waiting: VecDeque::new() }))
    }

    fn closed(&self) -> Result<Vec<Range<u64>>, LogError> {
        let rows = self.ask(CLOSED, &[&self.log])?;
        let ends: Result<Vec<i64>, LogError> = rows.iter().map(|row| int(row, 0)).collect();
        Ok(between(ends?.into_iter().map(|end| end as u64)))
    }
}

struct Reading {
    reader: PostgresReader,
    next: u64,
    until: u64,
    waiting: VecDeque<Stored>,
}

impl Iterator for Reading {
    type Item = Result<Stored, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.waiting.is_empty() && self.next < self.until {
            match self.reader.page(self.next, self.until) {
                Ok(page) => self.waiting = page,
                Err(error) => {
                    self.until = self.next;
                    return Some(Err(error));
                }
            }
        }
        let stored = self.waiting.pop_front()?;
        self.next = stored.position + 1;
        Some(Ok(stored))
    }
}

impl Connection {
    /// The connection that there is, or a new one.
    fn of<'a>(kept: &'a mut Option<Self>, config: &Config) -> Result<&'a mut Self, LogError> {
        match kept {
            Some(connection) => Ok(connection),
            none => Ok(none.insert(Self::open(config)?)),
        }
    }

    /// Connects, and makes sure that what is committed is durable.
    fn open(config: &Config) -> Result<Self, LogError> {
        let mut client = config.connect(NoTls).map_err(database)?;
        let row = client.query_one("show fsync", &[]).map_err(database)?;
        if row.try_get::<_, &str>(0).map_err(database)? != "on" {
            let message = "the server runs with fsync off: a crash would lose what was acknowledged".into();
            return Err(LogError::Database { message });
        }
        // Only where nothing is waited for: somebody may have asked for more than "on".
        let set = "select set_config('synchronous_commit', 'on', false)
                   where current_setting('synchronous_commit') = 'off'";
        client.execute(set, &[]).map_err(database)?;
        Ok(Self { client, statements: HashMap::new() })
    }

    fn prepare(&mut self, query: &'static str) -> Result<Statement, LogError> {
        if let Some(statement) = self.statements.get(query) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(query).map_err(database)?;
        self.statements.insert(query, statement.clone());
        Ok(statement)
    }

    fn prepared<const N: usize>(&mut self, queries: [&'static str; N]) -> Result<[Statement; N], LogError> {
        let statements: Vec<Statement> =
            queries.iter().map(|query| self.prepare(query)).collect::<Result<_, _>>()?;
        // As many as were asked for
        statements.try_into().map_err(|_| LogError::Database { message: "statements are missing".into() })
    }

    fn query(
        &mut self,
        query: &'static str,
        parameters: &[&(dyn postgres::types::ToSql + Sync)],
    ) -> Result<Vec<Row>, LogError> {
        let statement = self.prepare(query)?;
        self.client.query(&statement, parameters).map_err(database)
    }
}

fn int(row: &Row, column: usize) -> Result<i64, LogError> {
    row.try_get(column).map_err(database)
}

fn bytes(row: &Row, column: usize) -> Result<Vec<u8>, LogError> {
    row.try_get(column).map_err(database)
}

/// What the server or the connection said, with its cause.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn database(error: postgres::Error) -> LogError {
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
    LogError::Database { message: format!("{error}{}", cause.unwrap_or_default()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_server_is_given_up_after_a_while_unless_the_settings_say_after_which() {
        let limits = |settings: &str| {
            let mut config: Config = settings.parse().unwrap();
            limit_silence(&mut config);
            let given = [config.get_connect_timeout(), config.get_tcp_user_timeout()];
            (given.map(|given| given.map(Duration::as_secs)), config.get_keepalives_idle().as_secs())
        };
        assert_eq!(limits("host=localhost user=x"), ([Some(10), Some(10)], 10));
        let named = "host=localhost user=x connect_timeout=3 tcp_user_timeout=4 keepalives_idle=5";
        assert_eq!(limits(named), ([Some(3), Some(4)], 5));
    }
}
