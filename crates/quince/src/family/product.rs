//! A product of blocks: the likelihood of a row under a component is the product over all blocks.

use super::block::{Block, Draw, Scores, TILE, Tile};
use super::statistics::{Members, centred_statistics};
use crate::error::{Error, Result};
use crate::learn::{SampledRow, SavedParts};
use crate::matrix::{Features, Matrix, afford};
use crate::run::{Run, Stream};

/// Blocks for all columns of rows, the sufficient statistics of each, and the parameters that follow from them.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub(crate) components: usize,
    pub(crate) blocks: Vec<Block>,
    /// The statistics of each block, one row per component.
    pub(crate) statistics: Vec<Matrix>,
    /// The number of features of a row, and how many of them are dense.
    pub(crate) features: usize,
    pub(crate) dense: usize,
}

impl Product {
    /// Blocks that have seen nothing yet.
    pub(crate) fn new(blocks: Vec<Block>, components: usize, features: &Features<'_>) -> Product {
        let statistics =
            blocks.iter().map(|block| Matrix::zeros(components, block.family().statistic_count())).collect();
        Product { components, blocks, statistics, features: features.columns(), dense: features.dense_columns() }
    }

    /// Learns the parameters from rows that belong to one component each.
    pub(crate) fn learn(&mut self, features: &Features<'_>, members: &Members<'_>, run: &Run) -> Result<()> {
        self.collect_statistics(features, members, run)?;
        self.settle();
        for (block, statistics) in self.blocks.iter_mut().zip(&self.statistics) {
            if let Block::Gaussian(block) = block {
                block.find_shrinkage(statistics, features, members, run)?;
            }
        }
        self.estimate(run)
    }

    /// Collects the statistics of rows that belong to one component each.
    pub(crate) fn collect_statistics(
        &mut self,
        features: &Features<'_>,
        members: &Members<'_>,
        run: &Run,
    ) -> Result<()> {
        self.statistics = centred_statistics(&mut self.blocks, features, members, run)?;
        Ok(())
    }

    /// Fixes what follows from all components together.
    pub(crate) fn settle(&mut self) {
        for (block, statistics) in self.blocks.iter_mut().zip(&self.statistics) {
            block.family_mut().settle(statistics);
        }
    }

    /// Estimates all parameters from the statistics.
    pub(crate) fn estimate(&mut self, run: &Run) -> Result<()> {
        if self.statistics.iter().flat_map(|statistics| statistics.values()).any(|sum| !sum.is_finite()) {
            return Err(Error::data(
                "the sufficient statistics overflow",
                "Rescale columns with values above 1e150, or leave them out; in sparse features, remove NaN and infinity.",
            ));
        }
        for (block, statistics) in self.blocks.iter_mut().zip(&self.statistics) {
            run.check()?;
            block.family_mut().estimate(statistics, run)?;
        }
        Ok(())
    }

    /// Adds the statistics of another product, if its blocks are alike; parameters are not estimated yet.
    pub(crate) fn add_statistics(&mut self, other: &Product) -> Result<()> {
        let apart = || {
            Error::data(
                "the models have different columns, families or classes",
                "Join models that were fitted alike, for example by update from a common model.",
            )
        };
        if self.components != other.components || self.blocks.len() != other.blocks.len() {
            return Err(apart());
        }
        for ((block, statistics), (others, more)) in
            self.blocks.iter_mut().zip(&mut self.statistics).zip(other.blocks.iter().zip(&other.statistics))
        {
            let more = block.statistics_of(others, statistics, more).ok_or_else(apart)?;
            statistics.values_mut().iter_mut().zip(more.values()).for_each(|(all, more)| *all += more);
        }
        Ok(())
    }

    /// From now on statistics are collected about the present means; its own, and others of all blocks, are moved along.
    pub(crate) fn follow(&mut self, others: &mut [&mut Vec<Matrix>]) {
        for (b, (block, statistics)) in self.blocks.iter_mut().zip(&mut self.statistics).enumerate() {
            let mut all: Vec<&mut Matrix> = others.iter_mut().map(|other| &mut other[b]).collect();
            all.push(statistics);
            block.family_mut().follow(&mut all);
        }
    }

    /// The log prior of the parameters, up to a constant.
    pub(crate) fn log_prior(&self) -> f64 {
        self.blocks.iter().map(|block| block.family().log_prior()).sum()
    }

    /// Reorders the components; their parameters are estimated again.
    pub(crate) fn reorder(&mut self, order: &[usize], run: &Run) -> Result<()> {
        self.blocks.iter_mut().for_each(|block| block.family_mut().reorder(order));
        self.statistics.iter_mut().for_each(|statistics| *statistics = statistics.take_rows(order));
        self.estimate(run)
    }

    /// The number of free parameters.
    pub(crate) fn free_parameters(&self) -> usize {
        let of_block = |block: &Block| {
            let (own, common) = block.family().free_parameters();
            self.components * own + common
        };
        self.blocks.iter().map(of_block).sum()
    }

    /// The approximate number of operations to score a row.
    pub(crate) fn cost(&self) -> usize {
        self.blocks.iter().map(|block| block.family().cost(self.components)).sum()
    }

