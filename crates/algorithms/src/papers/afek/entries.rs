//! The registry entries of Afek et al.'s algorithm.

use super::{Afek, wrong};
use crate::{
    framework::changed::Changed,
    papers::timestamps::{Linear, Quadratic, Timestamps, Uctss, wrong::Printed},
    registry::{Entry, changed, entries},
};

const AFEK: Entry = Entry::new("Afek et al. 1994", "Fig. 2").fife_strong();

entries! {
    statements: "statements.toml";

    "afek" + names => Afek::<Uctss>::new, AFEK.titled("on unbounded timestamps");
    "afek@linear" + names => Afek::<Linear>::new, AFEK.titled("on bounded timestamps in linear time").max_processes(<Linear as Timestamps>::MAX_PROCESSES);
    "afek@quadratic" + names => Afek::<Quadratic>::new, AFEK.titled("on bounded timestamps in quadratic time").max_processes(<Quadratic as Timestamps>::MAX_PROCESSES);
    "afek:printed" => Afek::<Changed<Uctss, Printed>>::new, AFEK.figure("Fig. 2 over Fig. 1").printed("Label keeps a timestamp that equals the largest, as printed");
    "afek:no-second-label" => |n, k| changed::<_, wrong::NoSecondLabel>(Afek::<Uctss>::new, n, k), AFEK.wrong("line 12 dropped");
    "afek:no-label" => |n, k| changed::<_, wrong::NoLabel>(Afek::<Uctss>::new, n, k), AFEK.wrong("line 2 dropped");
    "afek:late-flag" => |n, k| changed::<_, wrong::LateFlag>(Afek::<Uctss>::new, n, k), AFEK.wrong("lines 1 and 2 swapped");
    "afek:everybody-counts" => |n, k| changed::<_, wrong::EverybodyCounts>(Afek::<Uctss>::new, n, k), AFEK.wrong("line 4 adds every process");
    "afek:no-second-look" => |n, k| changed::<_, wrong::NoSecondLook>(Afek::<Uctss>::new, n, k), AFEK.wrong("line 6 dropped");
    "afek:one-too-many" => |n, k| changed::<_, wrong::OneTooMany>(Afek::<Uctss>::new, n, k), AFEK.wrong("line 9 lets one process too many enter");
}
