//! The families of columns as users write them: `auto`, `normal`, `age=normal,visits=poisson`,
//! `height+weight=gaussian:pooled`.

use crate::error::{Error, Result, did_you_mean};
use crate::family::block::{Shape, Shared};
use crate::learn::Parser;
use serde::{Deserialize, Serialize};

/// Families of columns by name, and a default one for all others that can have it.
///
/// ```
/// use quince::bayes::Families;
/// let families: Families = "auto,age=normal,height+weight=gaussian".parse()?;
/// assert_eq!(families.to_string(), "auto,age=normal,height+weight=gaussian");
/// # quince::Result::Ok(())
/// ```
#[doc(alias("kernel-density", "markov-chain", "window", "chain"))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Families {
    /// The family of columns that are not named, where they can have it.
    pub(crate) usual: FamilyName,
    /// Columns and their family; several columns form a block.
    pub(crate) columns: Vec<(Vec<String>, FamilyName)>,
}

/// A family by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum FamilyName {
    /// What suits the kind of the column; for numbers, the family with the largest leave-one-out likelihood.
    #[default]
    Auto,
    Normal,
    Gaussian(Shape, Shared),
    Poisson,
    Bernoulli,
    Categorical,
    Multinomial,
    /// Bins of equal width.
    Histogram,
    /// Bins with equal numbers of rows (quantiles).
    Quantiles,
    #[doc(alias("window", "Parzen window"))]
    KernelDensity,
    #[doc(alias = "chain")]
    MarkovChain,
}

crate::learn::written_setting!(Families);

impl Families {
    /// All families that are named.
    pub(crate) fn names(&self) -> impl Iterator<Item = FamilyName> {
        std::iter::once(self.usual).chain(self.columns.iter().map(|(_, name)| *name))
    }

    /// The parser of the setting.
    pub(crate) const PARSER: Parser = Parser {
        takes: "families, for example age=normal,visits=poisson",
        check: |text| text.parse::<Families>().map(drop),
    };
}

const NAMES: [(&str, FamilyName); 11] = [
    ("auto", FamilyName::Auto),
    ("normal", FamilyName::Normal),
    ("gaussian", FamilyName::Gaussian(Shape::Full, Shared::No)),
    ("poisson", FamilyName::Poisson),
    ("bernoulli", FamilyName::Bernoulli),
    ("categorical", FamilyName::Categorical),
    ("multinomial", FamilyName::Multinomial),
    ("histogram", FamilyName::Histogram),
    ("quantiles", FamilyName::Quantiles),
    ("kernel-density", FamilyName::KernelDensity),
    ("markov-chain", FamilyName::MarkovChain),
];

/// What the settings in files of format 1 call two of them; users may, too.
const NAMES_IN_FILES: [(&str, FamilyName); 2] =
    [("window", FamilyName::KernelDensity), ("chain", FamilyName::MarkovChain)];

impl FamilyName {
    fn parse(text: &str) -> Result<FamilyName> {
        let mut words = text.split(':').map(str::trim);
        let first = words.next().unwrap_or_default();
        let wrong = |problem: String, remedy: String| Err(Error::setting("family", problem, remedy));
        let Some((_, mut name)) = NAMES.into_iter().chain(NAMES_IN_FILES).find(|(name, _)| *name == first) else {
            let remedy = did_you_mean(first, "families", NAMES.iter().map(|(name, _)| *name));
            return wrong(format!("cannot be '{first}'"), remedy);
        };
        for word in words {
            let FamilyName::Gaussian(shape, shared) = &mut name else {
                return wrong(format!("'{first}' takes no '{word}'"), "Only gaussian does.".into());
            };
            match word {
                "full" => *shape = Shape::Full,
                "diagonal" => *shape = Shape::Diagonal,
                "spherical" => *shape = Shape::Spherical,
                "mean" => *shared = Shared::Mean,
                "pooled" => *shared = Shared::Pooled,
                _ => {
                    let known = ["full", "diagonal", "spherical", "mean", "pooled"];
                    return wrong(format!("gaussian cannot be '{word}'"), did_you_mean(word, "words", known));
                }
            }
        }
        Ok(name)
    }

    /// The name without its options.
    pub(crate) fn word(self) -> &'static str {
        let same = |other: &&(&str, FamilyName)| std::mem::discriminant(&other.1) == std::mem::discriminant(&self);
        NAMES.iter().find(same).map_or("auto", |(name, _)| name)
    }

    /// The name with its options, as settings in files have it.
    fn in_files(self) -> String {
        let own = NAMES_IN_FILES.iter().find(|(_, name)| *name == self);
        own.map_or_else(|| self.to_string(), |(word, _)| word.to_string())
    }
}

