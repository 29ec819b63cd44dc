//! Formulas: LaTeX in, MathML out, which browsers show by themselves.

use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};

/// The MathML of a formula, or a sentence on why it cannot be read.
pub(crate) fn mathml(latex: &str, display: bool) -> Result<String, String> {
    let unreadable = |why: &str| {
        let latex = latex.trim().replace('\n', " ");
        format!("the formula `{latex}` cannot be read: {}.", why.trim_end_matches('.'))
    };
    if latex.trim().is_empty() {
        return Err(unreadable("it is empty"));
    }
    let converter = LatexToMathML::new(MathCoreConfig::default()).map_err(|(error, ..)| error.to_string())?;
    let display = if display { MathDisplay::Block } else { MathDisplay::Inline };
    let mathml =
        converter.convert_with_local_counter(latex, display).map_err(|error| unreadable(&error.error_message()))?;
    Ok(SPACING.iter().fold(mathml, |text, (combining, spacing)| text.replace(combining, spacing)))
}

/// Accents as characters of their own: combining ones have no width, and Chromium then draws them beside their letter. A
/// tilde is not stretched, as Firefox would.
const SPACING: [(&str, &str); 6] = [
    ("<mo stretchy=\"true\">\u{303}<", "<mo stretchy=\"false\">\u{2dc}<"),
    (">\u{302}<", ">\u{2c6}<"), // hat
    (">\u{303}<", ">\u{2dc}<"), // tilde
    (">\u{304}<", ">\u{af}<"),  // bar
    (">\u{307}<", ">\u{2d9}<"), // dot
    (">\u{308}<", ">\u{a8}<"),  // two dots
];

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
