//! Prints the run a replay string holds: `replay <string>`, or `replay --html <string>`.

use hallpass_lab::trace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let page = args.first().is_some_and(|arg| arg == "--html");
    let line = args.pop().ok_or("usage: replay [--html] <replay string>")?;
    let schedule = trace::decode(&line)?;
    let trace = trace::run(&schedule, &trace::conventions(&schedule))?;
    print!("{}", if page { trace::html(&trace) } else { trace::text(&trace, false) });
    Ok(())
}
