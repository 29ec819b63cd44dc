//! `quince models`: the registry, for people.

use crate::arguments::Models;
use crate::input::Session;
use crate::show;
use quince::Result;
use quince::numbers::number_text;
use quince::registry::{self, Ability, Entry, METHODS};
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
    let line = |entry: &Entry| {
        let learns: Vec<&str> = entry
            .card
            .abilities
            .iter()
            .filter(|a| matches!(a, Ability::Classify | Ability::Regress | Ability::Cluster | Ability::Novelty))
            .map(|a| a.name())
            .collect();
        vec![entry.card.name.to_string(), learns.join(", "), entry.card.summary.to_string()]
    };
    let lines: Vec<Vec<String>> = METHODS.iter().map(line).collect();
    show::table(&["method", "finds", ""], &lines, 0..0) + "\n`quince models NAME` shows the settings of one.\n"
}

fn page(entry: &Entry) -> String {
    let card = entry.card;
    let abilities: Vec<&str> = card.abilities.iter().map(|ability| ability.name()).collect();
    let mut text = format!("{}: {}\n{}\n\ncan do: {}\n", card.name, card.title, card.summary, abilities.join(", "));
    if !card.python.is_empty() {
        text += &format!("in Python: {}\n", card.python.join(", "));
    }
    let defaults = entry.defaults();
    let line = |setting: &registry::Setting| {
        let default = match &defaults[setting.name] {
            Value::String(text) if text.is_empty() => "(empty)".to_string(),
            Value::String(text) => text.clone(),
            Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), number_text),
            other => other.to_string(),
        };
        vec![setting.name.to_string(), default, setting.allowed.to_string(), setting.help.to_string()]
    };
    let lines: Vec<Vec<String>> = card.settings.iter().map(line).collect();
    text + "\n" + &show::table(&["setting", "default", "takes", ""], &lines, 0..0)
}

fn as_json(entry: &Entry) -> Value {
    let card = entry.card;
    let defaults = entry.defaults();
    let settings: Vec<Value> = card
        .settings
        .iter()
        .map(|s| json!({"name": s.name, "default": defaults[s.name], "takes": s.allowed.to_string(), "help": s.help}))
        .collect();
    let abilities: Vec<&str> = card.abilities.iter().map(|ability| ability.name()).collect();
    json!({
        "name": card.name, "title": card.title, "summary": card.summary,
        "abilities": abilities, "settings": settings, "python": card.python,
    })
}
