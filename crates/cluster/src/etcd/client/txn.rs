//! Transactions: conditions, operations and their results.

use super::{
    Client, Failure, KeyRange, KeyValue,
    attempt::Line,
    messages::{
        Compare, CompareResult, CompareTarget, DeleteRangeRequest, PutRequest, RangeRequest,
        RangeResponse, Request, RequestOp, Response, SortOrder, SortTarget, TargetUnion,
        TxnRequest, TxnResponse as Raw,
    },
};

const TXN: &str = "/etcdserverpb.KV/Txn";
const RANGE: &str = "/etcdserverpb.KV/Range";

/// A transaction. If all conditions in `when` hold, it performs all operations in `then`, otherwise all operations in
/// `otherwise`. It is atomic.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Txn {
    pub when: Vec<When>,
    pub then: Vec<Op>,
    pub otherwise: Vec<Op>,
}

/// A condition.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct When(Compare);

/// An operation.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Op(Request);

/// The result of a transaction.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TxnResponse {
    /// The revision of the store after the transaction.
    pub revision: i64,
    /// How often the store had lost its history by then, as far as the client has noticed. 0 in nested transactions.
    pub generation: u64,
    /// Whether all conditions in `when` held.
    pub succeeded: bool,
    /// The results of `then`, or of `otherwise`.
    pub answers: Vec<Answer>,
}

/// The result of an [`Op`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Answer {
    Put,
    /// The number of deleted keys.
    Deleted(i64),
    /// The keys that were read, and the number of keys in the whole range.
    Range {
        kvs: Vec<KeyValue>,
        count: i64,
    },
    Txn(TxnResponse),
}

impl Client {
    pub(crate) async fn txn(&self, txn: Txn) -> Result<TxnResponse, Failure> {
        self.shared.history.check()?;
        let by_consensus = txn.needs_consensus();
        let request = TxnRequest::from(txn);
        let history = &self.shared.history;
        let sent = history.sent();
        let raw: Raw = self.unary(TXN, request).await?;
        let header = raw.header.clone().unwrap_or_default();
        history.note_cluster(header.cluster_id)?;
        let mut response = TxnResponse::new(raw, header.revision)?;
        if by_consensus {
            let wrote = response.has_written();
            response.generation = history.note(sent, header.revision, wrote);
        } else {
            response.generation = history.generation();
        }
        Ok(response)
    }
}

/// The state of a key at some moment after the request was sent.
pub(crate) struct KeyRead {
    pub kv: Option<KeyValue>,
    pub revision: i64,
    /// How often the store had lost its history by then, as far as the client has noticed.
    pub generation: u64,
}

impl Client {
    /// Reads one key by consensus. Members that have no space left answer such a read, but no transaction.
    pub(crate) async fn read(&self, key: String) -> Result<KeyRead, Failure> {
        self.shared.history.check()?;
        let request = RangeRequest { key: key.into(), ..RangeRequest::default() };
        let history = &self.shared.history;
        let sent = history.sent();
        let found: RangeResponse = self.unary(RANGE, request).await?;
        let header = found.header.unwrap_or_default();
        history.note_cluster(header.cluster_id)?;
        let generation = history.note(sent, header.revision, false);
        Ok(KeyRead { kv: found.kvs.into_iter().next(), revision: header.revision, generation })
    }

    /// Asks the member at the other end of `line` for the identity of its cluster, by reading a key.
    pub(super) async fn cluster_of(&self, line: &Line, key: String) -> Result<u64, Failure> {
        let then = vec![Op::get(key).without_consensus()];
        let request = TxnRequest::from(Txn { then, ..Txn::default() });
        let read = |line: Line| {
            let request = request.clone();
            async move { line.unary::<_, Raw>(TXN, request).await }
        };
        let raw = self.logged_in(line, read).await?;
        Ok(raw.header.unwrap_or_default().cluster_id)
    }
}

impl Txn {
    /// Returns whether the members have to agree on the answer. They have to, unless the transaction consists only of
    /// reads without consensus.
    fn needs_consensus(&self) -> bool {
        let is_local = |op: &Op| matches!(&op.0, Request::Range(request) if request.serializable);
        !self.when.is_empty() || !self.then.iter().all(is_local)
    }
}

