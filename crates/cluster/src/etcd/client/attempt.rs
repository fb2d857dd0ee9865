//! One attempt: a call to one member, for a bounded time.

use std::future::Future;

use http::uri::PathAndQuery;
use tokio::time::timeout;
use tokio_stream::Stream;
use tonic::{Request, Streaming, client::Grpc, metadata::AsciiMetadataValue, transport::Channel};
use tonic_prost::ProstCodec;

use super::{Client, Failure, failure::of_connection};

/// A connection to a member, and what we show there.
#[derive(Clone)]
pub(super) struct Line {
    /// Which connection it is, for [`Members::leave`](super::members::Members::leave).
    turn: u64,
    member: String,
    channel: Channel,
    token: Option<AsciiMetadataValue>,
}

impl Client {
    /// A call with one answer.
    pub(super) async fn unary<M, R>(&self, path: &'static str, message: M) -> Result<R, Failure>
    where
        M: prost::Message + Clone + 'static,
        R: prost::Message + Default + 'static,
    {
        self.attempt(|line| {
            let message = message.clone();
            async move { line.unary(path, message).await }
        })
        .await
    }

    /// One attempt at the member whose turn it is. If that fails, it is the next one's turn.
    pub(super) async fn attempt<T, F>(&self, call: impl Fn(Line) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let line = self.shared.members.line();
        let outcome = self.logged_in(&line, call).await;
        self.judge(&line, outcome)
    }

    /// Moves on to the next member if this one could not be reached.
    pub(super) fn judge<T>(&self, line: &Line, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let members = &self.shared.members;
        match outcome {
            Err(Failure::Unreachable(why)) => {
                members.leave(line.turn);
                Err(Failure::Unreachable(members.explain(&line.member, why)))
            }
            answer => {
                members.heard();
                answer
            }
        }
    }

    /// The call with our token, where there is one; again with a new one if it is not accepted.
    async fn logged_in<T, F>(&self, line: &Line, call: impl Fn(Line) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let Some(login) = &self.shared.login else {
            return self.in_time(call(line.clone())).await;
        };
        let token = self.in_time(login.token(line)).await?;
        let outcome = self.in_time(call(line.with(&token))).await;
        // Tokens end. etcd 3.4 says of a watch with an old one that permission is denied, so any such
        // answer is worth a new token.
        let Err(Failure::Denied(_)) = outcome else { return outcome };
        login.forget(&token).await;
        let token = self.in_time(login.token(line)).await?;
        self.in_time(call(line.with(&token))).await
    }

    async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let limit = self.shared.attempt_timeout;
        let late = |_| Failure::Unreachable(format!("no answer within {limit:?}"));
        timeout(limit, call).await.map_err(late)?
    }
}

impl Line {
    pub(super) fn new(turn: u64, member: String, channel: Channel) -> Line {
        Line { turn, member, channel, token: None }
    }

    fn with(&self, token: &Option<AsciiMetadataValue>) -> Line {
        Line { token: token.clone(), ..self.clone() }
    }

    pub(super) async fn unary<M, R>(&self, path: &'static str, message: M) -> Result<R, Failure>
    where
        M: prost::Message + 'static,
        R: prost::Message + Default + 'static,
    {
        let (mut grpc, path) = (self.ready().await?, PathAndQuery::from_static(path));
        let answer = grpc.unary(self.request(message), path, ProstCodec::default()).await?;
        Ok(answer.into_inner())
    }

    /// Messages there, answers back. What is not sent yet goes on being sent while answers are read.
    pub(super) async fn stream<M, R>(
        &self,
        path: &'static str,
        messages: impl Stream<Item = M> + Send + 'static,
    ) -> Result<Streaming<R>, Failure>
    where
        M: prost::Message + 'static,
        R: prost::Message + Default + 'static,
    {
        let (mut grpc, path) = (self.ready().await?, PathAndQuery::from_static(path));
        let answers = grpc.streaming(self.request(messages), path, ProstCodec::default()).await?;
        Ok(answers.into_inner())
    }

    async fn ready(&self) -> Result<Grpc<Channel>, Failure> {
        // etcd limits what it takes; what it gives is as long as a hall has participants.
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(usize::MAX);
        grpc.ready().await.map_err(|error| of_connection(&error))?;
        Ok(grpc)
    }

    fn request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        // A member that has no leader is to say so, also later in a stream, rather than wait for one.
        request.metadata_mut().insert("hasleader", AsciiMetadataValue::from_static("true"));
        if let Some(token) = &self.token {
            request.metadata_mut().insert("token", token.clone());
        }
        request
    }
}
