//! Performs the [steps](crate::store::Store::step) of a store as transactions of etcd.

use super::{
    Client, Failure,
    attempt::Line,
    messages::{
        Compare, CompareResult, CompareTarget, DeleteRangeRequest, KeyValue as RawKeyValue,
        PutRequest, RangeRequest, RangeResponse, Request, RequestOp, Response, ResponseHeader,
        SortOrder, SortTarget, TargetUnion, TxnRequest, TxnResponse as Raw,
    },
};
use crate::store::{
    Answer, Condition, KeyRead, KeyValue, Op, Order, Revision, Stamp, Step, StepResponse, When,
};

const TXN: &str = "/etcdserverpb.KV/Txn";
pub(super) const RANGE: &str = "/etcdserverpb.KV/Range";

impl Client {
    pub(crate) async fn txn(&self, txn: Step) -> Result<StepResponse, Failure> {
        self.shared.history.check()?;
        let by_consensus = txn.needs_consensus();
        let request = TxnRequest::from(txn);
        let history = &self.shared.history;
        let sent = history.sent();
        let raw: Raw = self.unary(TXN, request).await?;
        let header = raw.header.clone().unwrap_or_default();
        history.note_cluster(header.cluster_id)?;
        let mut response = StepResponse::of_etcd(raw, header.revision)?;
        if by_consensus {
            let wrote = response.has_written();
            response.generation = history.note(sent, stamp(header.revision), wrote);
        } else {
            response.generation = history.generation();
        }
        Ok(response)
    }

    /// Reads one key by consensus. A member that has no space left still answers such a read, but in older versions of
    /// etcd, it rejects every transaction, even one that only reads.
    pub(crate) async fn read(&self, key: String) -> Result<KeyRead, Failure> {
        self.shared.history.check()?;
        let request = RangeRequest { key: key.into(), ..RangeRequest::default() };
        let history = &self.shared.history;
        let sent = history.sent();
        let found: RangeResponse = self.unary(RANGE, request).await?;
        let header = found.header.unwrap_or_default();
        history.note_cluster(header.cluster_id)?;
        let generation = history.note(sent, stamp(header.revision), false);
        let kv = found.kvs.into_iter().next().map(KeyValue::from);
        Ok(KeyRead { kv, revision: header.revision, generation })
    }

    /// Asks the member at the other end of `line` who it is, by reading a key. Only an answer by consensus shows
    /// everything that was written before.
    pub(super) async fn identify(
        &self,
        line: &Line,
        key: String,
        by_consensus: bool,
    ) -> Result<Identity, Failure> {
        let get = Op::get(key);
        let then = vec![if by_consensus { get } else { get.without_consensus() }];
        let request = TxnRequest::from(Step { then, ..Step::default() });
        let raw: Raw = self.unary_at(line, TXN, request).await?;
        let ResponseHeader { cluster_id, member_id, revision } = raw.header.unwrap_or_default();
        Ok(Identity { cluster: cluster_id, member: member_id, revision })
    }
}

/// What a member says about itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub cluster: u64,
    pub member: u64,
    /// The revision of its data.
    pub revision: Revision,
}

/// Revisions of etcd have no epoch.
fn stamp(revision: Revision) -> Stamp {
    Stamp { epoch: 0, revision }
}

impl From<Step> for TxnRequest {
    fn from(txn: Step) -> TxnRequest {
        fn ops(ops: Vec<Op>) -> Vec<RequestOp> {
            ops.into_iter().map(|op| RequestOp { request: Some(op.into()) }).collect()
        }
        TxnRequest {
            compare: txn.when.into_iter().map(Compare::from).collect(),
            success: ops(txn.then),
            failure: ops(txn.otherwise),
        }
    }
}

impl From<When> for Compare {
    fn from(When { range, condition }: When) -> Compare {
        let (created, modified) = (TargetUnion::CreateRevision, TargetUnion::ModRevision);
        let (result, target) = match condition {
            // etcd checks the condition for every existing key of the range. No key was created in revision 0, so this
            // condition holds only if no key exists.
            Condition::Absent => (CompareResult::Equal, created(0)),
            Condition::Present => (CompareResult::Greater, created(0)),
            Condition::Created(revision) => (CompareResult::Equal, created(revision)),
            Condition::Modified(revision) => (CompareResult::Equal, modified(revision)),
        };
        let kind = match target {
            TargetUnion::CreateRevision(_) => CompareTarget::Create,
            TargetUnion::ModRevision(_) => CompareTarget::Mod,
        };
        Compare {
            result: result.into(),
            target: kind.into(),
            key: range.key,
            target_union: Some(target),
            range_end: range.end,
        }
    }
}

impl From<Op> for Request {
    fn from(op: Op) -> Request {
        match op {
            Op::Put { key, value, lease } => {
                Request::Put(PutRequest { key, value, lease, ignore_value: false })
            }
            Op::Touch { key } => {
                Request::Put(PutRequest { key, ignore_value: true, ..PutRequest::default() })
            }
            Op::Delete(range) => {
                Request::DeleteRange(DeleteRangeRequest { key: range.key, range_end: range.end })
            }
            Op::Range { range, order, keys_only, local } => {
                let (key, range_end) = (range.key, range.end);
                let mut request =
                    RangeRequest { key, range_end, keys_only, ..RangeRequest::default() };
                request.serializable = local;
                match order {
                    Order::Keys => {}
                    Order::Oldest => request.first_created(SortOrder::Ascend),
                    Order::YoungestBefore(revision) => {
                        request.first_created(SortOrder::Descend);
                        request.max_create_revision = revision - 1;
                    }
                }
                Request::Range(request)
            }
            Op::Nested(txn) => Request::Txn(txn.into()),
        }
    }
}

impl RangeRequest {
    /// Limits the request to the first key in the order of creation.
    fn first_created(&mut self, order: SortOrder) {
        self.sort_order = order.into();
        self.sort_target = SortTarget::Create.into();
        self.limit = 1;
    }
}

impl From<RawKeyValue> for KeyValue {
    fn from(raw: RawKeyValue) -> KeyValue {
        let RawKeyValue { key, value, create_revision, mod_revision, lease, .. } = raw;
        KeyValue { key, value, create_revision, mod_revision, lease }
    }
}

impl StepResponse {
    /// Decodes the answer of etcd, for the fuzz targets.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn decode(bytes: &[u8]) -> Option<StepResponse> {
        StepResponse::of_etcd(prost::Message::decode(bytes).ok()?, 1).ok()
    }

    /// Converts the answer of etcd. In this answer, only the outermost transaction has a revision.
    fn of_etcd(raw: Raw, revision: Revision) -> Result<StepResponse, Failure> {
        let answers = raw.responses.into_iter().map(|op| match op.response {
            Some(Response::Put(_)) => Ok(Answer::Put),
            Some(Response::DeleteRange(done)) => Ok(Answer::Deleted(done.deleted)),
            Some(Response::Range(found)) => {
                Ok(Answer::Range(found.kvs.into_iter().map(KeyValue::from).collect()))
            }
            Some(Response::Txn(raw)) => StepResponse::of_etcd(raw, revision).map(Answer::Step),
            // The transaction may have taken effect.
            None => Err(Failure::Unreachable("etcd sent an answer of an unknown form".into())),
        });
        let answers = answers.collect::<Result<_, _>>()?;
        Ok(StepResponse { revision, generation: 0, succeeded: raw.succeeded, answers })
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::store::KeyRange;

    #[test]
    fn a_transaction_is_encoded_as_etcd_reads_it() {
        let txn = Step {
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
