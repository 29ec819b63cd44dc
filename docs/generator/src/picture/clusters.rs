//! Pictures of k-means, on irises and on written digits.

use super::plane::{Plane, cells};
use super::plot::{Axis, Plot, Shape};
use super::{Figure, IRIS, short};
use quince::cluster::{ClusterCountCandidate, KMeans};
use quince::encode::{Encoder, MissingValues};
use quince::learn::{Count, TargetView};
use quince::run::Outcome;
use quince::{Matrix, Result, Run, Table};
use std::fmt::Write;

const DIGITS: &str = include_str!("../../../../examples/data/digits.csv");
const COLOURS: [&str; 3] = ["first", "second", "third"];

/// Three clusters of petals, their centres, and the lines halfway between them.
pub(super) fn clusters() -> Result<Figure> {
    let labelled = Table::from_csv(IRIS)?.labelled("species", None)?;
    let plane = Plane::of(&labelled.table, "petal_length", "petal_width")?;
    let rows = plane.features(&plane.points);
    let found = KMeans { k: Count::Fixed(3), ..KMeans::default() }.cluster_with(rows.features(), None, &Run::new())?;
    let mut plot = Plot::new(Axis::linear("petal length (cm)", 0.6, 7.2), Axis::linear("petal width (cm)", -0.1, 2.7));
    let window = plot.corners().map(|corner| plane.standard(corner));
    let centres: Vec<[f64; 2]> = (0..3).map(|c| [0, 1].map(|j| found.model.centres()[(c, j)])).collect();
    for (cell, colour) in cells(&centres, &window).into_iter().zip(COLOURS) {
        plot.area(cell.into_iter().map(|corner| plane.original(corner)), &format!("region edged {colour}"));
    }
    let TargetView::Classes { classes, codes } = labelled.target.view() else {
        return Ok(Figure::of(plot, ""));
    };
    let own =
        |label: u32, code: u32| (0..codes.len()).filter(|&i| found.labels[i] == label && codes[i] == code).count();
    for ((&(x, y), &label), &code) in plane.points.iter().zip(&found.labels).zip(codes) {
        plot.mark(x, y, Shape::ALL[code as usize], &format!("mark {}", COLOURS[label as usize]));
    }
    // Words where no flower and no line is: right of the smallest petals, left of the others.
    for (c, (centre, size)) in centres.iter().zip(found.model.sizes()).enumerate() {
        let (x, y) = plane.original(*centre);
        plot.dot(x, y, "dot");
        let (away, anchor) = match x {
            ..3.0 => ((44.0, 5.0), "start"),
            ..5.0 => ((-76.0, -22.0), "end"),
            _ => ((-44.0, -44.0), "end"),
        };
        plot.words((x, y), away, anchor, &format!("cluster {}: {size} rows", c + 1), "");
    }
    let agree: usize = (0..3).map(|label| (0..3).map(|code| own(label, code)).max().unwrap_or(0)).sum();
    let caption = format!(
        "150 irises in three clusters (colours) by their petals, and the centres (yellow). The lines lie halfway between \
         centres: a new flower belongs where it falls. The shapes are the species, which k-means never saw: {agree} flowers \
         are in the cluster of their species."
    );
    let figure = Figure::of(plot, caption);
    let named = classes.names().iter().zip(Shape::ALL);
    Ok(named.fold(figure, |figure, (name, shape)| figure.means(shape, "mark plain", name)))
}

