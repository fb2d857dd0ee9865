//! The options for the location of halls.

use std::{
    env, fs,
    path::{Path, PathBuf, absolute},
    time::Duration,
};

use clap::{Arg, Args};
#[cfg(feature = "postgres")]
use hallpass_cluster::PostgresOptions;
use hallpass_cluster::{Cluster, ClusterOptions, EtcdOptions, StoreOptions, Tls};
use hallpass_processes::HallDir;

use super::{Error, Halls, Location};
use crate::{halls::FAILED, signals::exit_on_truncated_file, time};

/// The heading of the options for halls on a cluster, in help texts.
pub const ON_A_STORE: &str = "Halls on etcd or PostgreSQL";

/// The options that all commands on halls share.
#[derive(Args, Default, Debug, PartialEq, Eq)]
pub struct LocationArgs {
    /// Use the halls shared by all users of this machine
    #[arg(long, conflicts_with = "dir")]
    system: bool,
    /// Use the halls in this directory [default: $HALLPASS_DIR, or a directory of this user]
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
    /// Use the halls on an etcd cluster: etcd://HOST:PORT,HOST:PORT[/PREFIX], or etcds:// for TLS; or on a PostgreSQL
    /// database: postgres://USER@HOST:PORT/DATABASE
    /// [default: $HALLPASS_ON, unless --dir or --system is given]
    #[arg(long, value_name = "URL", conflicts_with_all = ["dir", "system"], help_heading = ON_A_STORE)]
    on: Option<String>,
    /// TLS: the certificate authorities to trust
    #[arg(long, value_name = "FILE", help_heading = ON_A_STORE)]
    cacert: Option<PathBuf>,
    /// TLS: the client certificate
    #[arg(long, value_name = "FILE", requires = "key", help_heading = ON_A_STORE)]
    cert: Option<PathBuf>,
    /// TLS: the key of the client certificate
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = ON_A_STORE)]
    key: Option<PathBuf>,
    /// The user of etcd or PostgreSQL; the password comes from --password-file, $ETCDCTL_PASSWORD or $PGPASSWORD
    // All users can read the command lines of all processes, so hallpass accepts no passwords there.
    #[arg(long, value_name = "NAME", help_heading = ON_A_STORE)]
    user: Option<String>,
    /// A file with the password of the user in its first line
    #[arg(long, value_name = "FILE", help_heading = ON_A_STORE)]
    password_file: Option<PathBuf>,
    /// Fail if no server of etcd or PostgreSQL answers within this time
    /// [default: 5s; for etcd, $ETCDCTL_COMMAND_TIMEOUT if it is set]
    #[arg(long, value_name = "TIME", value_parser = time::parse, help_heading = ON_A_STORE)]
    dial_timeout: Option<Duration>,
}

/// Hides an option for halls on a store from the help of a command that works only for halls of one machine. The
/// command still parses the option, so that its error can say why it refuses the option.
pub fn hide_on_machine(option: Arg) -> Arg {
    let hide = option.get_help_heading() == Some(ON_A_STORE);
    option.hide(hide)
}

impl LocationArgs {
    /// Returns the options of a command line whose only location option is `--dir`.
    pub fn in_dir(dir: PathBuf) -> Self {
        LocationArgs { dir: Some(dir), ..LocationArgs::default() }
    }

    /// Returns the location that the options name.
    pub fn location(&self) -> Result<Location, Error> {
        match self {
            LocationArgs { dir: Some(path), .. } => self.on_machine(HallDir::at(path)),
            LocationArgs { system: true, .. } => self.on_machine(HallDir::system()),
            _ => match self.on.clone().or_else(on_in_environment) {
                Some(url) => Ok(Location::Cluster(Box::new(self.options(&url)?))),
                None => self.on_machine(HallDir::user()?),
            },
        }
    }

    /// Opens the location. If it is a cluster, connects to it.
    pub fn open(self) -> Result<Halls, Error> {
        Ok(match self.location()? {
            Location::Machine(dir) => {
                exit_on_truncated_file(FAILED);
                Halls::OnMachine(dir)
            }
            Location::Cluster(options) => Halls::OnCluster(Cluster::connect(*options)?),
        })
    }

    /// Fails if `--dir` names a directory that does not exist. `status`, `top` and `reap` call this. Otherwise,
    /// they would find no hall if the user has misspelt the path, and would not report an error.
    pub fn check_dir(&self) -> Result<(), Error> {
        match &self.dir {
            Some(dir) if !dir.exists() => {
                Err(Error::Options(format!("there is no directory {}", dir.display())))
            }
            _ => Ok(()),
        }
    }

    /// Fails if an option was given that applies only to clusters.
    fn on_machine(&self, dir: HallDir) -> Result<Location, Error> {
        match self.only_for_clusters() {
            None => Ok(Location::Machine(dir)),
            Some(option) => Err(Error::Options(format!(
                "{option} is for halls on etcd or PostgreSQL: add --on URL"
            ))),
        }
    }

