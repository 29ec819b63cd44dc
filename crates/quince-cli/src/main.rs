//! The command `quince`.
//!
//! Data goes to standard output, messages and progress to standard error. Exit code 0: done; 1: the data or the settings are
//! wrong; 2: the command line is wrong; 130: interrupted.

mod arguments;
mod commands;
mod destination;
mod flags;
mod input;
mod interrupt;
mod layout;
mod progress;
mod show;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let session = input::Session::new(&arguments.common);
    let result = match &arguments.command {
        Command::Compare(options) => commands::compare::run(options, &session),
        Command::Curve(options) => commands::curve::run(options, &session),
        Command::Train(options) => commands::train::run(options, &session),
        Command::Predict(options) => commands::predict::run(options, &session),
        Command::Evaluate(options) => commands::evaluate::run(options, &session),
        Command::Explain(options) => commands::explain::run(options, &session),
        Command::Sample(options) => commands::sample::run(options, &session),
        Command::Cluster(options) => commands::cluster::run(options, &session),
        Command::Impute(options) => commands::impute::run(options, &session),
        Command::Describe(options) => commands::describe::run(options, &session),
        Command::Models(options) => commands::models::run(options, &session),
    };
    session.progress.finish();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(quince::Error::Cancelled) => {
            eprintln!("quince: stopped on request; no file was written");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("error: {error}");
            if !error.remedy().is_empty() {
                eprintln!("  help: {}", flags::in_flags(error.remedy()));
            }
            ExitCode::FAILURE
        }
    }
}
