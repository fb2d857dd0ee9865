//! Users with a password. The client exchanges the password for a token, which all further calls present.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use tokio::{sync::Mutex, time::sleep};
use tonic::metadata::AsciiMetadataValue;

use super::{
    Failure,
    attempt::Line,
    messages::{AuthenticateRequest, AuthenticateResponse},
};
use crate::options::current_password;

const AUTHENTICATE: &str = "/etcdserverpb.Auth/Authenticate";

type Token = AsciiMetadataValue;

/// A user, and the token that etcd has issued.
pub(super) struct Login {
    name: String,
    password: String,
    /// A file with the present password.
    password_file: Option<PathBuf>,
    /// After a token was rejected, the client pauses for a random time and requests a new token. The pause is at most
    /// this long.
    spread: Duration,
    /// A task holds this lock while it requests a token, so that only one token is requested at a time. etcd is slow at
    /// checking passwords, and one token is enough.
    token: Mutex<Option<Token>>,
    /// Whether the last call with a token got no answer. Possibly the member waits until its log has the index that is
    /// in the token.
    is_suspect: AtomicBool,
}

/// The longest `spread`. A pause counts as a part of the login, which must not take longer than its time limit.
const LONGEST_SPREAD: Duration = Duration::from_secs(2);

impl Login {
    pub(super) fn new((name, password): (String, String), spread: Duration) -> Login {
        let spread = spread.min(LONGEST_SPREAD);
        Login {
            name,
            password,
            password_file: None,
            spread,
            token: Mutex::default(),
            is_suspect: AtomicBool::new(false),
        }
    }

    pub(super) fn with_password_file(self, password_file: Option<PathBuf>) -> Login {
        Login { password_file, ..self }
    }

    pub(super) fn is_suspect(&self) -> bool {
        // ORDERING: Relaxed, because an old value only causes or delays a read.
        self.is_suspect.load(Relaxed)
    }

    /// Notes whether a call with a token was answered.
    pub(super) fn note_answer(&self, answered: bool) {
        // ORDERING: Relaxed, for the reason given in `is_suspect`.
        self.is_suspect.store(!answered, Relaxed);
    }

    /// Returns the token; `None` if the cluster has no authentication.
    pub(super) async fn token(&self, line: &Line) -> Result<Option<Token>, Failure> {
        let mut token = self.token.lock().await;
        if token.is_none() {
            *token = self.authenticate(line).await?;
        }
        Ok(token.clone())
    }

    /// Returns a new token instead of the token `rejected`, which a member rejected or did not answer. If another call
    /// has got a new token in the meantime, returns that token. Otherwise requests a new one. Unless `rejected` is
    /// `None`, first pauses for a random time, because many clients notice at the same time that their tokens are gone.
    pub(super) async fn new_token(
        &self,
        line: &Line,
        rejected: &Option<Token>,
    ) -> Result<Option<Token>, Failure> {
        let mut token = self.token.lock().await;
        if *token == *rejected {
            if rejected.is_some() {
                sleep(self.spread.mul_f64(fastrand::f64())).await;
            }
            *token = None;
            *token = self.authenticate(line).await?;
        }
        Ok(token.clone())
    }

    async fn authenticate(&self, line: &Line) -> Result<Option<Token>, Failure> {
        let password = current_password(&self.password_file, Some(&self.password)).await;
        let password = password.unwrap_or_default();
        let request = AuthenticateRequest { name: self.name.clone(), password };
        match line.unary::<_, AuthenticateResponse>(AUTHENTICATE, request).await {
            Ok(answer) => {
                let unusable = |_| Failure::Refused("its token cannot be used".into());
                let mut token: Token = answer.token.parse().map_err(unusable)?;
                token.set_sensitive(true);
                Ok(Some(token))
            }
            Err(Failure::Refused(why)) if why.contains("authentication is not enabled") => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_ttl_does_not_make_logins_slow() {
        let user = || ("joe".into(), "joepw".into());
        // 360 s is a tenth of the longest ttl. The time limit of a login is at most 10 s by default.
        assert_eq!(Login::new(user(), Duration::from_secs(360)).spread, Duration::from_secs(2));
        assert_eq!(Login::new(user(), Duration::from_secs(1)).spread, Duration::from_secs(1));
    }
}
