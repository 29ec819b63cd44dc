//! Which columns go together, under which family: those that the setting `family` names, and all others by the default family
//! or by their kind.

use super::{FamilyName, LayoutData, Open};
use crate::error::{Error, Result, did_you_mean};
use crate::family::layout::Families;
use crate::learn::{FeatureGroup, FeatureKind};

/// Columns with their family.
pub(super) enum Group<'a> {
    Single(&'a FeatureGroup, FamilyName),
    Together(Vec<&'a FeatureGroup>, FamilyName),
}

impl Group<'_> {
    /// Whether the values must be summarised to lay out the block.
    pub(super) fn needs_a_look(&self, open: Open) -> bool {
        match self {
            Group::Single(part, name) => {
                let without = match open {
                    Open::Choose => matches!(name, FamilyName::Auto | FamilyName::Normal | FamilyName::Bernoulli),
                    Open::Together => matches!(name, FamilyName::Normal | FamilyName::Bernoulli),
                };
                !part.kind.is_sparse() && !without
            }
            Group::Together(..) => true,
        }
    }
}

/// Every column once: first those that are named, then all others.
pub(super) fn groups<'a>(data: &LayoutData<'a>, families: &Families) -> Result<Vec<Group<'a>>> {
    let mut taken = vec![false; data.feature_map.groups.len()];
    let mut groups = named(&data.feature_map.groups, families, &mut taken)?;
    let rest: Vec<&FeatureGroup> =
        data.feature_map.groups.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(part, _)| part).collect();
    groups.extend(unnamed(&rest, families.usual, data.of_matrix)?);
    Ok(groups)
}

/// The columns that are named with a family, which are marked as taken.
fn named<'a>(parts: &'a [FeatureGroup], families: &Families, taken: &mut [bool]) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for (columns, name) in &families.columns {
        let mut together = Vec::new();
        for column in columns {
            let Some(place) = parts.iter().position(|part| part.name == *column) else {
                let problem = format!("names '{column}', which is no column that is learnt from");
                let remedy = did_you_mean(column, "columns", parts.iter().map(|part| part.name.as_str()));
                return Err(Error::setting("family", problem, remedy));
            };
            if std::mem::replace(&mut taken[place], true) {
                return Err(Error::setting("family", format!("names '{column}' twice"), "Give a column one family."));
            }
            let part = &parts[place];
            if !can_be(&part.kind, *name) {
                let problem = format!("of '{column}' cannot be {name}: it is {}", part.kind.name());
                return Err(Error::setting("family", problem, format!("It can be {}.", possible(&part.kind))));
            }
            together.push(part);
        }
        if is_joint(*name) && together.iter().all(|part| !part.kind.is_sparse()) {
            groups.push(Group::Together(together, *name));
        } else {
            groups.extend(together.into_iter().map(|part| Group::Single(part, *name)));
        }
    }
    Ok(groups)
}

/// All other columns: by the default family where they can have it, else by their kind.
fn unnamed<'a>(rest: &[&'a FeatureGroup], usual: FamilyName, of_matrix: bool) -> Result<Vec<Group<'a>>> {
    let fits = |part: &FeatureGroup| {
        usual != FamilyName::Auto && can_be(&part.kind, usual) && is_usual(&part.kind, usual, of_matrix)
    };
    let useless = !matches!(usual, FamilyName::Auto | FamilyName::Gaussian(..)) && !rest.iter().any(|part| fits(part));
    if let Some(part) = rest.iter().find(|part| useless && !part.kind.is_sparse()) {
        let problem = format!("'{usual}' is of no use here: no column is of a kind that has it by itself");
        let remedy = format!("Name the columns, for example {}={usual}.", part.name);
        return Err(Error::setting("family", problem, remedy));
    }
    let joins = |part: &&FeatureGroup| is_joint(usual) && fits(part) && !part.kind.is_sparse();
    let (together, single): (Vec<&FeatureGroup>, Vec<&FeatureGroup>) = rest.iter().copied().partition(joins);
    let name = |part: &FeatureGroup| if fits(part) { usual } else { FamilyName::Auto };
    let mut groups: Vec<Group<'_>> = single.into_iter().map(|part| Group::Single(part, name(part))).collect();
    if !together.is_empty() {
        groups.push(Group::Together(together, usual));
    }
    Ok(groups)
}

/// Whether a family takes several columns together.
fn is_joint(name: FamilyName) -> bool {
    matches!(name, FamilyName::Gaussian(..) | FamilyName::Multinomial | FamilyName::MarkovChain)
}

/// Whether a column of this kind can have a family at all.
fn can_be(kind: &FeatureKind, name: FamilyName) -> bool {
    match kind {
        FeatureKind::Words | FeatureKind::Vector => {
            matches!(name, FamilyName::Auto | FamilyName::Multinomial | FamilyName::Bernoulli)
        }
        FeatureKind::Category(_) => {
            matches!(name, FamilyName::Auto | FamilyName::Categorical | FamilyName::MarkovChain)
        }
        _ => true,
    }
}

/// Whether a default family applies to a column of this kind.
fn is_usual(kind: &FeatureKind, name: FamilyName, of_matrix: bool) -> bool {
    match kind {
        FeatureKind::YesNo => matches!(name, FamilyName::Bernoulli | FamilyName::MarkovChain | FamilyName::Categorical),
        FeatureKind::Number | FeatureKind::CategoryFeature if !of_matrix => !matches!(
            name,
            FamilyName::Poisson
                | FamilyName::Bernoulli
                | FamilyName::MarkovChain
                | FamilyName::Categorical
                | FamilyName::Multinomial
        ),
        FeatureKind::Count if !of_matrix => {
            !matches!(name, FamilyName::Bernoulli | FamilyName::MarkovChain | FamilyName::Categorical)
        }
        _ => true,
    }
}

/// The families that a column of this kind can have, in words.
fn possible(kind: &FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Words | FeatureKind::Vector => "multinomial or bernoulli",
        FeatureKind::Category(_) => "categorical or part of a markov-chain",
        _ => "any family",
    }
}
