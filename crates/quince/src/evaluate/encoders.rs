//! The encoders of several methods, which share what they need alike.

use crate::encode::{Encoder, MissingValues};
use crate::error::Result;
use crate::learn::{Capability, DynLearner};
use crate::matrix::Rows;
use crate::run::Run;
use crate::table::{Labelled, Table};

/// The encoders that methods need: one for feature vectors, one for native columns.
#[derive(Default)]
pub(super) struct Encoders {
    vectors: Option<Encoder>,
    native: Option<Encoder>,
}

/// A table's features: vectors with missing values imputed and, where there are missing values and a method takes them, kept;
/// and native columns.
#[derive(Default)]
pub(super) struct Encoded {
    imputed: Rows,
    kept: Option<Rows>,
    native: Rows,
}

impl Encoders {
    pub(super) fn fit(labelled: &Labelled, learners: &[Box<dyn DynLearner>], run: &Run) -> Result<(Encoders, Encoded)> {
        let (mut encoders, mut encoded) = (Encoders::default(), Encoded::default());
        let (table, target) = (&labelled.table, Some(&labelled.target));
        let takes = |learner: &dyn DynLearner| learner.info().can(Capability::NativeColumns);
        if learners.iter().any(|learner| !takes(learner.as_ref())) {
            let (encoder, rows) = Encoder::fit(table, target, MissingValues::Kept, run)?;
            encoded.put_vectors(&encoder, rows, learners, run)?;
            encoders.vectors = Some(encoder);
        }
        if learners.iter().any(|learner| takes(learner.as_ref())) {
            let (encoder, rows) = Encoder::fit_native(table, target, run)?;
            (encoders.native, encoded.native) = (Some(encoder), rows);
        }
        Ok((encoders, encoded))
    }

    pub(super) fn encode(&self, table: &Table, learners: &[Box<dyn DynLearner>], run: &Run) -> Result<Encoded> {
        let mut encoded = Encoded::default();
        if let Some(encoder) = &self.vectors {
            encoded.put_vectors(encoder, encoder.encode(table, MissingValues::Kept, run)?, learners, run)?;
        }
        if let Some(encoder) = &self.native {
            encoded.native = encoder.encode(table, MissingValues::Kept, run)?;
        }
        Ok(encoded)
    }

    /// The encoder for a method.
    pub(super) fn of(&self, learner: &dyn DynLearner) -> &Encoder {
        let encoder = if learner.info().can(Capability::NativeColumns) { &self.native } else { &self.vectors };
        encoder.as_ref().expect("there is an encoder for every method")
    }

    pub(super) fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        self.vectors.as_ref().or(self.native.as_ref()).into_iter().flat_map(Encoder::remarks)
    }
}

impl Encoded {
    fn put_vectors(
        &mut self,
        encoder: &Encoder,
        rows: Rows,
        learners: &[Box<dyn DynLearner>],
        run: &Run,
    ) -> Result<()> {
        let keeps = |learner: &dyn DynLearner| {
            MissingValues::for_method(learner.info()) == MissingValues::Kept
                && !learner.info().can(Capability::NativeColumns)
        };
        if !rows.has_missing() {
            self.imputed = rows;
            return Ok(());
        }
        self.imputed = encoder.imputed(&rows, run)?;
        self.kept = learners.iter().any(|learner| keeps(learner.as_ref())).then_some(rows);
        Ok(())
    }

    pub(super) fn for_method(&self, learner: &dyn DynLearner) -> &Rows {
        if learner.info().can(Capability::NativeColumns) {
            return &self.native;
        }
        let kept = self.kept.as_ref().filter(|_| MissingValues::for_method(learner.info()) == MissingValues::Kept);
        kept.unwrap_or(&self.imputed)
    }
}
