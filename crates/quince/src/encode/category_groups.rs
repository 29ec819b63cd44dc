//! Rare categories, which share a group.

/// Which categories are rare: those in too few rows and, where there are too many, the least frequent ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RareCategories {
    /// Categories in fewer rows than this are rare.
    pub min_rows: f64,
    /// The largest number of groups, that of the rare categories among them.
    pub max_groups: Option<usize>,
}

/// The categories of a column in groups: one for each frequent category, in order, and a last one for all rare ones.
///
/// ```
/// use quince::encode::{CategoryGroups, RareCategories};
/// let rows = [5, 1, 9, 2];
/// let groups = CategoryGroups::new(&rows, RareCategories { min_rows: 3.0, max_groups: None });
/// assert_eq!(groups.of_categories(), [0, 2, 1, 2]);
/// assert_eq!(groups.rare(), [1, 3]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CategoryGroups {
    groups: Vec<u32>,
    /// The number of frequent categories, which is the group of the rare ones.
    frequent: usize,
}

impl CategoryGroups {
    /// The groups of categories that this many rows have. Of equally frequent categories the last ones stay.
    pub fn new(rows: &[usize], rule: RareCategories) -> CategoryGroups {
        let mut is_rare: Vec<bool> = rows.iter().map(|&rows| (rows as f64) < rule.min_rows).collect();
        let frequent = is_rare.iter().filter(|rare| !**rare).count();
        if let Some(most) = rule.max_groups.filter(|&most| most <= frequent) {
            let mut by_frequency: Vec<usize> = (0..rows.len()).collect();
            by_frequency.sort_by_key(|&category| rows[category]);
            let kept = most.saturating_sub(1);
            by_frequency[..rows.len() - kept].iter().for_each(|&category| is_rare[category] = true);
        }
        CategoryGroups::of(&is_rare)
    }

    /// The groups of categories of which it is known whether each is rare.
    pub fn of(is_rare: &[bool]) -> CategoryGroups {
        let frequent = is_rare.iter().filter(|rare| !**rare).count();
        let mut groups = Vec::with_capacity(is_rare.len());
        let mut next = 0;
        for &rare in is_rare {
            groups.push(if rare { frequent as u32 } else { next });
            next += u32::from(!rare);
        }
        CategoryGroups { groups, frequent }
    }

    /// A group for each category, none of which is rare.
    pub fn one_each(categories: usize) -> CategoryGroups {
        CategoryGroups { groups: (0..categories as u32).collect(), frequent: categories }
    }

    /// The group of each category.
    pub fn of_categories(&self) -> &[u32] {
        &self.groups
    }

    /// The rare categories.
    pub fn rare(&self) -> Vec<usize> {
        (0..self.groups.len()).filter(|&category| self.is_rare(category)).collect()
    }

    /// Whether a category is rare.
    pub fn is_rare(&self, category: usize) -> bool {
        self.groups.get(category).is_some_and(|&group| group as usize == self.frequent)
    }

    /// The group of the rare categories, if there are any.
    pub fn rare_group(&self) -> Option<usize> {
        (self.frequent < self.groups.len()).then_some(self.frequent)
    }

    /// The number of groups.
    pub fn count(&self) -> usize {
        self.frequent + usize::from(self.rare_group().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(rows: &[usize], min_rows: f64, max_groups: Option<usize>) -> (Vec<u32>, usize) {
        let groups = CategoryGroups::new(rows, RareCategories { min_rows, max_groups });
        (groups.of_categories().to_vec(), groups.count())
    }

    #[test]
    fn rare_categories_are_those_of_few_rows_and_those_too_many() {
        assert_eq!(groups(&[3, 1, 2], 0.0, None), (vec![0, 1, 2], 3));
        assert_eq!(groups(&[3, 1, 2], 2.0, None), (vec![0, 2, 1], 3));
        // Three groups hold two frequent categories at most, four all of three.
        assert_eq!(groups(&[3, 1, 2], 0.0, Some(3)), (vec![0, 2, 1], 3));
        assert_eq!(groups(&[3, 1, 2], 0.0, Some(4)), (vec![0, 1, 2], 3));
        assert_eq!(groups(&[2, 2, 2], 0.0, Some(2)), (vec![1, 1, 0], 2));
        assert_eq!(groups(&[3, 1, 2], 9.0, Some(2)), (vec![0, 0, 0], 1));
        assert_eq!(groups(&[3, 1], 0.0, Some(1)), (vec![0, 0], 1));
        assert_eq!(groups(&[], 0.0, Some(1)), (vec![], 0));
    }
}
