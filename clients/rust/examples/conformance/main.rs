//! Runs the cases of clients/conformance: conformance TABLE...
//!
//! Prints "ok NAME" or "fail NAME: why".

mod literals;
mod looks;
mod world;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::ExitCode;
use world::{Problem, World};

fn run_case(steps: &[String]) -> Result<(), String> {
    let mut world = World::new();
    for step in steps {
        let taken = catch_unwind(AssertUnwindSafe(|| world.take(step)));
        let taken = taken.unwrap_or_else(|_| Err(Problem::Broken("a panic".into())));
        taken.map_err(|problem| format!("{step:?}: {problem}"))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut passed = true;
    for path in std::env::args().skip(1) {
        let table = std::fs::read_to_string(&path).expect("a table of cases");
        let mut name = String::new();
        let mut steps = Vec::new();
        for line in table.lines().map(str::trim).chain(["case end"]) {
            if let Some(next) = line.strip_prefix("case ") {
                if !name.is_empty() {
                    match run_case(&steps) {
                        Ok(()) => println!("ok {name}"),
                        Err(problem) => {
                            passed = false;
                            println!("fail {name}: {problem}");
                        }
                    }
                }
                name = next.split(' ').next().unwrap_or_default().to_string();
                steps.clear();
            } else if !line.is_empty() && !line.starts_with('#') {
                steps.push(line.to_string());
            }
        }
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
