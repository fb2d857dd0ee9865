//! Access: users with passwords, and certificates.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tempfile::TempDir;

use super::{server::Server, *};
use crate::Tls;

#[test]
fn a_user_with_a_password_has_the_rights_of_its_role() {
    // Tokens expire after a second without use.
    // Cheap hashes of passwords keep the test short.
    let flags = ["--auth-token-ttl=1".into(), "--bcrypt-cost=4".into()];
    let Some(server) = Server::start_with("http", &flags, vec![]) else {
        return;
    };
    for command in [
        "user add root:rootpw",
        "user grant-role root root",
        "user add joe:joepw",
        "role add halls",
        "role grant-permission halls --prefix=true readwrite /hallpass/",
        "user grant-role joe halls",
    ] {
        server.etcdctl(&command.split(' ').collect::<Vec<_>>());
    }
    wait(async {
        let user = |name: &str, password: &str| {
            let user = Some((name.into(), password.into()));
            let mut options = options(&server);
            options.etcd_mut().user = user;
            new_client(&options)
        };
        let joe = user("joe", "joepw");
        // Without authentication, the cluster accepts the call without a token.
        joe.txn(put("/hallpass/a", 0)).await.unwrap();
        server.etcdctl(&["auth", "enable"]);
        // With authentication, the client requests a token by itself.
        joe.txn(put("/hallpass/a", 0)).await.unwrap();
        let lease = joe.grant(600).await.unwrap();
        let revision = joe.txn(put("/hallpass/b", lease.id)).await.unwrap().revision;
        assert_eq!(joe.keep_alive(lease.id).await, Ok(true));
        let ours = || vec![KeyRange::prefix("/hallpass/")];
        let mut watch = joe.watch_from(ours(), revision).await.unwrap();
        assert_eq!(keys(&watch.next().await.unwrap()), [("/hallpass/b", false)]);

        for failure in [
            joe.txn(put("/elsewhere", 0)).await.unwrap_err(),
            joe.watch(vec![KeyRange::one("/elsewhere")]).await.err().unwrap(),
            user("joe", "guess").txn(put("/hallpass/a", 0)).await.unwrap_err(),
            user("nobody", "x").txn(put("/hallpass/a", 0)).await.unwrap_err(),
            client(&server).txn(put("/hallpass/a", 0)).await.unwrap_err(),
        ] {
            assert!(matches!(failure, Failure::Denied(_)), "{failure:?}");
        }

        // After the token has expired, a transaction, a renewal of a lease and a watch each request a new token. etcd
        // removes expired tokens once a second.
        let clients = [(); 3].map(|()| user("joe", "joepw"));
        for client in &clients {
            client.txn(put("/hallpass/c", 0)).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(2500)).await;
        let [one, two, three] = &clients;
        one.txn(put("/hallpass/c", 0)).await.unwrap();
        assert_eq!(two.keep_alive(lease.id).await, Ok(true));
        three.watch(ours()).await.unwrap();
        joe.revoke(lease.id).await.unwrap();
    });
}

#[test]
fn certificates_of_members_and_clients_are_verified() {
    let Some(pki) = Pki::new() else { return };
    let more = [
        format!("--cert-file={}", pki.path("server.pem").display()),
        format!("--key-file={}", pki.path("server.key").display()),
        format!("--trusted-ca-file={}", pki.path("ca.pem").display()),
        "--client-cert-auth".into(),
    ];
    let flags = vec![
        format!("--cacert={}", pki.path("ca.pem").display()),
        format!("--cert={}", pki.path("joe.pem").display()),
        format!("--key={}", pki.path("joe.key").display()),
    ];
    let Some(server) = Server::start_with("https", &more, flags) else { return };
    let joe = Some((pki.path("joe.pem"), pki.path("joe.key")));
    let try_with = async |host: &str, ca: &str, identity: &Option<(PathBuf, PathBuf)>| {
        let tls = Tls { cacert: Some(pki.path(ca)), identity: identity.clone(), server_name: None };
        let endpoints = vec![format!("{host}:{}", server.port)];
        let mut options = options(&server);
        let etcd = options.etcd_mut();
        (etcd.endpoints, etcd.tls) = (endpoints, Some(tls));
        new_client(&options).txn(put("a", 0)).await
    };
    wait(async {
        assert!(try_with("127.0.0.1", "ca.pem", &joe).await.unwrap().succeeded);
        let failure = try_with("127.0.0.1", "other.pem", &joe).await.unwrap_err();
        assert!(
            matches!(&failure, Failure::Denied(why) if why.contains("UnknownIssuer")),
            "{failure:?}"
        );
        // The certificate is for an address, not for a name.
        let failure = try_with("localhost", "ca.pem", &joe).await.unwrap_err();
        assert!(
            matches!(&failure, Failure::Denied(why) if why.contains("not valid for name")),
            "{failure:?}"
        );
        // A client without a certificate, and a client with a certificate from another authority. Sometimes the
        // connection is closed before the reason arrives.
        let stranger = Some((pki.path("other.pem"), pki.path("other.key")));
        for identity in [None, stranger] {
            loop {
                match try_with("127.0.0.1", "ca.pem", &identity).await.unwrap_err() {
                    Failure::Denied(why) if why.contains("ertificate") => break,
                    Failure::Unreachable(why) if why.contains("certificate") => (),
                    other => panic!("{other:?}"),
                }
            }
        }
        let failure = client(&server).txn(put("a", 0)).await.unwrap_err();
        assert!(
            matches!(&failure, Failure::Unreachable(why) if why.contains("need TLS")),
            "{failure:?}"
        );
    });
}

