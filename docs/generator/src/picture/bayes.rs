//! Pictures of Bayes classifiers: densities and answers of irises, borders between wines, vocabularies of film reviews.

use super::plot::{Axis, Plot, Shape};
use super::{Figure, IRIS};
use quince::bayes::{BayesModel, GaussianClassifier, NaiveBayes, SharedCovariance};
use quince::family::{Distribution, Normal};
use quince::learn::{Examples, Learner, Target, TargetView};
use quince::{Error, Matrix, Result, Run, Table};

const WINE: &str = include_str!("../../../../examples/data/wine.csv");
/// Made by `bench/texts.py` from 2,000 film reviews.
const VOCABULARIES: &str = include_str!("film_reviews.csv");

const COLOURS: [&str; 3] = ["first", "second", "third"];

/// Some columns of a table as a matrix, and its target, whose classes have names.
fn rows(text: &str, columns: &[&str], target: &str) -> Result<(Matrix, Target)> {
    let table = Table::from_csv(text)?;
    let labelled = table.labelled(target, Some(quince::learn::Task::Classification))?;
    let mut rows = Matrix::zeros(labelled.table.rows(), columns.len());
    for (j, name) in columns.iter().enumerate() {
        let column = labelled.table.column(name)?;
        (0..column.rows()).for_each(|i| rows[(i, j)] = column.number(i).unwrap_or(f64::NAN));
    }
    Ok((rows, labelled.target))
}

fn fit<L: Learner<Fitted = BayesModel>>(learner: &L, rows: &Matrix, target: &Target) -> Result<BayesModel> {
    Ok(learner.fit_examples(&Examples::new(rows.features(), target, None)?, &Run::new())?.0)
}

/// The names of the classes, and the class of each row.
fn classes(target: &Target) -> (&[String], &[u32]) {
    if let TargetView::Classes { classes, codes } = target.view() { (classes.names(), codes) } else { (&[], &[]) }
}

/// What is learnt of one column, and what it answers.
pub(super) fn densities() -> Result<Figure> {
    let (rows, target) = rows(IRIS, &["petal_length"], "species")?;
    let bayes = NaiveBayes { family: "normal".parse()?, calibrate: false, ..NaiveBayes::default() };
    let model = fit(&bayes, &rows, &target)?;
    let parameters = model.parameters();
    let learnt = |name: &str, k: usize| parameters[0].array(name).map_or(0.0, |array| array[(k, 0)]);
    let axis = || Axis::linear("length of the petals (cm)", 0.0, 8.0);
    let across: Vec<f64> = (0..=320).map(|step| f64::from(step) / 40.0).collect();
    let mut left = Plot::half("p(length | species)", axis(), Axis::linear("density per cm", 0.0, 2.5));
    let mut right = Plot::half("P(species | length)", axis(), Axis::linear("probability", 0.0, 1.0));
    let answers = model.probabilities(&Matrix::column_vector(across.clone()).features(), &Run::new())?;
    for (k, colour) in COLOURS.iter().enumerate() {
        let normal = Normal::new(learnt("mean", k), learnt("variance", k).sqrt())?;
        left.line(across.iter().map(|&x| (x, normal.log_density(x).exp())), &format!("line {colour}"));
        right.line(across.iter().enumerate().map(|(i, &x)| (x, answers[(i, k)])), &format!("line {colour}"));
    }
    let caption = "Bayes' rule on 150 irises, by the length of their petals alone. Left, what is learnt: a normal density for \
                   each species. Right, what is answered: how the three densities share every length between them. Where two \
                   are equally high the answer changes.";
    let figure = Figure::pair(left, right, caption);
    let named = classes(&target).0.iter().zip(COLOURS);
    Ok(named.fold(figure, |figure, (name, colour)| figure.means(Shape::Square, &format!("mark {colour}"), name)))
}

/// Borders with one covariance for all classes, and with one for each.
pub(super) fn borders() -> Result<Figure> {
    let (rows, target) = rows(WINE, &["flavanoids", "color_intensity"], "cultivar")?;
    let (names, codes) = classes(&target);
    let plot = |title: &str, shared: SharedCovariance| {
        let axes = (Axis::linear("flavanoids", 0.0, 5.4), Axis::linear("colour intensity", 0.0, 14.0));
        let mut plot = Plot::half(title, axes.0, axes.1);
        let gaussian = GaussianClassifier { shared, calibrate: false, ..GaussianClassifier::default() };
        let model = fit(&gaussian, &rows, &target)?;
        let squares: Vec<[f64; 2]> = plot.squares().into_iter().map(|(x, y)| [x, y]).collect();
        let said = model.labels(&Matrix::from_rows(&squares).features(), &Run::new())?;
        plot.areas(&said, &COLOURS.map(|colour| format!("region {colour}")).each_ref().map(String::as_str));
        for (i, &code) in codes.iter().enumerate() {
            let code = code as usize;
            plot.mark(rows[(i, 0)], rows[(i, 1)], Shape::ALL[code], &format!("mark {}", COLOURS[code]));
        }
        Ok::<_, Error>(plot)
    };
    let caption = "Three cultivars of wine by two measurements. With one covariance for all classes (linear discriminant \
                   analysis) borders are straight. With one for each (quadratic) they bend about the classes that spread \
                   less.";
    let linear = plot("shared=pooled", SharedCovariance::Pooled)?;
    let figure = Figure::pair(linear, plot("shared=no", SharedCovariance::No)?, caption);
    Ok(names.iter().enumerate().fold(figure, |figure, (code, name)| {
        figure.means(Shape::ALL[code], &format!("mark {}", COLOURS[code]), &format!("cultivar {name}"))
    }))
}

/// Counts against presence, over the number of words that are looked at.
pub(super) fn vocabularies() -> Result<Figure> {
    let lines = VOCABULARIES.lines().skip(1).map(|line| line.split(',').filter_map(|cell| cell.parse().ok()).collect());
    let lines: Vec<Vec<f64>> = lines.collect();
    let mut plot = Plot::new(
        Axis::logarithmic("number of words in the vocabulary", 10.0, 40_000.0),
        Axis::linear("accuracy", 0.5, 0.86),
    );
    for (j, (name, dy)) in
        [("multinomial: how often", -12.0), ("bernoulli: whether at all", 24.0)].into_iter().enumerate()
    {
        let class = COLOURS[j];
        plot.line(lines.iter().map(|line| (line[0], line[j + 1])), &format!("line {class}"));
        lines.iter().for_each(|line| plot.mark(line[0], line[j + 1], Shape::ALL[j], &format!("mark {class}")));
        let last = &lines[lines.len() - 1];
        plot.words((last[0], last[j + 1]), (4.0, dy), "end", name, class);
    }
    let caption = "Good or bad? 2,000 film reviews, ten-fold cross-validation, with the most frequent words of the training \
                   reviews. Presence alone catches up with counts in the middle, and is a little behind with very few words and \
                   with very many.";
    Ok(Figure::of(plot, caption))
}