/// The error and the mean silhouette for 1 to 10 clusters of irises.
pub(super) fn choice() -> Result<Figure> {
    let table = Table::from_csv(IRIS)?.without(&["species"]);
    let rows = Encoder::learn(&table, &Run::new())?.encode(&table, MissingValues::Imputed, &Run::new())?;
    let found = KMeans::default().cluster_with(rows.features(), None, &Run::new())?;
    let Some(choice) = found.choice else {
        return Ok(Figure::of(Plot::new(Axis::linear("", 0.0, 1.0), Axis::linear("", 0.0, 1.0)), ""));
    };
    let clusters = || Axis::linear("number of clusters K", 0.5, 10.5);
    let draw = |title: &str, axis: Axis, value: &dyn Fn(&ClusterCountCandidate) -> Option<f64>, chosen: usize| {
        let mut plot = Plot::half(title, clusters(), axis);
        let points: Vec<(f64, f64)> =
            choice.trials.iter().filter_map(|trial| Some((trial.k as f64, value(trial)?))).collect();
        plot.line(points.iter().copied(), "line first");
        for &(k, y) in &points {
            if k == chosen as f64 {
                plot.dot(k, y, "dot");
            } else {
                plot.mark(k, y, Shape::Circle, "mark first");
            }
        }
        plot
    };
    let first = choice.trials[0].error;
    let error = Axis::linear("within-cluster error E", 0.0, 1.05 * first);
    let left = draw("the elbow", error, &|trial| Some(trial.error), choice.by_elbow);
    let apart = Axis::linear("mean silhouette", 0.0, 0.65);
    let right = draw("the silhouette", apart, &|trial| trial.silhouette, choice.by_silhouette);
    let best = choice.trials.iter().find(|trial| trial.k == choice.by_silhouette).and_then(|trial| trial.silhouette);
    let caption = format!(
        "150 irises, four columns, 1 to 10 clusters. The error always falls; it falls fast until K = {}, its elbow. The mean \
         silhouette is largest at K = {} ({}): setosa stands apart, the other two species touch.",
        choice.by_elbow,
        choice.by_silhouette,
        short(best.unwrap_or(0.0)),
    );
    Ok(Figure::pair(left, right, caption))
}

/// How many centres stand for the digits.
const STAND_INS: usize = 64;

/// Ten written digits, and the centres that stand for them.
pub(super) fn quantised() -> Result<Figure> {
    let numbers: Vec<f64> = DIGITS
        .lines()
        .skip(1)
        .flat_map(|line| line.split(',').take(64).map(|cell| cell.trim().parse().unwrap_or(0.0)))
        .collect();
    let rows = Matrix::new(numbers.len() / 64, 64, numbers)?;
    let kmeans = KMeans { k: Count::Fixed(STAND_INS), ..KMeans::default() };
    let found = kmeans.cluster_with(rows.features(), None, &Run::new())?;
    let Outcome::Clusters { explained, .. } = found.report.outcome else { unreachable!("k-means has centres") };
    let caption = format!(
        "The first ten of {} written digits, each 64 numbers, and the nearest of {STAND_INS} centres. Whoever has the centres \
         needs one number a digit, from 0 to {}, instead of 64; {:.0} % of the variance survives.",
        rows.rows(),
        STAND_INS - 1,
        100.0 * explained,
    );
    let mut svg = String::from("<svg viewBox=\"0 0 520 104\" role=\"img\" aria-label=\"Digits and their centres\">\n");
    for (words, y) in [("digit", 30.0), ("centre", 82.0)] {
        let _ = writeln!(svg, "<text x=\"0\" y=\"{y}\">{words}</text>");
    }
    for i in 0..10 {
        let x = 60.0 + 46.0 * i as f64;
        svg += &image(rows.row(i), x, 4.0);
        svg += &image(found.model.centres().row(found.labels[i] as usize), x, 56.0);
    }
    Ok(Figure { svgs: vec![svg + "</svg>"], legend: Vec::new(), caption })
}

/// A picture of eight by eight pixels, from 0 (nothing) to 16 (ink), each five units wide.
fn image(pixels: &[f64], x: f64, y: f64) -> String {
    let mut svg = format!("<rect class=\"sheet\" x=\"{x}\" y=\"{y}\" width=\"40\" height=\"40\"/>\n");
    for level in 1..=16 {
        let mut path = String::new();
        for (place, _) in pixels.iter().enumerate().filter(|(_, ink)| ink.round() as usize == level) {
            let (across, down) = (x + 5.0 * (place % 8) as f64, y + 5.0 * (place / 8) as f64);
            let _ = write!(path, "M{across} {down}h5v5h-5z");
        }
        if !path.is_empty() {
            let _ = writeln!(svg, "<path class=\"ink\" fill-opacity=\"{}\" d=\"{path}\"/>", level as f64 / 16.0);
        }
    }
    svg
}