#[test]
fn a_member_with_a_bad_certificate_is_skipped_and_named() {
    skips_and_names_member("stranger", "UnknownIssuer");
}

#[test]
fn a_member_with_an_expired_certificate_is_skipped_and_named() {
    skips_and_names_member("expired", "expired");
}

/// Checks that a client skips a member that has the certificate `bad`, and that every error names this member and
/// contains `reason`.
fn skips_and_names_member(bad: &str, reason: &str) {
    let Some(pki) = Pki::new() else { return };
    let server = |name: &str| {
        let more = [
            format!("--cert-file={}", pki.path(&format!("{name}.pem")).display()),
            format!("--key-file={}", pki.path(&format!("{name}.key")).display()),
        ];
        // etcdctl has to reach the member although its certificate is bad.
        let cacert = format!("--cacert={}", pki.path("ca.pem").display());
        Server::start_with("https", &more, vec![cacert, "--insecure-skip-tls-verify".into()])
    };
    let (Some(good), Some(bad)) = (server("server"), server(bad)) else { return };
    let address = |server: &Server| format!("127.0.0.1:{}", server.port);
    let connect = |endpoints: Vec<String>| {
        let tls = Tls { cacert: Some(pki.path("ca.pem")), ..Tls::default() };
        let mut options = options(&good);
        let etcd = options.etcd_mut();
        (etcd.endpoints, etcd.tls) = (endpoints, Some(tls));
        new_client(&options)
    };
    let names_member = |why: &str| why.contains(&address(&bad)) && why.contains(reason);
    wait(async {
        // Each client begins with a random member.
        for _ in 0..10 {
            let client = connect(vec![address(&bad), address(&good)]);
            let write = async || {
                let written = client.txn(put("a", 0)).await;
                if let Err(failure) = &written {
                    assert!(
                        matches!(failure, Failure::Unreachable(why) if names_member(why)),
                        "{failure:?}"
                    );
                }
                written
            };
            retrying(&client, TIMEOUT, write).await.unwrap();
        }
        // If no member has a good certificate, waiting does not help.
        let client = connect(vec![address(&bad), address(&bad)]);
        let error = retrying(&client, TIMEOUT, async || client.txn(put("a", 0)).await).await;
        let error = error.unwrap_err();
        assert!(matches!(&error, Error::Denied { why, .. } if names_member(why)), "{error}");
    });
}

#[test]
fn tls_to_a_member_without_tls_fails_with_a_hint() {
    let Some(server) = Server::start() else { return };
    let Some(pki) = Pki::new() else { return };
    let tls = Tls { cacert: Some(pki.path("ca.pem")), ..Tls::default() };
    let mut options = options(&server);
    options.etcd_mut().tls = Some(tls);
    wait(async {
        let failure = new_client(&options).grant(5).await.unwrap_err();
        assert!(
            matches!(&failure, Failure::Unreachable(why) if why.contains("support TLS")),
            "{failure:?}"
        );
    });
}