impl When {
    pub(crate) fn absent(key: impl Into<Vec<u8>>) -> When {
        When::empty(KeyRange::one(key))
    }

    pub(crate) fn present(key: impl Into<Vec<u8>>) -> When {
        When::create(CompareResult::Greater, KeyRange::one(key), 0)
    }

    /// Holds if the key exists and was created in that revision.
    pub(crate) fn created(key: impl Into<Vec<u8>>, revision: i64) -> When {
        When::create(CompareResult::Equal, KeyRange::one(key), revision)
    }

    /// Holds if the key exists and was last written in that revision.
    pub(crate) fn modified(key: impl Into<Vec<u8>>, revision: i64) -> When {
        When(Compare {
            result: CompareResult::Equal.into(),
            target: CompareTarget::Mod.into(),
            key: key.into(),
            target_union: Some(TargetUnion::ModRevision(revision)),
            range_end: Vec::new(),
        })
    }

    /// Holds if none of these keys exists. etcd checks the condition for every existing key, and no key was
    /// created in revision 0.
    pub(crate) fn empty(range: KeyRange) -> When {
        When::create(CompareResult::Equal, range, 0)
    }

    fn create(result: CompareResult, range: KeyRange, revision: i64) -> When {
        When(Compare {
            result: result.into(),
            target: CompareTarget::Create.into(),
            key: range.key,
            target_union: Some(TargetUnion::CreateRevision(revision)),
            range_end: range.end,
        })
    }
}

impl Op {
    /// Writes a key, bound to a lease. Lease 0 means none.
    pub(crate) fn put(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>, lease: i64) -> Op {
        let (key, value) = (key.into(), value.into());
        Op(Request::Put(PutRequest { key, value, lease, ignore_value: false }))
    }

    /// Writes the present value of a key again, so that its watchers are notified. The key must exist.
    pub(crate) fn touch(key: impl Into<Vec<u8>>) -> Op {
        let put = PutRequest { key: key.into(), ignore_value: true, ..PutRequest::default() };
        Op(Request::Put(put))
    }

    pub(crate) fn delete(key: impl Into<Vec<u8>>) -> Op {
        Op::delete_range(KeyRange::one(key))
    }

    pub(crate) fn delete_range(range: KeyRange) -> Op {
        Op(Request::DeleteRange(DeleteRangeRequest { key: range.key, range_end: range.end }))
    }

    pub(crate) fn get(key: impl Into<Vec<u8>>) -> Op {
        Op::list(KeyRange::one(key))
    }

    /// Reads a range, in the order of the keys.
    pub(crate) fn list(range: KeyRange) -> Op {
        Op::range(range, |_| ())
    }

    /// Reads the keys of a range, without values.
    pub(crate) fn keys(range: KeyRange) -> Op {
        Op::range(range, |request| request.keys_only = true)
    }

    /// Reads the key that was created first.
    pub(crate) fn oldest(range: KeyRange) -> Op {
        Op::range(range, |request| request.first_made(SortOrder::Ascend))
    }

    /// Reads the last key that was created before that revision.
    pub(crate) fn youngest_before(range: KeyRange, revision: i64) -> Op {
        Op::range(range, |request| {
            request.first_made(SortOrder::Descend);
            request.max_create_revision = revision - 1;
        })
    }

    /// Makes this a read that one member answers from its own state. This is faster, but the answer may be outdated.
    pub(crate) fn without_consensus(mut self) -> Op {
        if let Request::Range(request) = &mut self.0 {
            request.serializable = true;
        }
        self
    }

    pub(crate) fn nested(txn: Txn) -> Op {
        Op(Request::Txn(txn.into()))
    }

    fn range(range: KeyRange, refine: impl FnOnce(&mut RangeRequest)) -> Op {
        let mut request =
            RangeRequest { key: range.key, range_end: range.end, ..RangeRequest::default() };
        refine(&mut request);
        Op(Request::Range(request))
    }
}

