//! The pictures of the guide, each computed with quince when the guide is made: `<!-- picture: NAME -->`.

mod bayes;
mod clusters;
mod margin;
mod mixture;
mod neighbours;
mod plane;
mod plot;

use crate::render::escape;
use plot::{Axis, Plot, Shape};
use quince::encode::{Encoder, MissingValues};
use quince::evaluate::{Roc, root_mean_square};
use quince::learn::{Examples, Learner, Prediction, Target, TargetView};
use quince::linear::{LeastSquares, LinearModel, Ridge};
use quince::matrix::Rows;
use quince::numbers::number_text;
use quince::table::Labelled;
use quince::{Matrix, Result, Run, Table};

const IRIS: &str = include_str!("../../../../examples/data/iris.csv");
const TUMOURS: &str = include_str!("../../../../examples/data/wdbc.csv");

/// A picture: one SVG or two, what their marks mean, and a sentence or two below.
struct Figure {
    svgs: Vec<String>,
    legend: Vec<(Shape, String, String)>,
    caption: String,
}

impl Figure {
    fn of(plot: Plot, caption: impl Into<String>) -> Figure {
        let caption = caption.into();
        Figure { svgs: vec![plot.svg(&caption)], legend: Vec::new(), caption }
    }

    /// Two plots side by side, or one above the other where there is little room.
    fn pair(left: Plot, right: Plot, caption: impl Into<String>) -> Figure {
        let caption = caption.into();
        Figure { svgs: [left, right].map(|plot| plot.svg(&caption)).to_vec(), legend: Vec::new(), caption }
    }

    /// Says what a mark means; `class` is that of the mark.
    fn means(mut self, shape: Shape, class: &str, words: &str) -> Figure {
        self.legend.push((shape, class.into(), words.into()));
        self
    }

    fn html(&self) -> String {
        let plots = match &self.svgs[..] {
            [one] => one.clone(),
            several => format!("<div class=\"pair\">\n{}\n</div>", several.join("\n")),
        };
        let key = |(shape, class, words): &(Shape, String, String)| {
            let mark = shape.svg(7.0, 7.0, class);
            format!(
                "<span><svg class=\"key\" viewBox=\"0 0 14 14\" aria-hidden=\"true\">{mark}</svg>{}</span>",
                escape(words)
            )
        };
        let keys: Vec<String> = self.legend.iter().map(key).collect();
        let legend =
            if keys.is_empty() { String::new() } else { format!("<p class=\"legend\">{}</p>\n", keys.join("\n")) };
        format!("<figure>\n{legend}{plots}\n<figcaption>{}</figcaption>\n</figure>\n", escape(&self.caption))
    }
}

type Picture = fn() -> Result<Figure>;

const PICTURES: &[(&str, Picture)] = &[
    ("least-squares-lines", least_squares_lines),
    ("ridge-coefficients", ridge_coefficients),
    ("ridge-error", ridge_error),
    ("roc-curves", roc_curves),
    ("knn-regions", neighbours::regions),
    ("knn-losses", neighbours::losses),
    ("kmeans-clusters", clusters::clusters),
    ("kmeans-choice", clusters::choice),
    ("kmeans-quantised", clusters::quantised),
    ("bayes-densities", bayes::densities),
    ("bayes-vocabularies", bayes::vocabularies),
    ("gaussian-borders", bayes::borders),
    ("mixture-irises", mixture::irises),
    ("mixture-few-labels", mixture::few_labels),
    ("svm-margin", margin::margin),
    ("svm-kernels", margin::kernels),
    ("svm-losses", margin::losses),
    ("svm-novelty", margin::novelty),
];

/// The HTML of a picture, or a sentence on what is wrong.
pub(crate) fn figure(name: &str) -> std::result::Result<String, String> {
    let Some((_, make)) = PICTURES.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = PICTURES.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no picture '{name}': the pictures are {}.", names.join(", ")));
    };
    Ok(make().map_err(|error| format!("the picture '{name}' cannot be made: {error}."))?.html())
}

/// Two decimals at most, with a proper minus sign.
fn short(value: f64) -> String {
    number_text((value * 100.0).round() / 100.0 + 0.0).replace('-', "\u{2212}")
}