    fn only_for_clusters(&self) -> Option<&'static str> {
        let given = [
            (self.cacert.is_some(), "--cacert"),
            (self.cert.is_some(), "--cert"),
            (self.user.is_some(), "--user"),
            (self.password_file.is_some(), "--password-file"),
            (self.dial_timeout.is_some(), "--dial-timeout"),
        ];
        given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
    }

    fn options(&self, url: &str) -> Result<ClusterOptions, Error> {
        let mut options = ClusterOptions::at(url)?;
        options.state_dir.iter_mut().try_for_each(make_absolute)?;
        if let Some(time) = self.dial_timeout {
            options.command_timeout = time;
        }
        match &mut options.store {
            StoreOptions::Etcd(etcd) => self.complete(etcd)?,
            #[cfg(feature = "postgres")]
            StoreOptions::Postgres(postgres) => self.complete_postgres(postgres)?,
            _ => {
                let why = "a command needs a store that outlives it: use etcd://HOST:PORT or postgres://USER@HOST/DATABASE";
                return Err(Error::Options(format!("--on {url}: {why}")));
            }
        }
        Ok(options)
    }

    /// Adds the options for etcd.
    fn complete(&self, etcd: &mut EtcdOptions) -> Result<(), Error> {
        if let Some(time) = self.dial_timeout {
            // If a member does not answer, enough time must be left to try the others.
            etcd.dial_timeout = etcd.dial_timeout.min(time);
        }
        if let Some(user) = self.user()? {
            etcd.user = Some(user);
            etcd.password_file = self.absolute_password_file()?;
        }
        self.complete_tls(&mut etcd.tls)
    }

    /// Adds the options for PostgreSQL.
    #[cfg(feature = "postgres")]
    fn complete_postgres(&self, postgres: &mut PostgresOptions) -> Result<(), Error> {
        if let Some(time) = self.dial_timeout {
            postgres.connect_timeout = postgres.connect_timeout.min(time);
        }
        if let Some(user) = &self.user {
            postgres.set_user(user);
        }
        if let Some(file) = &self.password_file {
            postgres.password = Some(first_line(file)?);
            postgres.password_file = self.absolute_password_file()?;
        }
        self.complete_tls(&mut postgres.tls)
    }

    /// Returns the path of the password file, if there is one.
    fn absolute_password_file(&self) -> Result<Option<PathBuf>, Error> {
        let mut file = self.password_file.clone();
        file.iter_mut().try_for_each(make_absolute)?;
        Ok(file)
    }

    /// Adds the files for TLS.
    fn complete_tls(&self, tls: &mut Option<Tls>) -> Result<(), Error> {
        if let Some(file) = &self.cacert {
            tls.get_or_insert_default().cacert = Some(file.clone());
        }
        if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
            tls.get_or_insert_default().identity = Some((cert.clone(), key.clone()));
        }
        if let Some(Tls { cacert, identity, .. }) = tls {
            let files = identity.iter_mut().flat_map(|(cert, key)| [cert, key]).chain(cacert);
            files.into_iter().try_for_each(make_absolute)?;
        }
        Ok(())
    }

    /// Returns user and password, if the options name a user or a password file.
    fn user(&self) -> Result<Option<(String, String)>, Error> {
        if self.user.as_ref().is_some_and(|user| user.contains(':')) {
            let why = "--user takes a name only: all users of this machine can read a password on the \
                       command line; put it into $ETCDCTL_PASSWORD or a --password-file";
            return Err(Error::Options(why.into()));
        }
        if self.user.is_none() && self.password_file.is_none() {
            return Ok(None);
        }
        // As for etcdctl, the variable contains NAME or NAME:PASSWORD.
        let both = env::var("ETCDCTL_USER").unwrap_or_default();
        let (name, its_password) = both.split_once(':').unwrap_or((&both, ""));
        let user = self.user.as_deref().unwrap_or(name);
        if user.is_empty() {
            return Err(Error::Options("--password-file requires --user NAME".into()));
        }
        let password = match (&self.password_file, env::var("ETCDCTL_PASSWORD")) {
            (Some(file), _) => first_line(file)?,
            (None, Ok(password)) if !password.is_empty() => password,
            (None, _) if user == name && !its_password.is_empty() => its_password.into(),
            (None, _) => {
                return Err(Error::Options(format!(
                    "no password for --user {user}: put it into $ETCDCTL_PASSWORD or a \
                     --password-file"
                )));
            }
        };
        Ok(Some((user.into(), password)))
    }
}

fn on_in_environment() -> Option<String> {
    // Bytes that are not UTF-8 make the URL invalid, and it is refused later.
    let url = env::var_os("HALLPASS_ON").filter(|url| !url.is_empty())?;
    Some(url.to_string_lossy().into_owned())
}

/// Makes the path absolute: the keeper runs in the root directory.
fn make_absolute(file: &mut PathBuf) -> Result<(), Error> {
    *file =
        absolute(&*file).map_err(|error| Error::Options(format!("{}: {error}", file.display())))?;
    Ok(())
}

fn first_line(file: &Path) -> Result<String, Error> {
    let text = fs::read_to_string(file)
        .map_err(|error| Error::Options(format!("cannot read {}: {error}", file.display())))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.into()),
        _ => Err(Error::Options(format!(
            "the first line of {} is empty; it must contain the password",
            file.display()
        ))),
    }
}
