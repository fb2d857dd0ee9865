use super::*;
use crate::{ClusterOptions, runtime::Tasks};

fn parse(url: &str, environment: &[(&str, &str)]) -> Result<ClusterOptions, Error> {
    ClusterOptions::parse(url, &|name| {
        environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
    })
}

fn refused(url: &str, environment: &[(&str, &str)]) -> String {
    match parse(url, environment) {
        Ok(options) => panic!("{url} is accepted: {options:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_url_names_members_and_a_prefix() {
    for (url, endpoints, prefix) in [
        ("etcd://h1:1,h2", &["h1:1", "h2:2379"][..], "/hallpass"),
        ("etcd://h:1/", &["h:1"], "/hallpass"),
        ("etcd://h:1/team-a/builds/", &["h:1"], "/team-a/builds"),
        ("etcd://[::1],[fe80::1]:7", &["[::1]:2379", "[fe80::1]:7"], "/hallpass"),
        ("etcd://", &["127.0.0.1:2379"], "/hallpass"),
        ("etcd:///team-a", &["127.0.0.1:2379"], "/team-a"),
    ] {
        let options = parse(url, &[]).unwrap();
        assert_eq!(options.etcd().endpoints, endpoints, "{url}");
        assert_eq!(options.etcd().prefix, prefix, "{url}");
        assert_eq!(options.etcd().tls, None, "{url}");
        let again = parse(&options.url(), &[]).unwrap();
        assert_eq!(
            (again.etcd().endpoints, again.etcd().prefix),
            (options.etcd().endpoints, options.etcd().prefix)
        );
    }
    assert_eq!(parse("etcds://h", &[]).unwrap().etcd().tls, Some(Tls::default()));
    assert_eq!(parse("etcds://h", &[]).unwrap().url(), "etcds://h:2379");
}

#[test]
fn an_invalid_url_is_refused_with_the_reason() {
    for (url, word) in [
        ("http://h", "etcd://"),
        ("h:2379", "etcd://"),
        ("etcd://h:0", "port"),
        ("etcd://h:+1", "port"),
        ("etcd://h:port", "port"),
        ("etcd://h:70000", "port"),
        ("etcd://::1:2379", "brackets"),
        ("etcd://[h]:2379", "IPv6"),
        ("etcd://h1,,h2", "no host"),
        ("etcd://h h", "name"),
        ("etcd://h/a//b", "prefix"),
        ("etcd://h/a?b", "prefix"),
    ] {
        let error = refused(url, &[]);
        assert!(error.contains(word), "{url}: {error}");
    }
    for url in ["etcd://joe:topsecret@h", "etcd://joe:topsecret/x@h"] {
        let error = refused(url, &[]);
        assert!(error.contains("ETCDCTL_USER") && !error.contains("topsecret"), "{error}");
    }
}

#[test]
fn without_hosts_the_members_are_those_of_etcdctl() {
    let at = |list| parse("etcd://", &[("ETCDCTL_ENDPOINTS", list)]);
    let options = at("http://h1:1, h2").unwrap();
    assert_eq!(
        (options.etcd().endpoints, options.etcd().tls),
        (vec!["h1:1".into(), "h2:2379".into()], None)
    );
    assert_eq!(at("https://h/").unwrap().etcd().tls, Some(Tls::default()));
    assert!(at("https://h1,http://h2").unwrap_err().to_string().contains("all or none"));
    assert!(at("unix://h").unwrap_err().to_string().contains("ETCDCTL_ENDPOINTS"));
    // Hosts in the URL take precedence.
    let options = parse("etcd://h", &[("ETCDCTL_ENDPOINTS", "https://other")]).unwrap();
    assert_eq!((options.etcd().endpoints, options.etcd().tls), (vec!["h:2379".into()], None));
}

#[test]
fn certificates_mean_tls() {
    let options = parse("etcd://h", &[("ETCDCTL_CACERT", "/ca.pem")]).unwrap();
    assert_eq!(options.etcd().tls, Some(Tls { cacert: Some("/ca.pem".into()), ..Tls::default() }));
    let options = parse("etcd://h", &[("ETCDCTL_CERT", "/c"), ("ETCDCTL_KEY", "/k")]).unwrap();
    assert_eq!(options.etcd().tls.unwrap().identity, Some(("/c".into(), "/k".into())));
    assert!(refused("etcd://h", &[("ETCDCTL_CERT", "/c")]).contains("ETCDCTL_KEY"));
    assert!(refused("etcd://h", &[("ETCDCTL_KEY", "/k")]).contains("ETCDCTL_CERT"));
    let skip = "ETCDCTL_INSECURE_SKIP_TLS_VERIFY";
    assert!(refused("etcds://h", &[(skip, "true")]).contains("always verifies"));
    assert!(parse("etcds://h", &[(skip, "false")]).is_ok());
}

#[test]
fn the_password_of_a_user_is_not_shown() {
    let user =
        |environment: &[_]| parse("etcd://h", environment).map(|options| options.etcd().user);
    let joe = Some(("joe".to_string(), "topsecret".to_string()));
    assert_eq!(user(&[("ETCDCTL_USER", "joe:topsecret")]).unwrap(), joe);
    let environment = [("ETCDCTL_USER", "joe"), ("ETCDCTL_PASSWORD", "topsecret")];
    assert_eq!(user(&environment).unwrap(), joe);
    let joe = parse("etcd://h", &[("ETCDCTL_USER", "joe")]).unwrap();
    assert!(joe.connect(Tasks::default()).err().unwrap().to_string().contains("PASSWORD"));
    let shown = format!("{:?}", parse("etcd://h", &environment).unwrap());
    assert!(shown.contains("joe") && !shown.contains("topsecret"), "{shown}");
}

#[test]
fn timeouts_and_the_ttl_have_defaults_and_bounds() {
    let options = parse("etcd://h", &[("ETCDCTL_DIAL_TIMEOUT", "")]).unwrap();
    assert_eq!(options.etcd().dial_timeout, Duration::from_secs(2));
    assert_eq!(options.command_timeout, Duration::from_secs(5));
    assert_eq!(options.ttl, Duration::from_secs(20));
    assert_eq!(options.attempt_times(), [2, 5].map(Duration::from_secs));
    let options = parse("etcd://h", &[("ETCDCTL_COMMAND_TIMEOUT", "100ms")]).unwrap();
    assert_eq!(options.attempt_times(), [100, 100].map(Duration::from_millis));
    assert!(refused("etcd://h", &[("ETCDCTL_DIAL_TIMEOUT", "5")]).contains("500ms"));
    assert!(refused("etcd://h", &[("ETCDCTL_DIAL_TIMEOUT", "0s")]).contains("longer than 0 s"));

    for (ttl, fits) in [(1999, false), (2000, true), (3_600_000, true), (3_600_001, false)] {
        let options = ClusterOptions { ttl: Duration::from_millis(ttl), ..options.clone() };
        assert_eq!(options.check().is_ok(), fits, "{ttl} ms");
    }
}
