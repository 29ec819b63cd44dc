//! Formulas: LaTeX in, MathML out, which browsers show by themselves.

use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser, RenderConfig, Storage, push_mathml};

/// The MathML of a formula, or a sentence on why it cannot be read.
pub(crate) fn mathml(latex: &str, display: bool) -> Result<String, String> {
    let storage = Storage::new();
    let unreadable = |why: &str| {
        let latex = latex.trim().replace('\n', " ");
        format!("the formula `{latex}` cannot be read: {why}.")
    };
    let mut events = Vec::new();
    for event in Parser::new(latex, &storage) {
        events.push(event.map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            unreadable(first.trim_start_matches("parsing error: ").trim_end_matches('.'))
        })?);
    }
    if events.is_empty() {
        return Err(unreadable("it is empty"));
    }
    let config = RenderConfig {
        display_mode: if display { DisplayMode::Block } else { DisplayMode::Inline },
        ..RenderConfig::default()
    };
    let mut html = String::new();
    let events = events.into_iter().map(Ok::<_, std::convert::Infallible>);
    push_mathml(&mut html, events, config).map_err(|error| unreadable(&error.to_string()))?;
    Ok(html)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_becomes_mathml_and_a_wrong_one_a_sentence() {
        let html = mathml(r"\frac{1}{n} \sum_{i=1}^n x_i", true).unwrap();
        assert!(html.starts_with("<math") && html.contains("<mfrac>") && html.contains("display=\"block\""));
        for wrong in [r"\frac{1}{", r"\nosuchthing", "x^1^2", ""] {
            assert!(mathml(wrong, false).unwrap_err().contains("cannot be read"), "{wrong}");
        }
    }
}
