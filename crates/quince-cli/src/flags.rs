//! The library names settings, kinds and options; here they become the flags of the command that give them.

/// What the library says, and how the command says it.
const PHRASES: &[(&str, &str)] = &[
    ("; leave_one_out=always gives", "; train with --set leave_one_out=always for"),
    ("; the fit can be resumed from this model", "; go on with quince train TABLE --resume MODEL in place of --model"),
    ("or solver=auto.", "or --set solver=auto."),
    ("for example with words=2000.", "for example --text column=words=2000."),
    ("for example number.", "for example --kind name=number."),
    ("for classes ask for the task classification", "--task classification learns classes"),
    ("the task regression", "--task regression"),
    (
        "Give a file that was saved by quince.",
        "Give a file that was saved by quince: the model comes first, then the table.",
    ),
    ("Predict, to see", "Use quince predict to see"),
    ("Look at the settings of the method.", "See `quince models`."),
];

/// A sentence of the library in the words of the command.
pub fn in_flags(sentence: &str) -> String {
    let mut text = sentence.to_string();
    for (library, command) in PHRASES {
        text = text.replace(library, command);
    }
    // The column that may be left out, whichever it is.
    if let Some((before, after)) = text.split_once("; leave the column out if ")
        && let Some((name, _)) = before.strip_prefix("note: ").unwrap_or(before).split_once("' has ")
    {
        let name = name.trim_start_matches('\'');
        let name = if name.contains(char::is_whitespace) { format!("'{name}'") } else { name.to_string() };
        return format!("{before}; leave it out with --drop {name} if {after}");
    }
    // A kind of a column, whichever it is.
    match text
        .split_once("give the column the kind ")
        .and_then(|(before, kind)| Some((before, kind.strip_suffix(" first.")?)))
    {
        Some((before, kind)) => format!("{before}give the column that kind first, with --kind NAME={kind}."),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::in_flags;
    use quince::table::ColumnOptions;
    use quince::{Kind, Table};

    #[test]
    fn remedies_of_the_library_become_flags() {
        let remedy = |kind, options| in_flags(ColumnOptions::parse(kind, options).unwrap_err().remedy());
        assert_eq!(
            remedy(Kind::Number, "order=a:b"),
            "It is one of categories: give the column that kind first, with --kind NAME=category."
        );
        assert_eq!(remedy(Kind::Ignored, "log"), "Give it another kind first, for example --kind name=number.");
        let constant = Table::from_csv("x,y\n1,a\n1,b\n").unwrap();
        let error = quince::Model::train(&constant, "y", &quince::linear::Ridge::default()).err().unwrap();
        assert!(in_flags(error.remedy()).ends_with("for example --kind name=number."), "{}", error.remedy());
    }

    #[test]
    fn what_is_no_remedy_stays() {
        assert_eq!(in_flags("Give at least one row."), "Give at least one row.");
    }
}
