//! Prints the run a replay string holds: `replay <string>`.

use hallpass_lab::trace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let line = args.pop().ok_or("usage: replay <replay string>")?;
    let schedule = trace::decode(&line)?;
    let trace = trace::run(&schedule, &trace::conventions(&schedule))?;
    print!("{}", trace::text(&trace, false));
    match trace::confirm(&schedule) {
        Ok(()) => eprintln!("Confirmed: {}.", trace::describe(&schedule)),
        Err(why) => eprintln!("Not confirmed: {why}."),
    }
    Ok(())
}