fn fit_line(from: &[f64], to: &[f64]) -> Result<(f64, f64)> {
    let features = Matrix::column_vector(from.to_vec());
    let target = Target::numbers(Matrix::column_vector(to.to_vec()))?;
    let examples = Examples::new(features.features(), &target, None)?;
    let (line, _) = LeastSquares::default().fit_examples(&examples, &Run::new())?;
    Ok((line.coefficients()[(0, 0)], line.intercept()[0]))
}

/// Four points, the line of y on x with its errors, and the line of x on y.
fn least_squares_lines() -> Result<Figure> {
    let (x, y) = ([5.0, 5.0, 7.0, 7.0], [1.0, 2.0, 2.0, 3.0]);
    let (slope, start) = fit_line(&x, &y)?;
    let (back_slope, back_start) = fit_line(&y, &x)?;
    let mut plot = Plot::new(Axis::linear("x", 4.0, 8.0), Axis::linear("y", 0.0, 4.0));
    let on_line = |x: f64| start + slope * x;
    plot.line([4.0, 8.0].map(|x| (x, on_line(x))), "line first");
    // x = back_start + back_slope · y, drawn over the same range of y.
    plot.line([0.0, 4.0].map(|y| (back_start + back_slope * y, y)), "line second dashed");
    for (x, y) in x.into_iter().zip(y) {
        plot.line([(x, y), (x, on_line(x))], "line error");
        plot.dot(x, y, "dot");
    }
    let equation = |left: &str, factor: f64, right: &str, constant: f64| {
        let factor = if factor == 1.0 { String::new() } else { format!("{} ", short(factor)) };
        let sign = if constant < 0.0 { "\u{2212}" } else { "+" };
        format!("{left} = {factor}{right} {sign} {}", short(constant.abs()))
    };
    let label = equation("y", slope, "x", start);
    plot.words((8.0, on_line(8.0)), (-6.0, 44.0), "end", &label, "first");
    let label = equation("x", back_slope, "y", back_start);
    plot.words((back_start + back_slope * 3.6, 3.6), (-12.0, 0.0), "end", &label, "second");
    let caption = "Four points and their least-squares lines. The solid line keeps the squared errors in y small \
                   (drawn as thin lines), the dashed one those in x.";
    Ok(Figure::of(plot, caption))
}

/// The petals and the width of the sepals of 150 irises, standardised, to tell the length of the sepals from.
fn sepals() -> Result<(Labelled, Encoder, Rows)> {
    let table = Table::from_csv(IRIS)?.without(&["species"]);
    let labelled = table.labelled("sepal_length", None)?;
    let encoder = Encoder::learn(&labelled.table, &quince::Run::new())?;
    let rows = encoder.encode(&labelled.table, MissingValues::Imputed, &quince::Run::new())?;
    Ok((labelled, encoder, rows))
}

fn alphas() -> Vec<f64> {
    (0..=60).map(|k| 10f64.powf(-2.0 + 0.1 * f64::from(k))).collect()
}

/// Every coefficient of ridge against α.
fn ridge_coefficients() -> Result<Figure> {
    let (labelled, encoder, rows) = sepals()?;
    let examples = Examples::new(rows.features(), &labelled.target, None)?;
    let alphas = alphas();
    let fits: Vec<LinearModel> = alphas
        .iter()
        .map(|&alpha| Ok(Ridge { alpha, ..Ridge::default() }.fit_examples(&examples, &Run::new())?.0))
        .collect::<Result<_>>()?;
    let path = |j: usize| fits.iter().map(move |fit| fit.coefficients()[(j, 0)]);
    let names: Vec<String> = encoder.feature_names().collect();
    let all: Vec<f64> = (0..names.len()).flat_map(path).collect();
    let mut plot = Plot::new(
        Axis::logarithmic("α", alphas[0], alphas[alphas.len() - 1]),
        Axis::around("coefficient", all.iter().copied()),
    );
    plot.line([alphas[0], alphas[alphas.len() - 1]].map(|alpha| (alpha, 0.0)), "line zero");
    for (j, (name, class)) in names.iter().zip(["first", "second", "third"]).enumerate() {
        plot.line(alphas.iter().copied().zip(path(j)), &format!("line {class}"));
        let at = alphas[3];
        let value = fits[3].coefficients()[(j, 0)];
        plot.words((at, value), (0.0, -8.0), "start", &name.replace('_', " "), class);
    }
    let caption = "Ridge on irises: the length of the sepals from their width and the petals. The two petal columns say \
                   nearly the same; without a penalty one of them gets a large coefficient and the other a negative one. \
                   As α grows they agree, and at last all shrink to zero.";
    Ok(Figure::of(plot, caption))
}

