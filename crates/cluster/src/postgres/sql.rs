//! The SQL statements of the store.

/// The version of the tables.
pub(super) const VERSION: i32 = 1;

/// Returns the version of the tables, and whether all of them exist; fails with "undefined table" if the table with the
/// version does not exist.
///
/// Also changes three settings of this session, which the user or the database may have set. `synchronous_commit`
/// becomes `on` if it is `off` or `local`, because a commit that is not on disk, or not on the standby, proves nothing.
/// Transactions are read committed: if two steps change a hall at the same time, the second must see the change of the
/// first, instead of failing. With `force_generic_plan`, the server plans a prepared statement only once.
pub(super) const FIND_VERSION: &str = "SELECT version,
        num_nulls(to_regclass('hallpass.halls'), to_regclass('hallpass.records'),
            to_regclass('hallpass.leases')) = 0,
        CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
            THEN set_config('synchronous_commit', 'on', false) END,
        set_config('default_transaction_isolation', 'read committed', false),
        set_config('plan_cache_mode', 'force_generic_plan', false)
    FROM hallpass.format";

/// Creates the tables. Without the lock, two processes that create the same schema at the same time would fail.
pub(super) const CREATE: &str = "
    BEGIN;
    SELECT pg_advisory_xact_lock(7508837165246116);
    CREATE SCHEMA IF NOT EXISTS hallpass;
    CREATE TABLE IF NOT EXISTS hallpass.halls (
        hall text COLLATE \"C\" PRIMARY KEY,
        revision bigint NOT NULL,
        timelines bigint[] NOT NULL
    );
    CREATE TABLE IF NOT EXISTS hallpass.records (
        hall text COLLATE \"C\" NOT NULL,
        key text COLLATE \"C\" NOT NULL,
        value text NOT NULL,
        created bigint NOT NULL,
        modified bigint NOT NULL,
        lease bigint NOT NULL,
        PRIMARY KEY (hall, key)
    );
    CREATE TABLE IF NOT EXISTS hallpass.leases (
        id bigint PRIMARY KEY,
        hall text COLLATE \"C\" NOT NULL,
        milliseconds bigint NOT NULL,
        ends timestamptz NOT NULL
    );
    CREATE INDEX IF NOT EXISTS leases_of_hall ON hallpass.leases (hall);
    CREATE TABLE IF NOT EXISTS hallpass.format (version integer PRIMARY KEY);
    INSERT INTO hallpass.format SELECT 1 WHERE NOT EXISTS (SELECT FROM hallpass.format);
    COMMIT;";

/// The timeline of the server. The name of a log file begins with the timeline. On a standby, the statement fails.
macro_rules! timeline {
    () => {
        "('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint"
    };
}

/// Reads a hall: the server, the hall, records and leases. The first column of a row is 0 to 3, in this order.
///
/// Parameters:
/// - the name of the hall, whether the answer must be a proof, and whether to return all leases;
/// - for each range of records: the first key, the first key after the range, the revision before which the records
///   were created, the order of creation (1 for the oldest first, or -1), and how many records to return;
/// - leases to return in addition to those that are over, and leases whose records to return.
///
/// The whole statement sees one moment.
pub(super) const LOAD: &str = concat!(
    "SELECT 0 AS kind, system_identifier::text AS key, '' AS value, ",
    timeline!(),
    " AS created, CASE WHEN $2 THEN pg_logical_emit_message(true, 'hallpass', '') - '0/0'::pg_lsn ELSE 0 END::bigint
        AS modified, 0::bigint AS lease
        FROM pg_control_system()
    UNION ALL SELECT 1, array_to_string(timelines, ' '), '', revision, xmin::text::bigint, 0
        FROM hallpass.halls WHERE hall = $1
    UNION ALL SELECT 2, found.key, found.value, found.created, found.modified, found.lease
        FROM unnest($4, $5, $6, $7, $8) AS range (first, after, below, direction, count),
        LATERAL (
            SELECT * FROM hallpass.records
            WHERE hall = $1 AND key >= first AND key < after AND created < below
            ORDER BY created * direction LIMIT count
        ) AS found
    UNION ALL SELECT 2, key, value, created, modified, lease FROM hallpass.records
        WHERE cardinality($10) > 0 AND hall = $1 AND lease = ANY ($10)
    UNION ALL SELECT 3, '', '', (ends < clock_timestamp())::int, 0, id FROM hallpass.leases
        WHERE hall = $1 AND ($3 OR id = ANY ($9) OR ends < clock_timestamp())"
);

