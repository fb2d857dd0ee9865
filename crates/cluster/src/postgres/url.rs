//! The URL of a database, `postgres://USER@HOST:PORT,HOST:PORT/DATABASE?OPTION=VALUE`.

use std::{
    env, fs, net::Ipv6Addr, os::unix::fs::PermissionsExt, path::PathBuf, str::FromStr,
    time::Duration,
};

use tokio_postgres::config::{Config, Host};

use super::{
    options::PostgresOptions,
    pgpass::{self, Login},
};
use crate::{
    Error, Tls,
    options::{Variables, bad},
    records,
};

const PORT: u16 = 5432;

/// The TLS options of libpq, which the client crate does not read, and their environment variables.
const TLS_OPTIONS: [(&str, &str); 4] = [
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
];

/// Returns whether this is the URL of a PostgreSQL database.
pub(crate) fn is_url(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

impl PostgresOptions {
    /// Parses a URL and the variables of libpq. Also returns the command timeout.
    pub(crate) fn parse(
        url: &str,
        variable: &Variables,
    ) -> Result<(PostgresOptions, Duration), Error> {
        let (address, tls) = split_tls(url)?;
        // The message does not show the URL, because the URL may have a password anywhere.
        let config = Config::from_str(&address)
            .map_err(|error| bad("the URL of a database", reason(&error)))?;
        if config.get_password().is_some() {
            let why = "every user can see a password in the URL by listing processes: \
                       set PGPASSWORD or write ~/.pgpass instead";
            return Err(bad("the URL of a database", why));
        }
        let hosts = hosts(&config, variable)?;
        let named = |name: Option<&str>, key| name.map(String::from).or_else(|| variable(key));
        let user = named(config.get_user(), "PGUSER").unwrap_or_else(records::user);
        let database = named(config.get_dbname(), "PGDATABASE").unwrap_or_else(|| user.clone());
        let connect_timeout = connect_timeout(&config, variable)?;
        let tls = tls_of(tls, variable)?;
        let mut options = PostgresOptions {
            hosts,
            user,
            database,
            password: None,
            password_file: None,
            tls,
            connect_timeout,
            share_connection: false,
        };
        let user = options.user.clone();
        options.change_user(&user, variable);
        Ok((options, Duration::from_secs(5)))
    }

    /// Returns the URL of the database, without secrets.
    pub(crate) fn url(&self) -> String {
        let host = |(host, port): &(String, u16)| match host.parse::<Ipv6Addr>() {
            Ok(_) => format!("[{host}]:{port}"),
            Err(_) => format!("{}:{port}", escaped(host)),
        };
        let hosts: Vec<_> = self.hosts.iter().map(host).collect();
        let tls = if self.tls.is_some() { "?sslmode=verify-full" } else { "" };
        let (user, database) = (escaped(&self.user), escaped(&self.database));
        format!("postgres://{user}@{}/{database}{tls}", hosts.join(","))
    }

    /// Changes the user. The password of this user comes from `PGPASSWORD` or from the password file.
    ///
    /// ```
    /// use hallpass_cluster::{ClusterOptions, StoreOptions};
    ///
    /// let mut options = ClusterOptions::at("postgres://db-1/halls")?;
    /// if let StoreOptions::Postgres(postgres) = &mut options.store {
    ///     postgres.set_user("joe");
    /// }
    /// assert_eq!(options.url(), "postgres://joe@db-1:5432/halls");
    /// # Ok::<(), hallpass_cluster::Error>(())
    /// ```
    pub fn set_user(&mut self, user: &str) {
        self.change_user(user, &|name| {
            let value = env::var_os(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some(value)
        });
    }

    fn change_user(&mut self, user: &str, variable: &Variables) {
        self.user = user.into();
        self.password = variable("PGPASSWORD").or_else(|| self.password_in_file(variable));
    }

    /// Looks the password up in the password file, unless other users may read this file.
    fn password_in_file(&self, variable: &Variables) -> Option<String> {
        let in_home = || Some(PathBuf::from(variable("HOME")?).join(".pgpass"));
        let path = variable("PGPASSFILE").map(PathBuf::from).or_else(in_home)?;
        let private = fs::metadata(&path).ok()?.permissions().mode() & 0o077 == 0;
        let file = private.then(|| fs::read_to_string(&path).ok()).flatten()?;
        let (database, user) = (self.database.as_str(), self.user.as_str());
        self.hosts.iter().find_map(|(host, port)| {
            pgpass::find(&file, Login { host, port: *port, database, user })
        })
    }
}

/// Returns the hosts and ports. A host in the URL without a port has the default port. If the URL has no host, the
/// hosts are those of `PGHOST`, or else this machine: the directory of its sockets if it exists, or `localhost`.
/// Without host and port in the URL, the ports are those of `PGPORT`, or else the default port.
fn hosts(config: &Config, variable: &Variables) -> Result<Vec<(String, u16)>, Error> {
    let mut hosts: Vec<String> = Vec::new();
    for host in config.get_hosts() {
        hosts.push(match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.to_string_lossy().into_owned(),
        });
    }
    if hosts.is_empty() {
        let default = || {
            let sockets = "/var/run/postgresql";
            if PathBuf::from(sockets).is_dir() { sockets } else { "localhost" }.into()
        };
        let list = variable("PGHOST").unwrap_or_else(default);
        hosts = list.split(',').map(String::from).collect();
    }
    let mut ports = config.get_ports().to_vec();
    if ports.is_empty() {
        let list = variable("PGPORT").unwrap_or_else(|| PORT.to_string());
        let wrong = |text: &str| bad("PGPORT", format!("must be a port number, got `{text}`"));
        let port = |text: &str| text.parse().map_err(|_| wrong(text));
        ports = list.split(',').map(port).collect::<Result<_, _>>()?;
    }
    if ports.len() != 1 && ports.len() != hosts.len() {
        let (ports, hosts) = (ports.len(), hosts.len());
        let why = format!(
            "must have one port, or a port for each host, got {ports} ports for {hosts} hosts"
        );
        return Err(bad("the URL of a database", why));
    }
    let port = |at: usize| *ports.get(at).unwrap_or(&ports[0]);
    Ok(hosts.into_iter().enumerate().map(|(at, host)| (host, port(at))).collect())
}

fn connect_timeout(config: &Config, variable: &Variables) -> Result<Duration, Error> {
    if let Some(time) = config.get_connect_timeout() {
        return Ok(*time);
    }
    match variable("PGCONNECT_TIMEOUT") {
        None => Ok(Duration::from_secs(2)),
        Some(text) => match text.parse() {
            Ok(seconds @ 1..) => Ok(Duration::from_secs(seconds)),
            _ => {
                let why = format!("must be a number of seconds, at least 1, got `{text}`");
                Err(bad("PGCONNECT_TIMEOUT", why))
            }
        },
    }
}

/// Options about TLS with their values.
type TlsValues<'a> = Vec<(&'a str, String)>;

