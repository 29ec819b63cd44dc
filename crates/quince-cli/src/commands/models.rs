//! `quince models`: the registry, for people.

use crate::arguments::Models;
use crate::input::Session;
use crate::show;
use quince::Result;
use quince::learn::Capability;
use quince::numbers::number_text;
use quince::registry::{self, METHODS, Method};
use serde_json::{Value, json};

pub fn run(options: &Models, session: &Session) -> Result<()> {
    match &options.name {
        None if session.json => show::print_json(&METHODS.iter().map(as_json).collect::<Vec<_>>()),
        None => show::print(&list()),
        Some(name) if session.json => show::print_json(&as_json(registry::method(name)?)),
        Some(name) => show::print(&page(registry::method(name)?)),
    }
    Ok(())
}

fn list() -> String {
    let line = |method: &Method| {
        let learns: Vec<&str> = method
            .info
            .capabilities
            .iter()
            .filter(|capability| {
                matches!(
                    capability,
                    Capability::Classify | Capability::Regress | Capability::Cluster | Capability::Novelty
                )
            })
            .map(|capability| capability.name())
            .collect();
        vec![method.info.name.to_string(), learns.join(", "), method.info.summary.to_string()]
    };
    let lines: Vec<Vec<String>> = METHODS.iter().map(line).collect();
    show::table(&["method", "finds", ""], &lines, 0..0) + "\n`quince models NAME` shows the settings of one.\n"
}

fn page(method: &Method) -> String {
    let info = method.info;
    let capabilities: Vec<&str> = info.capabilities.iter().map(|capability| capability.name()).collect();
    let mut text = format!("{}: {}\n{}\n\ncan do: {}\n", info.name, info.title, info.summary, capabilities.join(", "));
    if !info.python.is_empty() {
        text += &format!("in Python: {}\n", info.python.join(", "));
    }
    let defaults = method.defaults();
    let line = |setting: &quince::learn::Setting| {
        let default = match &defaults[setting.name] {
            Value::String(text) if text.is_empty() => "(empty)".to_string(),
            Value::String(text) => text.clone(),
            Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), number_text),
            other => other.to_string(),
        };
        vec![setting.name.to_string(), default, setting.domain.to_string(), setting.help.to_string()]
    };
    let lines: Vec<Vec<String>> = info.settings.iter().map(line).collect();
    text + "\n" + &show::table(&["setting", "default", "takes", ""], &lines, 0..0)
}

fn as_json(method: &Method) -> Value {
    let info = method.info;
    let defaults = method.defaults();
    let settings: Vec<Value> = info
        .settings
        .iter()
        .map(|s| json!({"name": s.name, "default": defaults[s.name], "takes": s.domain.to_string(), "help": s.help}))
        .collect();
    let capabilities: Vec<&str> = info.capabilities.iter().map(|capability| capability.name()).collect();
    json!({
        "name": info.name, "title": info.title, "summary": info.summary,
        "capabilities": capabilities, "settings": settings, "python": info.python,
    })
}