/// Replaces records of a hall, if its row and the timeline of the server are still the same, and no lease of a record to
/// write is missing or over. Returns how many halls were changed, which is 1 or 0, and how many notifications were sent.
///
/// Parameters:
/// - the name of the hall, its old revision, its new revision, its timelines, and the timeline of the server;
/// - the keys to delete;
/// - for each record to write: key, value, creation, modification and lease;
/// - the leases to end;
/// - for each notification: channel and payload;
/// - the transaction that wrote the row of the hall.
pub(super) const REPLACE: &str = concat!(
    "WITH moved AS (
        UPDATE hallpass.halls SET revision = $3, timelines = $4
        WHERE hall = $1 AND revision = $2 AND xmin::text::bigint = $15 AND $5 = ",
    timeline!(),
    "       AND NOT EXISTS (
            SELECT FROM unnest($11) AS named (lease) WHERE lease <> 0 AND NOT EXISTS (
                SELECT FROM hallpass.leases WHERE id = lease AND ends >= clock_timestamp()
            )
        )
        RETURNING hall
    ), deleted AS (
        DELETE FROM hallpass.records WHERE hall IN (SELECT hall FROM moved) AND key = ANY ($6)
    ), written AS (
        INSERT INTO hallpass.records (hall, key, value, created, modified, lease)
        SELECT moved.hall, record.* FROM moved, unnest($7, $8, $9, $10, $11) AS record
        ON CONFLICT (hall, key) DO UPDATE SET value = excluded.value, created = excluded.created,
            modified = excluded.modified, lease = excluded.lease
    ), ended AS (
        DELETE FROM hallpass.leases WHERE hall IN (SELECT hall FROM moved) AND id = ANY ($12)
    ), told AS (
        SELECT pg_notify(channel, payload) FROM moved, unnest($13, $14) AS note (channel, payload)
    )
    SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM told)"
);

/// Creates the row of a hall. The row stays when the hall is removed, so that revisions never repeat.
pub(super) const CREATE_HALL: &str = concat!(
    "INSERT INTO hallpass.halls (hall, revision, timelines) SELECT $1, 0, ARRAY[",
    timeline!(),
    ", 0] ON CONFLICT DO NOTHING"
);

/// Reads the revision of a hall.
pub(super) const REVISION: &str = "SELECT revision FROM hallpass.halls WHERE hall = $1";

/// Reads records by their keys.
pub(super) const READ: &str = "SELECT key, value, created, modified, lease FROM hallpass.records
    WHERE hall = $1 AND key = ANY ($2)";

/// Grants a lease: its id, its hall, and its time in milliseconds.
pub(super) const GRANT: &str = "INSERT INTO hallpass.leases (id, hall, milliseconds, ends)
    VALUES ($1, $2, $3, clock_timestamp() + $3 * interval '1 ms')";

/// Renews a lease, and returns a row if it exists.
pub(super) const KEEP_ALIVE: &str = "UPDATE hallpass.leases
    SET ends = clock_timestamp() + milliseconds * interval '1 ms' WHERE id = $1 RETURNING 1";

/// Returns how long ago leases were renewed, in milliseconds. The server computes this from its own clock alone.
pub(super) const RENEWAL_AGES: &str = "SELECT id,
        milliseconds - (extract(epoch FROM ends - clock_timestamp()) * 1000)::bigint
    FROM hallpass.leases WHERE id = ANY ($1) AND ends >= clock_timestamp()";

/// Returns the identity of the server, which it shares with all its standbys.
pub(super) const SYSTEM: &str = "SELECT system_identifier::text FROM pg_control_system()";

/// Lists the halls that have a door.
pub(super) const NAMES: &str =
    "SELECT hall FROM hallpass.records WHERE key = hall || '/door' ORDER BY hall";

/// Commits an empty message to the log of the server.
pub(super) const COMMIT: &str = "SELECT pg_logical_emit_message(true, 'hallpass', '')::text";
