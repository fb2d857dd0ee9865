//! The registry entries of Omori et al.'s algorithms.

use super::{excl, gtex, naive, wrong};
use crate::registry::{Entry, changed, entries};

/// The paper bounds time, not remote references.
const OMORI: Entry = Entry::new("Omori et al. 2002", "");

entries! {
    statements: "statements.toml";

    "omori-naive" + names => naive, OMORI.figure("NAIVE").titled("Peterson's levels").without_resilience();
    "omori-excl" + names => excl, OMORI.figure("EXCL, Thm 4").titled("levels that count");
    "omori-gtex" + names => gtex, OMORI.figure("GTEX, Thm 10").titled("tournament of groups");
    "omori-gtex:printed" => wrong::gtex_printed, OMORI.figure("GTEX").printed("gcheck's turn(p, q), one for all nodes of a height, as printed");
    "omori-excl:no-turn" => |n, k| changed::<_, wrong::NoTurn>(excl, n, k), OMORI.figure("EXCL").wrong("turn(s) := i dropped");
    "omori-excl:turn-first" => |n, k| changed::<_, wrong::TurnFirst>(excl, n, k), OMORI.figure("EXCL").wrong("turn(s) := i before level(i) := s");
    "omori-excl:off-by-one" => wrong::excl_off_by_one, OMORI.figure("EXCL").wrong("count <= n-s is accepted");
    "omori-excl:count-kept" => |n, k| changed::<_, wrong::CountKept>(excl, n, k), OMORI.figure("EXCL").wrong("check continues from the previous count");
    "omori-excl:no-first-level" => wrong::excl_no_first_level, OMORI.figure("EXCL").wrong("level 1 is left out").min_gap(2);
    "omori-excl:no-reset" => |n, k| changed::<_, wrong::NoReset>(excl, n, k), OMORI.figure("EXCL").wrong("level(i) := 0 dropped");
    "omori-gtex:no-root" => wrong::gtex_no_root, OMORI.figure("GTEX").wrong("the competitions of the root are left out");
    "omori-gtex:leaf-as-inner" => wrong::gtex_leaf_as_inner, OMORI.figure("GTEX").wrong("leaves compete like inner nodes, as for n = 2^t 2k");
}
