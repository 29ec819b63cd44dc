//! The table of methods in the README, kept equal to the registry's.

use crate::{Problem, registry};
use std::path::Path;

const BEGIN: &str = "<!-- methods:begin -->";
const END: &str = "<!-- methods:end -->";

/// Whether the README's table is as the registry has it; `Ok(false)` if there is no such block.
pub fn check(path: &Path) -> Result<bool, Problem> {
    let Some((text, made)) = renewed(path)? else {
        return Ok(false);
    };
    if text == made {
        return Ok(true);
    }
    let line = 1 + text[..text.find(BEGIN).unwrap_or(0)].matches('\n').count();
    let same = text.lines().zip(made.lines()).take_while(|(now, then)| now == then);
    let line = line.max(1 + same.count());
    let sentence = format!(
        "the table of methods is not the registry's. To renew it: cargo run --release -p quince-guide -- --readme {} --update",
        path.display()
    );
    Err(Problem::new(path.display().to_string(), line, sentence))
}

/// Writes the registry's table into the README; `Ok(false)` if there is no block for it.
pub fn update(path: &Path) -> Result<bool, Problem> {
    let Some((text, made)) = renewed(path)? else {
        return Ok(false);
    };
    if text != made {
        std::fs::write(path, made)
            .map_err(|e| Problem::new(path.display().to_string(), None, format!("cannot be written ({e}).")))?;
    }
    Ok(true)
}

/// The README as it is and as it should be; `None` if it has no block.
fn renewed(path: &Path) -> Result<Option<(String, String)>, Problem> {
    let wrong = |sentence: String| Problem::new(path.display().to_string(), None, sentence);
    let text = std::fs::read_to_string(path).map_err(|e| wrong(format!("cannot be read ({e}).")))?;
    let (begin, end) = (text.find(BEGIN), text.find(END));
    match (begin, end) {
        (None, None) => Ok(None),
        (Some(begin), Some(end)) if begin < end => {
            let table = registry::methods("docs/methods/");
            let made = format!("{}{BEGIN}\n{table}{}", &text[..begin], &text[end..]);
            Ok(Some((text, made)))
        }
        _ => Err(wrong(format!("'{BEGIN}' and '{END}' belong together, in this order."))),
    }
}