/// The exact leave-one-out error of the same fits.
fn ridge_error() -> Result<Figure> {
    let (labelled, _, rows) = sepals()?;
    let examples = Examples::new(rows.features(), &labelled.target, None)?;
    let alphas = alphas();
    let mut errors = Vec::new();
    for &alpha in &alphas {
        let ridge = Ridge { alpha, ..Ridge::default() };
        if let (TargetView::Numbers(truth), Some(Prediction::Numbers(predicted))) =
            (labelled.target.view(), ridge.leave_one_out_examples(&examples, &Run::new())?)
        {
            errors.push((alpha, root_mean_square(truth, &predicted, None)?));
        }
    }
    let (best, least) = errors.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((1.0, 0.0));
    let mut plot = Plot::new(
        Axis::logarithmic("α", alphas[0], alphas[alphas.len() - 1]),
        Axis::around("leave-one-out error (cm)", errors.iter().map(|(_, error)| *error)),
    );
    plot.line(errors.iter().copied(), "line first");
    plot.dot(best, least, "dot");
    let caption = format!(
        "The same irises: the exact leave-one-out error (RMSE) of each of the 61 fits, without refitting. The least is \
         {} cm, at α = {}; any α below about 10 does as well, and only a very large one does harm.",
        number_text((least * 1000.0).round() / 1000.0),
        short(best)
    );
    Ok(Figure::of(plot, caption))
}

/// ROC curves of ridge on parts of the tumour table, from exact leave-one-out probabilities.
fn roc_curves() -> Result<Figure> {
    let table = Table::from_csv(TUMOURS)?;
    let mut plot = Plot::new(
        Axis::linear("share of benign rows called malignant", 0.0, 1.0),
        Axis::linear("share of malignant rows found", 0.0, 1.0),
    );
    plot.line([(0.0, 0.0), (1.0, 1.0)], "line zero");
    let choices: [(&[&str], &str, &str, f64); 2] = [
        (&["mean_texture", "mean_radius"], "texture and radius", "first", 0.17),
        (&["mean_texture"], "texture alone", "second", 0.08),
    ];
    for (columns, name, class, height) in choices {
        let others: Vec<&str> = table
            .columns()
            .iter()
            .map(|column| column.name())
            .filter(|name| *name != "diagnosis" && !columns.contains(name))
            .collect();
        let labelled = table.without(&others).labelled("diagnosis", None)?;
        let encoder = Encoder::learn(&labelled.table, &quince::Run::new())?;
        let rows = encoder.encode(&labelled.table, MissingValues::Imputed, &quince::Run::new())?;
        let examples = Examples::new(rows.features(), &labelled.target, None)?;
        let prediction = Ridge::default().leave_one_out_examples(&examples, &Run::new())?;
        let (TargetView::Classes { classes, codes }, Some(Prediction::Classes { probabilities, .. })) =
            (labelled.target.view(), prediction)
        else {
            continue;
        };
        let malignant = classes.code("malignant").unwrap_or_default();
        let truth: Vec<bool> = codes.iter().map(|code| *code == malignant).collect();
        let roc = Roc::of(&probabilities.column(malignant as usize), &truth, None)?;
        plot.line(
            roc.false_positives.iter().copied().zip(roc.true_positives.iter().copied()),
            &format!("line {class}"),
        );
        let words = format!("{name}: area {}", short(roc.area.unwrap_or(0.0)));
        plot.words((0.98, height), (0.0, 4.0), "end", &words, class);
    }
    let caption = "ROC curves of ridge on 569 tumours, from exact leave-one-out probabilities. Each point of a curve is \
                   one threshold. The straight line is guessing.";
    Ok(Figure::of(plot, caption))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_can_be_made_and_holds_no_broken_number() {
        for (name, _) in PICTURES {
            let svg = figure(name).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        }
        assert!(figure("none").unwrap_err().contains("there is no picture"));
    }

    #[test]
    fn the_lines_of_the_four_points_are_labelled_with_its_numbers() {
        let svg = figure("least-squares-lines").unwrap();
        assert!(svg.contains("y = 0.5 x \u{2212} 1") && svg.contains("x = y + 4"), "{svg}");
    }
}