    /// The blocks in a few words.
    pub(crate) fn route(&self) -> String {
        let word = |block: &Block| match block.family().columns().len() {
            0 => format!("{} words or places", block.word()),
            count => format!("{count} {}", block.word()),
        };
        self.blocks.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// Writes `width` numbers for every row, from its log likelihoods under each component.
    pub(crate) fn ask<T: Copy + Default + Send>(
        &self,
        features: &Features<'_>,
        width: usize,
        run: &Run,
        write: impl Fn(&Scores, &mut [T]) + Sync,
    ) -> Result<Vec<T>> {
        self.ask_of(features, width, run, |_, lines, out| write(lines, out))
    }

    /// The same, with access to the rows.
    pub(crate) fn ask_of<T: Copy + Default + Send>(
        &self,
        features: &Features<'_>,
        width: usize,
        run: &Run,
        write: impl Fn(&Tile<'_>, &Scores, &mut [T]) + Sync,
    ) -> Result<Vec<T>> {
        features.check_columns(self.features)?;
        if features.dense_columns() != self.dense {
            return self.ask_of(&features.split_at(self.dense)?.features(), width, run, write);
        }
        let zeros = vec![0.0; self.components];
        let cost = features.row_cost() * self.components.max(1) + self.cost();
        let step = (10_000_000 / cost / TILE).clamp(1, 64) * TILE;
        let mut answers = vec![T::default(); features.rows() * width];
        let mut pieces: Vec<(&mut [T], bool)> = answers.chunks_mut(step * width).map(|piece| (piece, true)).collect();
        for (round, some) in pieces.chunks_mut(8).enumerate() {
            run.each(some, |at, (answers, finite)| {
                let (mut tile, mut lines) = (Tile::new(features), Scores::new(self.components));
                let first = (round * 8 + at) * step;
                for (t, answers) in answers.chunks_mut(TILE * width).enumerate() {
                    let start = first + t * TILE;
                    tile.fill(features, start..start + answers.len() / width);
                    lines.start(tile.rows(), &zeros);
                    self.blocks.iter().for_each(|block| block.family().score(&tile, &mut lines));
                    // Of sparse features only the scores are checked.
                    *finite &= features.sparse_part().is_none() || !lines.has_nan();
                    write(&tile, &lines, answers);
                }
                *finite &= tile.is_finite();
            });
            run.check()?;
        }
        if pieces.iter().any(|(_, finite)| !finite) {
            return Err(features.infinite());
        }
        Ok(answers)
    }

    /// Adds the part of the log density that is the same under every component.
    pub(crate) fn add_common(&self, tile: &Tile<'_>, densities: &mut [f64]) {
        self.blocks.iter().for_each(|block| block.family().add_common(tile, densities));
    }

    /// A row sampled from a component.
    fn draw(&self, component: usize, stream: &mut Stream) -> Draw {
        let mut row = Draw { dense: vec![f64::NAN; self.dense], sequences: Vec::new() };
        self.blocks.iter().for_each(|block| block.family().sample(component, stream, &mut row));
        row
    }

    /// This many sampled rows, each from a component sampled by `component`, and labelled by `label`.
    pub(crate) fn sample(
        &self,
        count: usize,
        mut component: impl FnMut(&mut Stream) -> usize,
        label: impl Fn(usize) -> usize,
        run: &Run,
    ) -> Result<Vec<SampledRow>> {
        let mut stream = run.stream(0x5a);
        afford((count as f64) * (200.0 + 64.0 * self.dense as f64), &format!("sampling {count} rows"))?;
        let mut rows = Vec::with_capacity(count);
        for i in 0..count {
            if i % 256 == 0 {
                run.check()?;
            }
            let k = component(&mut stream);
            let Draw { dense, sequences } = self.draw(k, &mut stream);
            rows.push(SampledRow { class: label(k), dense, sequences });
        }
        Ok(rows)
    }

    /// Saves the statistics; the blocks themselves are described in JSON.
    pub(crate) fn save(&self, parts: &mut SavedParts<'_>) {
        for (b, statistics) in self.statistics.iter().enumerate() {
            parts.put_matrix(&format!("block{b}"), statistics);
        }
    }

    /// The blocks of a saved model, with their statistics and parameters.
    pub(crate) fn load(
        parts: &mut SavedParts<'_>,
        blocks: Vec<Block>,
        dense: usize,
        components: usize,
    ) -> Result<Product> {
        let features = parts.features();
        if dense > features {
            return Err(parts.wrong("there are more dense features than features"));
        }
        let mut found = Vec::new();
        for (b, block) in blocks.iter().enumerate() {
            let family = block.family();
            let statistics = parts.take_matrix(&format!("block{b}"), Some(components))?;
            let within = block.is_within(dense, features - dense);
            if !within || !family.is_sound(components) || statistics.columns() != family.statistic_count() {
                return Err(parts.wrong(&format!("block {b} does not fit the rest of the model")));
            }
            found.push(statistics);
        }
        let mut product = Product { components, blocks, statistics: found, features, dense };
        product.estimate(&Run::new()).map_err(|e| parts.wrong(&e.to_string()))?;
        Ok(product)
    }
}