impl RangeRequest {
    /// Limits the request to the first key in the order of creation.
    fn first_made(&mut self, order: SortOrder) {
        self.sort_order = order.into();
        self.sort_target = SortTarget::Create.into();
        self.limit = 1;
    }
}

impl From<Txn> for TxnRequest {
    fn from(txn: Txn) -> TxnRequest {
        fn ops(ops: Vec<Op>) -> Vec<RequestOp> {
            ops.into_iter().map(|Op(request)| RequestOp { request: Some(request) }).collect()
        }
        TxnRequest {
            compare: txn.when.into_iter().map(|When(compare)| compare).collect(),
            success: ops(txn.then),
            failure: ops(txn.otherwise),
        }
    }
}

impl TxnResponse {
    /// Decodes the answer of etcd, for the fuzz targets.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn decode(bytes: &[u8]) -> Option<TxnResponse> {
        TxnResponse::new(prost::Message::decode(bytes).ok()?, 1).ok()
    }

    /// Converts the answer of etcd. In this answer, only the outermost transaction has a revision.
    fn new(raw: Raw, revision: i64) -> Result<TxnResponse, Failure> {
        let answers = raw.responses.into_iter().map(|op| match op.response {
            Some(Response::Put(_)) => Ok(Answer::Put),
            Some(Response::DeleteRange(done)) => Ok(Answer::Deleted(done.deleted)),
            Some(Response::Range(found)) => {
                Ok(Answer::Range { kvs: found.kvs, count: found.count })
            }
            Some(Response::Txn(raw)) => TxnResponse::new(raw, revision).map(Answer::Txn),
            // The transaction may have taken effect.
            None => Err(Failure::Unreachable("etcd sent an answer of an unknown form".into())),
        });
        let answers = answers.collect::<Result<_, _>>()?;
        Ok(TxnResponse { revision, generation: 0, succeeded: raw.succeeded, answers })
    }

    /// Returns whether the transaction certainly made a new revision. A deletion that found no key makes none.
    fn has_written(&self) -> bool {
        self.answers.iter().any(|answer| match answer {
            Answer::Put => true,
            Answer::Deleted(count) => *count > 0,
            Answer::Range { .. } => false,
            Answer::Txn(response) => response.has_written(),
        })
    }
}

impl Answer {
    /// Returns the keys of a read; none for other operations.
    pub(crate) fn kvs(&self) -> &[KeyValue] {
        match self {
            Answer::Range { kvs, .. } => kvs,
            _ => &[],
        }
    }

    /// Returns the first key of a read.
    pub(crate) fn first(&self) -> Option<&KeyValue> {
        self.kvs().first()
    }

    /// Returns the number of keys in the range, or of deleted keys.
    #[cfg(test)]
    pub(crate) fn count(&self) -> i64 {
        match self {
            Answer::Range { count, .. } | Answer::Deleted(count) => *count,
            _ => 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn txn(&self) -> Option<&TxnResponse> {
        match self {
            Answer::Txn(response) => Some(response),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;

    #[test]
    fn a_transaction_is_encoded_as_etcd_reads_it() {
        let txn = Txn {
            when: vec![When::empty(KeyRange::between("a", "b"))],
            then: vec![Op::put("k", "v", 7)],
            otherwise: vec![Op::youngest_before(KeyRange::one("k"), 10)],
        };
        // Field numbers and kinds are those of etcd's rpc.proto; the compare's range_end is field 64.
        let expected: &[&[u8]] = &[
            &[0x0a, 11, 0x10, 1, 0x1a, 1, b'a', 0x28, 0, 0x82, 0x04, 1, b'b'],
            &[0x12, 10, 0x12, 8, 0x0a, 1, b'k', 0x12, 1, b'v', 0x18, 7],
            &[0x1a, 13, 0x0a, 11, 0x0a, 1, b'k', 0x18, 1, 0x28, 2, 0x30, 2, 0x68, 9],
        ];
        assert_eq!(TxnRequest::from(txn).encode_to_vec(), expected.concat());
    }
}
