//! One attempt: a call to one member, for a bounded time.

use std::{future::Future, pin::pin, time::Instant};

use http::uri::PathAndQuery;
use tokio::time::timeout;
use tokio_stream::Stream;
use tonic::{Request, Streaming, client::Grpc, metadata::AsciiMetadataValue, transport::Channel};
use tonic_prost::ProstCodec;

use super::{
    Client, Failure,
    failure::of_connection,
    login::Login,
    messages::{RangeRequest, RangeResponse},
    txn::RANGE,
};

/// A connection to a member, and the token to present there.
#[derive(Clone)]
pub(super) struct Line {
    /// The number of the connection, for [`Members::leave`](super::members::Members::leave).
    turn: u64,
    member: String,
    channel: Channel,
    token: Option<AsciiMetadataValue>,
}

impl Client {
    /// Makes a call that has one answer.
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

    /// Makes a call that has one answer, at this member.
    pub(super) async fn unary_at<M, R>(
        &self,
        line: &Line,
        path: &'static str,
        message: M,
    ) -> Result<R, Failure>
    where
        M: prost::Message + Clone + 'static,
        R: prost::Message + Default + 'static,
    {
        self.logged_in(line, |line| {
            let message = message.clone();
            async move { line.unary(path, message).await }
        })
        .await
    }

    /// Makes one attempt at the current member. If this member cannot be reached, the next attempt goes to the next
    /// member.
    pub(super) async fn attempt<T, F>(&self, call: impl Fn(Line) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut line = self.shared.members.line();
        let outcome = match &self.shared.login {
            None => self.in_time(call(line.clone())).await,
            Some(login) => self.with_login(login, &mut line, &call).await,
        };
        self.judge(&line, outcome)
    }

    /// Makes the call with the token of this client. If the member does not know the token, tries the next member, and
    /// replaces `line` with the connection to that member.
    async fn with_login<T, F>(
        &self,
        login: &Login,
        line: &mut Line,
        call: &impl Fn(Line) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let members = &self.shared.members;
        let token = self.in_time_for_login(login.token(line)).await?;
        let mut outcome = self.with_token(login, line, call, &token).await;
        if is_unknown_token(&outcome) && members.count() > 1 {
            // A member forgets tokens when it is restarted. The next member may still know this token, which saves a
            // login. Logins are slow, and all clients of the restarted member would log in at the same time.
            members.leave(line.turn);
            *line = members.line();
            outcome = self.with_token(login, line, call, &token).await;
        }
        self.again_if_rejected(login, line, call, &token, outcome).await
    }

    /// Switches to the next member if the member of `line` could not be reached, or if its certificate or that of this
    /// client was rejected. In these cases, the failure that is returned contains an explanation for the user.
    pub(super) fn judge<T>(&self, line: &Line, outcome: Result<T, Failure>) -> Result<T, Failure> {
        let members = &self.shared.members;
        match outcome {
            Err(Failure::Unreachable(why)) => {
                members.leave(line.turn);
                Err(Failure::Unreachable(members.explain(&line.member, why)))
            }
            Err(Failure::Certificate(why)) => {
                let why = members.explain(&line.member, why);
                // Try again, as long as another member may have a good certificate.
                Err(match members.leave_for_certificate(line.turn) {
                    true => Failure::Denied(why),
                    false => Failure::Unreachable(why),
                })
            }
            answer => {
                members.note_answer();
                answer
            }
        }
    }

    /// Makes the call at this member with the token of this client. If the token is rejected, makes the call again
    /// with a new token.
    pub(super) async fn logged_in<T, F>(
        &self,
        line: &Line,
        call: impl Fn(Line) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let Some(login) = &self.shared.login else {
            return self.in_time(call(line.clone())).await;
        };
        let token = self.in_time_for_login(login.token(line)).await?;
        let outcome = self.with_token(login, line, &call, &token).await;
        self.again_if_rejected(login, line, &call, &token, outcome).await
    }