#[test]
fn files_without_a_certificate_are_named() {
    let Some(pki) = Pki::new() else { return };
    let bad = |tls| {
        let mut options = ClusterOptions::at("etcd://h").unwrap();
        options.etcd_mut().tls = Some(tls);
        Client::new(&options.etcd(), &options).err().unwrap().to_string()
    };
    let missing = bad(Tls { cacert: Some("/no/such/file".into()), ..Tls::default() });
    assert!(missing.contains("/no/such/file"), "{missing}");
    let identity = Some((pki.path("joe.key"), pki.path("joe.pem")));
    let swapped = bad(Tls { cacert: Some(pki.path("ca.pem")), identity, server_name: None });
    assert!(swapped.contains("joe.key") && swapped.contains("CERTIFICATE"), "{swapped}");
    std::fs::write(pki.path("empty.pem"), "").unwrap();
    let empty = bad(Tls { cacert: Some(pki.path("empty.pem")), ..Tls::default() });
    assert!(empty.contains("empty.pem") && empty.contains("CERTIFICATE"), "{empty}");
}

#[test]
fn members_with_tls_may_be_ipv6_addresses() {
    let Some(pki) = Pki::new() else { return };
    let tls = Some(Tls { cacert: Some(pki.path("ca.pem")), ..Tls::default() });
    let mut options = ClusterOptions::at("etcd://[::1]").unwrap();
    options.etcd_mut().tls = tls;
    assert!(Client::new(&options.etcd(), &options).is_ok());
}

/// The certificates of the tests. `ca` signs `server`, `expired` and `joe`; `other` and `stranger` are self-signed.
/// `server`, `expired` and `stranger` are for the addresses 127.0.0.1 and ::1. `expired` has expired.
struct Pki(TempDir);

impl Pki {
    /// Creates the certificates. Returns `None` if the tools are not installed.
    fn new() -> Option<Pki> {
        hallpass_testbed::etcd()?;
        let pki = Pki(tempfile::tempdir().unwrap());
        pki.make("ca", &["-addext", "basicConstraints=critical,CA:true"]);
        pki.make("other", &[]);
        let signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=CA:false"];
        pki.make("joe", &signed);
        let addresses = ["-addext", "subjectAltName=IP:127.0.0.1,IP:::1"];
        pki.make("server", &[&signed[..], &addresses].concat());
        let no_authority = ["-addext", "basicConstraints=CA:false"];
        pki.make("stranger", &[no_authority, addresses].concat());
        pki.make_expired();
        Some(pki)
    }

    fn make(&self, name: &str, more: &[&str]) {
        let certificate = format!("{name}.pem");
        let signed = ["-x509", "-days", "2", "-out", &certificate];
        self.request(name, &[&signed, more].concat());
    }

    /// Creates a key. Depending on `more`, also creates a certificate or a request for a certificate.
    fn request(&self, name: &str, more: &[&str]) {
        let new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
        let (subject, key) = (format!("/CN={name}"), format!("{name}.key"));
        self.openssl(&[&new[..], &["-subj", &subject, "-keyout", &key], more].concat());
    }

    /// Creates `expired`. `openssl req` cannot choose a date in the past, but `openssl ca` can.
    fn make_expired(&self) {
        const CONFIG: &str = "[ca]\ndefault_ca = ca_default\n[ca_default]\ndatabase = index.txt\n\
            new_certs_dir = .\nrand_serial = yes\ndefault_md = sha256\npolicy = policy\n\
            x509_extensions = server\n[policy]\ncommonName = supplied\n\
            [server]\nbasicConstraints = CA:false\nsubjectAltName = IP:127.0.0.1,IP:::1\n";
        std::fs::write(self.path("ca.conf"), CONFIG).unwrap();
        std::fs::write(self.path("index.txt"), "").unwrap();
        self.request("expired", &["-out", "expired.csr"]);
        let files = ["-cert", "ca.pem", "-keyfile", "ca.key", "-in", "expired.csr"];
        let dates = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"];
        let output = ["-out", "expired.pem", "-notext", "-batch"];
        let command = ["ca", "-config", "ca.conf"];
        self.openssl(&[&command[..], &files, &dates, &output].concat());
    }

    fn openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl")
            .current_dir(&self.0)
            .args(arguments)
            .output()
            .expect("openssl is installed");
        assert!(output.status.success(), "{output:?}");
    }

    fn path(&self, file: &str) -> PathBuf {
        Path::new(self.0.path()).join(file)
    }
}
