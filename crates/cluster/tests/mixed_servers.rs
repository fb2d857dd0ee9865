//! Tests of URLs that name servers of different clusters.

mod common;

use common::{eventually, options};
use hallpass_cluster::Cluster;
use hallpass_testbed::{EtcdCluster, Proxy, Storage, etcd};
#[cfg(feature = "postgres")]
use hallpass_testbed::{PostgresServer, postgres};

/// Waits until a hall cannot be opened, because the servers belong to different clusters. Opening a hall does not wait
/// long for servers that are slow to answer, so it may succeed at first.
#[track_caller]
fn assert_refused(mixed: &Cluster) {
    eventually(|| match mixed.open("gpu", 1) {
        Ok(_) => false,
        Err(error) => {
            assert!(error.to_string().contains("different clusters"), "{error}");
            true
        }
    });
}

#[test]
fn members_of_two_clusters_in_one_url_are_refused() {
    let Some(()) = etcd() else { return };
    let (one, other) = (EtcdCluster::start(1), EtcdCluster::start(1));
    let both = [&one, &other].map(|cluster| cluster.member(0).client_address().to_string());
    for endpoints in [both.clone(), [both[1].clone(), both[0].clone()]] {
        let options = options(&format!("etcd://{}", endpoints.join(",")));
        let mixed = Cluster::connect(options).expect("valid options");
        assert_refused(&mixed);
    }
}

/// Starts two clusters with the same identity. etcd computes identities from the peer addresses and the token, so
/// clusters that keep the default peer address have the same identity.
fn twins() -> [EtcdCluster; 2] {
    let flags = [
        "--initial-advertise-peer-urls=http://localhost:2380",
        "--initial-cluster=m0=http://localhost:2380",
        "--initial-cluster-token=etcd-cluster",
    ];
    [(); 2].map(|()| EtcdCluster::start_with(1, Storage::Memory, &flags))
}

#[test]
fn members_of_two_clusters_with_the_same_identity_are_refused() {
    let Some(()) = etcd() else { return };
    let [one, other] = twins();
    let addresses = [&one, &other].map(|cluster| cluster.member(0).client_address().to_string());
    let mixed = options(&format!("etcd://{}", addresses.join(",")));
    // Once with equal revisions, and once with different ones.
    for _ in 0..2 {
        let mixed = Cluster::connect(mixed.clone()).expect("valid options");
        assert_refused(&mixed);
        let put = one.etcdctl(&["put", "elsewhere", "x"]).status();
        assert!(put.expect("it runs").success());
    }
    // Two addresses of one member are no mixture.
    let path = Proxy::before(one.member(0));
    let twice = format!("etcd://{},{}", addresses[0], path.address());
    let twice = Cluster::connect(options(&twice)).expect("valid options");
    let hall = twice.open("gpu", 1).expect("a new hall can be created");
    hall.acquire().expect("a slot is free").release().expect("the pass is valid");
    assert_eq!(hall.available().expect("reachable"), 1);
}

/// The first check cannot notice the mixture, because only one member answers.
#[test]
fn a_member_of_another_cluster_that_was_down_when_the_first_hall_was_opened_is_noticed() {
    let Some(()) = etcd() else { return };
    let [one, other] = twins();
    let path = Proxy::before(other.member(0));
    for stop in [Proxy::refuse, Proxy::cut] {
        stop(&path);
        let url = format!("etcd://{},{}", one.member(0).client_address(), path.address());
        let mixed = Cluster::connect(options(&url)).expect("valid options");
        drop(mixed.open("gpu", 1).expect("one member answers"));
        path.heal();
        assert_refused(&mixed);
    }
}

#[test]
#[cfg(feature = "postgres")]
fn servers_that_are_not_copies_of_each_other_are_refused() {
    let Some(()) = postgres() else { return };
    let (one, other) = (PostgresServer::start(), PostgresServer::start());
    for addresses in [[one.address(), other.address()], [other.address(), one.address()]] {
        let mixed = options(&PostgresServer::url_through(&addresses));
        let mixed = Cluster::connect(mixed).expect("valid options");
        assert_refused(&mixed);
    }
}