impl std::fmt::Display for FamilyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())?;
        let FamilyName::Gaussian(shape, shared) = self else { return Ok(()) };
        f.write_str(match shape {
            Shape::Full => "",
            Shape::Diagonal => ":diagonal",
            Shape::Spherical => ":spherical",
        })?;
        f.write_str(match shared {
            Shared::No => "",
            Shared::Mean => ":mean",
            Shared::Pooled => ":pooled",
            Shared::Weighted => ":weighted",
        })
    }
}

impl std::str::FromStr for Families {
    type Err = Error;

    fn from_str(text: &str) -> Result<Families> {
        let mut families = Families::default();
        for part in split(text, ',')?.into_iter().filter(|part| !part.trim().is_empty()) {
            let sides = split(&part, '=')?;
            match &sides[..] {
                [usual] if families.usual == FamilyName::Auto => families.usual = FamilyName::parse(usual.trim())?,
                [another] => {
                    let problem = format!("cannot be both {} and {} for all columns", families.usual, another.trim());
                    let remedy = format!("Say which columns, for example a={}.", another.trim());
                    return Err(Error::setting("family", problem, remedy));
                }
                [columns, name] => {
                    let names: Vec<String> = split(columns, '+')?.iter().map(|name| unquoted(name)).collect();
                    families.columns.push((names, FamilyName::parse(name.trim())?));
                }
                _ => {
                    let remedy = "Write columns and family as age=normal; put a name with = in it into \"quotes\".";
                    return Err(Error::setting("family", format!("cannot be '{part}'"), remedy));
                }
            }
        }
        Ok(families)
    }
}

/// Parts of a text between separators that are not in quotes.
fn split(text: &str, separator: char) -> Result<Vec<String>> {
    let (mut parts, mut quoted) = (vec![String::new()], false);
    for letter in text.chars() {
        quoted ^= letter == '"';
        match parts.last_mut() {
            Some(part) if letter != separator || quoted => part.push(letter),
            _ => parts.push(String::new()),
        }
    }
    if quoted {
        return Err(Error::setting("family", format!("has an open quote: {text}"), "Close the quote."));
    }
    Ok(parts)
}

fn unquoted(name: &str) -> String {
    let name = name.trim();
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name).to_string()
}

impl Families {
    fn written(&self, name_of: impl Fn(FamilyName) -> String) -> String {
        let mut text = name_of(self.usual);
        for (columns, name) in &self.columns {
            let quoted = |column: &String| {
                let special = column.contains([',', '=', '+']) || column.trim() != column;
                if special { format!("\"{column}\"") } else { column.clone() }
            };
            let columns: Vec<String> = columns.iter().map(quoted).collect();
            text.push_str(&format!(",{}={}", columns.join("+"), name_of(*name)));
        }
        text
    }
}

impl std::fmt::Display for Families {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.written(|name| name.to_string()))
    }
}

impl TryFrom<String> for Families {
    type Error = Error;

    fn try_from(text: String) -> Result<Families> {
        text.parse()
    }
}

/// The setting as files have it.
impl From<Families> for String {
    fn from(families: Families) -> String {
        families.written(FamilyName::in_files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_read_as_people_write_them() {
        let families: Families = "visits=poisson, \"a,b\"+c = gaussian:diagonal:pooled".parse().unwrap();
        assert_eq!(families.usual, FamilyName::Auto);
        assert_eq!(families.columns[1].0, ["a,b", "c"]);
        assert_eq!(families.columns[1].1, FamilyName::Gaussian(Shape::Diagonal, Shared::Pooled));
        assert_eq!(families.to_string().parse::<Families>().unwrap(), families);
        let wrong = |text: &str| text.parse::<Families>().unwrap_err();
        assert_eq!(wrong("nromal").remedy(), "Did you mean 'normal'?");
        assert!(wrong("a=normal:full").to_string().contains("takes no 'full'"));
        assert!(wrong("a=b=normal").to_string().contains("a=b=normal"));
        assert!(wrong("\"a=normal").to_string().contains("open quote"));
    }

    #[test]
    fn files_keep_the_first_names_of_kernel_densities_and_markov_chains() {
        let families: Families = "kernel-density,a+b=markov-chain,c=normal".parse().unwrap();
        assert_eq!(families.to_string(), "kernel-density,a+b=markov-chain,c=normal");
        let saved = serde_json::to_value(&families).unwrap();
        assert_eq!(saved, "window,a+b=chain,c=normal");
        assert_eq!(serde_json::from_value::<Families>(saved).unwrap(), families);
        let remedy = "kernel_density".parse::<Families>().unwrap_err().remedy().to_string();
        assert_eq!(remedy, "Did you mean 'kernel-density'?");
    }
}
