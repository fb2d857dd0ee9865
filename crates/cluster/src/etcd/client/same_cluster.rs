//! Checks that all members belong to the same cluster.

use tokio::task::JoinSet;

use super::{Client, Failure};

impl Client {
    /// Asks all members which cluster they belong to. `key` is a key that the user of this client may read.
    ///
    /// # Errors
    /// Returns an error if the members that answer belong to different clusters.
    pub(crate) async fn check_members(&self, key: String) -> Result<(), Failure> {
        if self.shared.members.count() == 1 {
            return Ok(());
        }
        let mut answers = JoinSet::new();
        for line in self.shared.members.lines() {
            let (client, key) = (self.clone(), key.clone());
            answers.spawn(async move { client.cluster_of(&line, key).await });
        }
        while let Some(answer) = answers.join_next().await {
            if let Ok(Ok(cluster)) = answer {
                self.shared.history.note_cluster(cluster)?;
            }
        }
        Ok(())
    }
}
