//! A client of etcd: as much of its gRPC interface as a hall needs.
//!
//! Our own, on tonic, with the messages declared by hand: the crate that has them all generates them with
//! `protoc`, which a newcomer would have to install, and the JSON gateway can be switched off, knows no
//! certificate users, and costs a hop.
