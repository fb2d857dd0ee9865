use hallpass_lab::{explore::*, machine, space::*, tables::Tables};
use std::sync::atomic::AtomicBool;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (n, k, t) = (a[2].parse().unwrap(), a[3].parse().unwrap(), a[4].parse().unwrap());
    let m = machine::build(&a[1], n, k).unwrap();
    let tables = Tables::new(&*m).unwrap();
    println!(
        "bits {} words {} locals {:?}",
        tables.bits,
        tables.words,
        tables.codes.iter().map(|c| c.len()).collect::<Vec<_>>()
    );
    let stop = AtomicBool::new(false);
    let limits =
        Limits { states: 1 << 31, bytes: 20 << 30, threads: t, stop: &stop, progress: &|_| () };
    let space = Sequential {
        tables: &tables,
        contention: n,
        initial: if a.get(5).is_some() { Initial::Smallest } else { Initial::All },
        watch: Watch { exclusion: true, names: false },
        invariants: None,
    };
    let t0 = std::time::Instant::now();
    macro_rules! go {
        ($w:literal) => {{
            let e = explore::<$w, _>(&space, &limits);
            (
                e.states,
                e.transitions,
                e.depth,
                e.bytes,
                e.flawed(0).map(|id| e.path(&space, id).1.len()),
                format!("{:?}", e.ended),
            )
        }};
    }
    let e = match tables.words {
        1 => go!(1),
        2 => go!(2),
        3 => go!(3),
        _ => go!(4),
    };
    let s = t0.elapsed().as_secs_f64();
    println!(
        "states {} trans {} depth {} bytes/state {:.1} flaw {:?} {} {:.2}s {:.2}M/s",
        e.0,
        e.1,
        e.2,
        e.3 as f64 / e.0 as f64,
        e.4,
        e.5,
        s,
        e.0 as f64 / s / 1e6
    );
}
