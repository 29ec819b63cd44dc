//! The words of a text, by Unicode's rule for word boundaries (UAX 29), in lower case.

use unicode_segmentation::UnicodeSegmentation;

/// Calls `visit` with every word, in lower case. `space` is working space.
pub(super) fn each_word(text: &str, space: &mut String, mut visit: impl FnMut(&str)) {
    if text.is_ascii() {
        return each_ascii_word(text, space, visit);
    }
    for word in text.unicode_words() {
        space.clear();
        match word.is_ascii() {
            true => space.extend(word.bytes().map(|byte| char::from(byte.to_ascii_lowercase()))),
            false => space.push_str(&word.to_lowercase()),
        }
        visit(space);
    }
}

/// What the rule says of ASCII: letters, digits and underscores stay together; an apostrophe, point or colon between two
/// letters does not part them, nor does an apostrophe, point, comma or semicolon between two digits. Underscores alone are no
/// word.
fn each_ascii_word(text: &str, space: &mut String, mut visit: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut at = 0;
    while at < bytes.len() {
        if !inner(bytes[at]) {
            at += 1;
            continue;
        }
        space.clear();
        let mut says_something = false;
        while at < bytes.len() {
            let byte = bytes[at];
            if inner(byte) {
                says_something |= byte != b'_';
            } else if !joins(bytes, at) {
                break;
            }
            space.push(char::from(byte.to_ascii_lowercase()));
            at += 1;
        }
        if says_something {
            visit(space);
        }
    }
}

/// Whether a mark stands between two letters or two digits that it does not part. There is a letter, digit or underscore
/// before it.
fn joins(bytes: &[u8], at: usize) -> bool {
    let (before, after) = (bytes[at - 1], bytes.get(at + 1).copied().unwrap_or(b' '));
    match bytes[at] {
        b'\'' | b'.' => {
            (before.is_ascii_alphabetic() && after.is_ascii_alphabetic())
                || (before.is_ascii_digit() && after.is_ascii_digit())
        }
        b':' => before.is_ascii_alphabetic() && after.is_ascii_alphabetic(),
        b',' | b';' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, &mut String::new(), |word| found.push(word.to_string()));
        found
    }

    #[test]
    fn words_are_what_people_take_for_words() {
        assert_eq!(words("Don't PAY 3.50, or 1,000: e.g. x_1!"), ["don't", "pay", "3.50", "or", "1,000", "e.g", "x_1"]);
        assert_eq!(words("Grüße aus Århus"), ["grüße", "aus", "århus"]);
        assert!(words(" _ __ -- ").is_empty());
    }

    proptest! {
        #[test]
        fn the_quick_way_is_the_rule(text in "[ -~\t\n]{0,40}") {
            let slow: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
            prop_assert_eq!(words(&text), slow);
        }

        #[test]
        fn marks_between_letters_and_digits(text in "[a1_.':,;]{0,12}") {
            let slow: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
            prop_assert_eq!(words(&text), slow);
        }
    }
}
