//! Users with a password: it is shown once, and gives a token for all that follows.

use tokio::sync::Mutex;
use tonic::metadata::AsciiMetadataValue;

use super::{
    Failure,
    attempt::Line,
    messages::{AuthenticateRequest, AuthenticateResponse},
};

const AUTHENTICATE: &str = "/etcdserverpb.Auth/Authenticate";

type Token = AsciiMetadataValue;

/// A user, and the token that we have for it.
pub(super) struct Login {
    name: String,
    password: String,
    /// Locked while one is asked for: etcd takes its time over passwords, and one token is enough.
    token: Mutex<Option<Token>>,
}

impl Login {
    pub(super) fn new(name: String, password: String) -> Login {
        Login { name, password, token: Mutex::default() }
    }

    /// The token; none if the cluster does not ask who we are.
    pub(super) async fn token(&self, line: &Line) -> Result<Option<Token>, Failure> {
        let mut token = self.token.lock().await;
        if token.is_none() {
            *token = self.authenticate(line).await?;
        }
        Ok(token.clone())
    }

    /// This one is not accepted any more.
    pub(super) async fn forget(&self, refused: &Option<Token>) {
        let mut token = self.token.lock().await;
        if *token == *refused {
            *token = None;
        }
    }

    async fn authenticate(&self, line: &Line) -> Result<Option<Token>, Failure> {
        let request =
            AuthenticateRequest { name: self.name.clone(), password: self.password.clone() };
        match line.unary::<_, AuthenticateResponse>(AUTHENTICATE, request).await {
            Ok(answer) => {
                let unusable = |_| Failure::Refused("its token cannot be sent back".into());
                let mut token: Token = answer.token.parse().map_err(unusable)?;
                token.set_sensitive(true);
                Ok(Some(token))
            }
            Err(Failure::Refused(why)) if why.contains("authentication is not enabled") => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}