/// Separates the options about TLS from the rest of the URL.
fn split_tls(url: &str) -> Result<(String, TlsValues<'_>), Error> {
    let Some((address, options)) = url.split_once('?') else { return Ok((url.into(), vec![])) };
    let (mut tls, mut others) = (Vec::new(), Vec::new());
    for option in options.split('&') {
        match option.split_once('=') {
            Some((name, value)) if TLS_OPTIONS.iter().any(|(one, _)| *one == name) => {
                let Some(value) = unescaped(value) else {
                    return Err(bad(name, "its value is not valid text"));
                };
                tls.push((name, value));
            }
            _ => others.push(option),
        }
    }
    let rest = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
    Ok((format!("{address}{rest}"), tls))
}

/// Returns the files for TLS; `None` for connections without TLS.
fn tls_of(given: TlsValues<'_>, variable: &Variables) -> Result<Option<Tls>, Error> {
    let [mode, cacert, cert, key] = TLS_OPTIONS.map(|(name, instead)| {
        let found = given.iter().rev().find(|(one, _)| *one == name);
        found.map(|(_, value)| value.clone()).or_else(|| variable(instead))
    });
    let wanted = match mode.as_deref() {
        Some("disable") => return Ok(None),
        // These modes of libpq do not protect the connection, because they accept a server without TLS.
        None | Some("allow" | "prefer") => false,
        Some("require" | "verify-ca" | "verify-full") => true,
        Some(mode) => {
            let modes = "disable, allow, prefer, require, verify-ca or verify-full";
            return Err(bad("sslmode", format!("must be {modes}, got `{mode}`")));
        }
    };
    let identity = match (cert, key) {
        (Some(cert), Some(key)) => Some((cert.into(), key.into())),
        (None, None) => None,
        _ => return Err(bad("sslcert", "set both sslcert and sslkey, or neither")),
    };
    let wanted = wanted || cacert.is_some() || identity.is_some();
    Ok(wanted.then(|| Tls { cacert: cacert.map(PathBuf::from), identity, server_name: None }))
}