    /// Makes the call with this token.
    ///
    /// A token may contain an index of etcd's log. If the log of a member ends before this index, the member does not
    /// answer the call. This happens after a cluster was wiped or restored. So if a call gets no answer, the next call
    /// is accompanied by a read without a token. If only this read is answered, the client requests a new token for
    /// later calls.
    async fn with_token<T, F>(
        &self,
        login: &Login,
        line: &Line,
        call: &impl Fn(Line) -> F,
        token: &Option<AsciiMetadataValue>,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let is_suspect = token.is_some() && login.is_suspect();
        // `None` while there is no answer to the read.
        let mut member_answers = None;
        let mut read = pin!(line.answers_without_token());
        let mut outcome = pin!(self.answer(call(line.with(token))));
        let outcome = loop {
            tokio::select! {
                outcome = &mut outcome => break outcome,
                answers = &mut read, if is_suspect && member_answers.is_none() => {
                    member_answers = Some(answers);
                }
            }
        };
        login.note_answer(outcome.is_ok());
        let late = match outcome {
            Ok(outcome) => return outcome,
            Err(late) => late,
        };
        if member_answers == Some(true) {
            self.in_time_for_login(login.new_token(line, token)).await?;
        }
        // The call may have taken effect, so it is not repeated here.
        Err(late)
    }

    /// Returns the outcome of a call with this token. If the call was rejected, makes it again with a new token.
    ///
    /// Tokens expire. etcd 3.4 answers a watch with an expired token by "permission denied". So this answer, too, is a
    /// reason to try again with a new token.
    async fn again_if_rejected<T, F>(
        &self,
        login: &Login,
        line: &Line,
        call: &impl Fn(Line) -> F,
        token: &Option<AsciiMetadataValue>,
        outcome: Result<T, Failure>,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let Err(Failure::Denied(_)) = outcome else { return outcome };
        let token = self.in_time_for_login(login.new_token(line, token)).await?;
        self.in_time(call(line.with(&token))).await
    }

    async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.answer(call).await?
    }

    /// Returns the outcome of the call, which may be a failure.
    ///
    /// # Errors
    /// The outer result is an error if the call has no outcome in time.
    async fn answer<T>(
        &self,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Result<T, Failure>, Failure> {
        let patience = &self.shared.patience;
        let (begun, limit) = (Instant::now(), patience.limit());
        match timeout(limit, call).await {
            Ok(answer) => {
                if !matches!(answer, Err(Failure::Unreachable(_))) {
                    patience.answered_within(begun.elapsed());
                }
                Ok(answer)
            }
            Err(_) => {
                patience.not_answered_within(limit);
                Err(Failure::Unreachable(format!("no answer within {limit:.1?}")))
            }
        }
    }

    /// Waits for a login. A login has a longer time limit than other calls, because it is slow if a member checks many
    /// passwords at the same time.
    async fn in_time_for_login<T>(
        &self,
        login: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let limit = self.shared.login_timeout;
        let late =
            |_| Failure::Unreachable(format!("the login was not answered within {limit:.1?}"));
        timeout(limit, login).await.map_err(late)?
    }
}

/// Returns whether a call was rejected because the member does not know its token.
fn is_unknown_token<T>(outcome: &Result<T, Failure>) -> bool {
    matches!(outcome, Err(Failure::Denied(why)) if why.contains("invalid auth token"))
}

impl Line {
    pub(super) fn new(turn: u64, member: String, channel: Channel) -> Line {
        Line { turn, member, channel, token: None }
    }

    /// Returns the address of the member.
    pub(super) fn member(&self) -> &str {
        &self.member
    }

    fn with(&self, token: &Option<AsciiMetadataValue>) -> Line {
        Line { token: token.clone(), ..self.clone() }
    }

    /// Returns whether the member answers a read by consensus that has no token. A rejection counts as an answer:
    /// with authentication, the member rejects a read without a token.
    async fn answers_without_token(&self) -> bool {
        let read = RangeRequest { key: vec![0], ..RangeRequest::default() };
        let answer = self.with(&None).unary::<_, RangeResponse>(RANGE, read).await;
        !matches!(answer, Err(Failure::Unreachable(_) | Failure::Certificate(_)))
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

    /// Opens a stream of messages to the member and a stream of its answers. Messages can still be sent while answers
    /// are read.
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
        // etcd limits the size of requests. But the size of an answer grows with the number of holders and
        // waiters, so the answer has no limit here.
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(usize::MAX);
        grpc.ready().await.map_err(|error| of_connection(&error))?;
        Ok(grpc)
    }

    fn request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        // With this header, a member without a leader reports an error, even later in a stream. Without it, the
        // member would wait for a leader.
        request.metadata_mut().insert("hasleader", AsciiMetadataValue::from_static("true"));
        if let Some(token) = &self.token {
            request.metadata_mut().insert("token", token.clone());
        }
        request
    }
}
