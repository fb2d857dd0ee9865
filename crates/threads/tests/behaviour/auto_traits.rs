//! Which types are `Send`, `Sync` and `UnwindSafe`.

use hallpass_threads::{
    Acquire, AcquireError, AcquireMany, AcquireManyOwned, AcquireOwned, BuildError, Builder, Hall,
    OwnedPass, OwnedPasses, Pass, Passes, ResizeError, TryAcquireError,
};
use std::{error::Error, fmt::Debug, future::Future, panic::UnwindSafe};

fn everywhere<T: Send + Sync + Debug>() {}
fn sent<T: Send + Future + Debug>() {}
fn error<T: Error + Send + Sync + 'static>() {}

#[test]
fn halls_and_passes_are_send_and_sync() {
    everywhere::<Hall>();
    everywhere::<Builder>();
    everywhere::<Pass<'static>>();
    everywhere::<OwnedPass>();
    everywhere::<Passes<'static>>();
    everywhere::<OwnedPasses>();
    #[cfg(feature = "papers")]
    everywhere::<hallpass_threads::PaperHall>();
    #[cfg(feature = "papers")]
    everywhere::<hallpass_threads::PaperPass<'static>>();
}

#[test]
fn futures_are_send() {
    sent::<Acquire<'static>>();
    sent::<AcquireOwned>();
    sent::<AcquireMany<'static>>();
    sent::<AcquireManyOwned>();
}

#[test]
fn errors_implement_error() {
    error::<AcquireError>();
    error::<TryAcquireError>();
    error::<ResizeError>();
    error::<BuildError>();
}

/// A holder that panics frees its slot. The hall is not poisoned.
#[test]
fn halls_survive_panics() {
    fn safe<T: UnwindSafe + std::panic::RefUnwindSafe>() {}
    safe::<Hall>();
    let hall = Hall::new(1);
    let caught = std::panic::catch_unwind(|| {
        let _pass = hall.acquire().unwrap();
        panic!("while holding a pass");
    });
    assert!(caught.is_err());
    assert_eq!(hall.available(), 1);
}