/// Escapes all characters that have a meaning in a URL.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Undoes [`escaped`]. Returns `None` if the text is not valid.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part.get(2..)?.bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Describes an error and its cause.
fn reason(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str, environment: &[(&str, &str)]) -> Result<PostgresOptions, Error> {
        let variable = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
        };
        PostgresOptions::parse(url, &variable).map(|(options, _)| options)
    }

    #[test]
    fn a_url_names_servers_a_user_and_a_database() {
        let options = parse("postgresql://joe@h1,h2:7/halls", &[]).unwrap();
        assert_eq!(options.hosts, [("h1".into(), 5432), ("h2".into(), 7)]);
        assert_eq!((&*options.user, &*options.database), ("joe", "halls"));
        assert_eq!(options.url(), "postgres://joe@h1:5432,h2:7/halls");
        assert_eq!(options.tls, None);
        let socket = parse("postgres://joe@%2Ftmp%2Fa/halls", &[]).unwrap();
        assert_eq!(socket.hosts, [("/tmp/a".into(), 5432)]);
        assert_eq!(parse(&socket.url(), &[]).unwrap().hosts, socket.hosts);
        let odd = parse("postgres://joe@[::1],[N:%2Fx]/halls", &[]).unwrap();
        assert_eq!(odd.url(), "postgres://joe@[::1]:5432,N%3A%2Fx:5432/halls");
        assert_eq!(parse(&odd.url(), &[]).unwrap().hosts, odd.hosts);
    }

    #[test]
    fn variables_of_libpq_fill_the_gaps() {
        let variables = [
            ("PGHOST", "db"),
            ("PGPORT", "9"),
            ("PGUSER", "ann"),
            ("PGDATABASE", "halls"),
            ("PGPASSWORD", "topsecret"),
            ("PGCONNECT_TIMEOUT", "7"),
            ("PGSSLROOTCERT", "/ca.pem"),
        ];
        let options = parse("postgres://", &variables).unwrap();
        assert_eq!(options.url(), "postgres://ann@db:9/halls?sslmode=verify-full");
        assert_eq!(options.password.as_deref(), Some("topsecret"));
        assert_eq!(options.connect_timeout, Duration::from_secs(7));
        assert!(!format!("{options:?}").contains("topsecret"));
        let options = parse("postgres://joe@h/x?sslmode=disable", &variables).unwrap();
        assert_eq!((options.url(), options.tls), ("postgres://joe@h:5432/x".into(), None));
        let options = parse("postgres://joe@h/x?sslrootcert=%2Fa%20b", &[]).unwrap();
        assert_eq!(options.tls.unwrap().cacert, Some("/a b".into()));
    }

    #[test]
    fn another_user_gets_its_own_password() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, "*:*:*:joe:one\n*:*:*:ann:two\n").unwrap();
        let path = file.path().to_str().unwrap().to_string();
        let variable = |name: &str| (name == "PGPASSFILE").then(|| path.clone());
        let (mut options, _) = PostgresOptions::parse("postgres://joe@h/x", &variable).unwrap();
        assert_eq!(options.password.as_deref(), Some("one"));
        options.change_user("ann", &variable);
        assert_eq!((&*options.user, options.password.as_deref()), ("ann", Some("two")));
        options.change_user("eve", &variable);
        assert_eq!(options.password, None);
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_shown() {
        for url in ["postgres://joe:topsecret@h/x", "postgres://joe@h/x?password=topsecret"] {
            let error = parse(url, &[]).unwrap_err().to_string();
            assert!(error.contains("PGPASSWORD") && !error.contains("topsecret"), "{error}");
        }
        for url in [
            "postgres://joe:topsecret@h:port/x",
            "postgres://joe@h:port/x?password=topsecret",
            "postgres://h:port/x?password=topsecret",
            "postgres://joe@h:port/x?password=a@topsecret",
            "postgres://joe@h/x?password=topsecret&nosuchoption=1",
        ] {
            let error = parse(url, &[]).unwrap_err().to_string();
            assert!(!error.contains("topsecret"), "{error}");
        }
        assert!(parse("postgres://h/x?sslmode=no", &[]).is_err());
        assert!(parse("postgres://", &[("PGPORT", "x")]).is_err());
    }
}
