//! `quince train`: fit one method to a table and save the model.

use crate::arguments::Train;
use crate::input::{self, Session};
use crate::show;
use quince::evaluate::{Evaluation, evaluate, exact_leave_one_out};
use quince::learn::{Capability, DynLearner};
use quince::registry;
use quince::run::StopReason;
use quince::table::TrainingSet;
use quince::{Error, Model, Result};
use serde_json::json;

pub fn run(options: &Train, session: &Session) -> Result<()> {
    let from = options.resume.as_ref().map(Model::load).transpose()?;
    let method = match (&from, &options.model) {
        (Some(model), _) => model.method(),
        (None, name) => registry::method(name.as_deref().unwrap_or_default())?,
    };
    let written = input::written_settings(method, &options.set, &options.family)?;
    let given = input::settings(method, &written)?;
    let learner = match &from {
        Some(model) => model.learner(&given)?,
        None => method.configure(&given)?,
    };
    input::check_supervised(method, "model")?;
    if options.loo && !method.info.can(Capability::ExactLeaveOneOut) {
        return Err(Error::Setting {
            name: "loo".into(),
            problem: format!("cannot be used with '{}', which has no exact leave-one-out", method.info.name),
            remedy: "Use quince compare --folds loo.".into(),
        });
    }
    input::check_output(&options.output, &[&options.table.table])?;
    let table = session.table(&options.table, &options.kinds)?;
    let supervised = input::supervised(
        &table,
        &options.target,
        None,
        &options.kinds,
        method.info.can(Capability::SemiSupervised),
        session,
    )?;
    session.progress.stage(&format!("training {}", method.info.name));
    let weights = supervised.weights.as_deref();
    let model = match &from {
        Some(from) => from.resumed(&supervised.labelled, weights, learner.as_ref(), &session.run)?,
        None => Model::fit(&supervised.labelled, weights, learner.as_ref(), &session.run)?,
    };
    let left_out = if options.loo { Some(leave_one_out(&supervised, learner.as_ref(), session)?) } else { None };
    session.run.check_cancelled()?;
    model.save(&options.output)?;
    session.progress.finish();
    if session.json {
        show::print_json(&json!({
            "model": options.output.display().to_string(),
            "method": model.method().info.name,
            "settings": model.settings(),
            "target": model.target(),
            "task": model.task(),
            "classes": model.classes(),
            "rows": model.rows(),
            "features": model.encoder().width(),
            "report": model.report(),
            "leave_one_out": left_out,
        }));
    } else {
        say_what_was_trained(&model, left_out.as_ref(), options, session);
    }
    Ok(())
}

fn leave_one_out(supervised: &TrainingSet, learner: &dyn DynLearner, session: &Session) -> Result<Evaluation> {
    session.progress.stage("leaving each row out");
    let (labelled, weights) = (&supervised.labelled, supervised.weights.as_deref());
    let prediction = exact_leave_one_out(labelled, weights, learner, &session.run)?.ok_or_else(|| Error::Data {
        problem: "with these settings the method has no exact leave-one-out".into(),
        remedy: "Use quince compare --folds loo.".into(),
    })?;
    evaluate(&labelled.target, &prediction, weights)
}

fn say_what_was_trained(model: &Model, left_out: Option<&Evaluation>, options: &Train, session: &Session) {
    let report = model.report();
    let features = match model.encoder().width() {
        1 => "1 feature".to_string(),
        width => format!("{width} features"),
    };
    session.say(&format!(
        "{} learnt '{}' from {} rows and {} ({}); saved as {}",
        model.method().info.name,
        model.target(),
        model.rows(),
        features,
        report.route,
        options.output.display()
    ));
    if let Some(certificate) = &report.certificate {
        session.say(&format!(
            "certificate: {} {:.1e} (asked: at most {:.0e})",
            certificate.measure, certificate.value, certificate.tolerance
        ));
    }
    if !report.holds() {
        let remedy = match report.stop {
            StopReason::StepLimit => {
                let limit = ["steps", "epochs"].into_iter().find(|name| model.method().info.setting(name).is_some());
                limit.map_or_else(|| "the note says what helps".into(), |limit| format!("allow more {limit}"))
            }
            StopReason::Budget => "allow more time".into(),
            _ => "look for columns of extreme size and rescale them".into(),
        };
        session.say(&format!("warning: the answer is not as exact as asked; {remedy}"));
    }
    say_which_words(model, session);
    model.encoder().remarks().for_each(|remark| session.say(&format!("warning: {remark}")));
    report.remarks.iter().for_each(|remark| session.say(&format!("note: {remark}")));
    match left_out {
        Some(Evaluation::Classification { accuracy, log_loss, .. }) => session.say(&format!(
            "exact leave-one-out: accuracy {}, log loss {}",
            show::number(*accuracy),
            log_loss.map_or("-".into(), show::number)
        )),
        Some(Evaluation::Regression { rmse, r2, .. }) => {
            session.say(&format!(
                "exact leave-one-out: RMSE {}, R² {}",
                show::number(*rmse),
                r2.map_or("-".into(), show::number)
            ));
        }
        None => {}
    }
}

/// The words that were selected of each column of texts.
fn say_which_words(model: &Model, session: &Session) {
    for (column, words) in model.encoder().texts() {
        let selected = words.selected();
        if !selected.is_empty() {
            let best: Vec<&str> = selected.iter().take(12).map(|(word, _)| *word).collect();
            session.say(&format!(
                "note: {} words of '{column}' are kept; the most informative are {}",
                selected.len(),
                best.join(", ")
            ));
        }
    }
}
