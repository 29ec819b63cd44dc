//! Pictures of mixtures: irises by their components and densities, and what posts without a label are worth.

use super::plot::{Axis, Plot, Shape};
use super::{Figure, IRIS};
use quince::learn::{Count, Examples, Learner, Target};
use quince::mixture::{Mixture, MixtureInit, MixtureModel};
use quince::{Matrix, Result, Run, Table};

/// Made by `bench/few_labels.py` from 20 newsgroups.
const FEW_LABELS: &str = include_str!("few_labels.csv");

const COLOURS: [&str; 3] = ["first", "second", "third"];

/// Petals of irises, by the component with the largest share; and the same by round clusters.
pub(super) fn irises() -> Result<Figure> {
    let table = Table::from_csv(IRIS)?;
    let columns = [table.column("sepal_length")?, table.column("sepal_width")?];
    let mut rows = Matrix::zeros(table.rows(), 2);
    for (j, column) in columns.iter().enumerate() {
        (0..table.rows()).for_each(|i| rows[(i, j)] = column.number(i).unwrap_or(f64::NAN));
    }
    let fit = |mixture: &Mixture| -> Result<MixtureModel> {
        let target = Target::none(rows.rows());
        Ok(mixture.fit_examples(&Examples::new(rows.features(), &target, None)?, &Run::new())?.0)
    };
    let plot = |title: &str, mixture: &Mixture| -> Result<Plot> {
        let axes =
            (Axis::linear("length of the sepals (cm)", 4.0, 8.0), Axis::linear("width of the sepals (cm)", 1.8, 4.6));
        let (model, mut plot) = (fit(mixture)?, Plot::half(title, axes.0, axes.1));
        let squares: Vec<[f64; 2]> = plot.squares().into_iter().map(|(x, y)| [x, y]).collect();
        let labels = |rows: &Matrix| -> Result<Vec<u32>> {
            let responsibilities = model.responsibilities(&rows.features(), &Run::new())?;
            let largest = |i: usize| {
                (0..responsibilities.columns())
                    .max_by(|&a, &b| responsibilities[(i, a)].total_cmp(&responsibilities[(i, b)]))
            };
            Ok((0..responsibilities.rows()).map(|i| largest(i).unwrap_or(0) as u32).collect())
        };
        let regions = COLOURS.map(|colour| format!("region {colour}"));
        plot.areas(&labels(&Matrix::from_rows(&squares))?, &regions.each_ref().map(String::as_str));
        for (i, &label) in labels(&rows)?.iter().enumerate() {
            let label = label as usize;
            plot.mark(rows[(i, 0)], rows[(i, 1)], Shape::ALL[label], &format!("mark {}", COLOURS[label]));
        }
        Ok(plot)
    };
    // The likeliest of three is a thin one among the large irises; from k-means EM comes to a broader one.
    let from = Mixture { start: MixtureInit::Kmeans, ..Mixture::default() };
    let two = Mixture { k: Count::Fixed(2), ..from.clone() };
    let three = Mixture { k: Count::Fixed(3), ..from };
    let caption = "150 irises by their sepals, without their species: two components and three, each with a covariance of its own, from k-means. \
                   Areas show which component has the largest share. The slanted group of small \
                   irises (setosa) is found either way.";
    let figure = Figure::pair(plot("two components", &two)?, plot("three components", &three)?, caption);
    let named = ["component 1", "component 2", "component 3"].iter().zip(COLOURS).enumerate();
    Ok(named.fold(figure, |figure, (k, (name, colour))| figure.means(Shape::ALL[k], &format!("mark {colour}"), name)))
}

/// The accuracy of naive Bayes, and of the same with posts without a label, by how many have one.
pub(super) fn few_labels() -> Result<Figure> {
    let table = Table::from_csv(FEW_LABELS)?;
    let numbers = |name: &str| -> Result<Vec<f64>> {
        let column = table.column(name)?;
        Ok((0..table.rows()).filter_map(|i| column.number(i)).collect())
    };
    let labelled = numbers("labelled")?;
    let mut counts = labelled.clone();
    counts.dedup();
    let axes = (Axis::logarithmic("labelled posts a class", 4.0, 250.0), Axis::linear("accuracy", 0.2, 0.8));
    let mut plot = Plot::new(axes.0, axes.1);
    for (name, colour, shape) in [("naive_bayes", "first", Shape::Circle), ("semi_supervised", "second", Shape::Square)]
    {
        let scores = numbers(name)?;
        let of = |count: f64| labelled.iter().zip(&scores).filter(move |(n, _)| **n == count).map(|(_, score)| *score);
        let mean = |count: f64| of(count).sum::<f64>() / of(count).count() as f64;
        plot.line(counts.iter().map(|&count| (count, mean(count))), &format!("line {colour}"));
        for (&count, &score) in labelled.iter().zip(&scores) {
            plot.mark(count, score, shape, &format!("mark {colour}"));
        }
    }
    let caption = "20 newsgroups, by date: accuracy on the 7,532 test posts of naive Bayes that has learnt from a few labelled posts a \
                   class, and of the same that has learnt from all 11,314 training posts, most of them without a label. Ten draws of the \
                   labelled posts, and lines through their means.";
    let figure = Figure::of(plot, caption);
    Ok(figure.means(Shape::Circle, "mark first", "labelled posts alone").means(
        Shape::Square,
        "mark second",
        "and all others without a label",
    ))
}
