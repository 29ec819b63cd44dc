//! What stands for the encoder of texts without the feature `text`: an error that says so.

use super::select::ClassCodes;
use crate::error::{Error, Result};
use crate::learn::SavedParts;
use crate::matrix::Sparse;
use crate::run::Run;
use crate::table::TextOptions;
use serde::{Deserialize, Deserializer, Serialize};

/// How texts become numbers: there is no such encoder without the feature `text`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum TextEncoder {}

impl TextEncoder {
    /// An error: words need the feature `text`.
    pub fn learn(
        _: &[Option<&str>],
        _: TextOptions,
        _: Option<ClassCodes<'_>>,
        _: &Run,
    ) -> Result<(TextEncoder, Sparse)> {
        let remedy = "Build quince with its feature `text`, or give the column another kind, for example ignored.";
        Err(Error::data("texts cannot be encoded: quince was built without its feature `text`", remedy))
    }

    /// Encodes other texts.
    pub fn encode(&self, _: &[Option<&str>], _: &Run) -> Result<Sparse> {
        match *self {}
    }

    /// The settings.
    pub fn settings(&self) -> &TextOptions {
        match *self {}
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        match *self {}
    }

    pub(super) fn name(&self, _: usize) -> String {
        match *self {}
    }

    pub(super) fn is_sound(&self) -> bool {
        match *self {}
    }

    pub(super) fn save_arrays(&self, _: &str, _: &mut SavedParts<'_>) -> TextEncoder {
        match *self {}
    }

    pub(super) fn load_arrays(&mut self, _: &str, _: &mut SavedParts<'_>) -> Result<()> {
        match *self {}
    }
}

impl<'a> Deserialize<'a> for TextEncoder {
    fn deserialize<D: Deserializer<'a>>(_: D) -> std::result::Result<TextEncoder, D::Error> {
        Err(serde::de::Error::custom("the model learnt from texts, which takes quince's feature `text`"))
    }
}

#[cfg(test)]
mod tests {
    use crate::linear::Ridge;
    use crate::model::Model;
    use crate::table::{Kind, Table};

    #[test]
    fn a_column_of_texts_asks_for_the_feature() {
        let rows = (0..40).map(|i| format!("a text of {i} words and more,{i}\n")).collect::<String>();
        let table = Table::from_csv(&format!("note,y\n{rows}")).unwrap();
        assert_eq!(table.column("note").unwrap().kind(), Kind::Text);
        let error = Model::train(&table, "y", &Ridge::default()).err().unwrap();
        assert!(error.to_string().contains("feature `text`"), "{error}");
    }
}
