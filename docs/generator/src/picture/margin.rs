//! Pictures of margins: on four points, irises, penguins and fruit.

use super::neighbours::FRUIT;
use super::plane::Plane;
use super::plot::{Axis, Plot, Shape};
use super::{Figure, IRIS};
use quince::learn::{Classes, Examples, Learner, Target, TargetView};
use quince::margin::{Cost, KernelName, Loss, OneClassSvm, Svm, SvmModel};
use quince::{Result, Run, Table};

const PENGUINS: &str = include_str!("../../../../examples/data/penguins.csv");

const COLOURS: [&str; 2] = ["first", "second"];

/// Draws the scores of a model at every place, the edges of its margin, and the rows, support vectors with a dark rim.
fn draw(plot: &mut Plot, plane: &Plane, codes: &[u32], levels: &[f64], bands: &[&str], model: &SvmModel) -> Result<()> {
    let squares = plane.features(&plot.squares());
    let scores = model.scores(&squares.features(), &Run::new())?;
    plot.bands(&scores, levels, bands);
    for (i, (&(x, y), &code)) in plane.points.iter().zip(codes).enumerate() {
        let held = if model.support_indices().contains(&i) { " held" } else { "" };
        let code = code as usize;
        plot.mark(x, y, Shape::ALL[code], &format!("mark {}{held}", COLOURS[code]));
    }
    Ok(())
}

/// Two classes of points, with the margin between them.
fn between(mut plot: Plot, plane: &Plane, target: &Target, svm: &Svm) -> Result<(Plot, usize)> {
    let rows = plane.features(&plane.points);
    let (model, _) = svm.fit_examples(&Examples::new(rows.features(), target, None)?, &Run::new())?;
    if let TargetView::Classes { codes, .. } = target.view() {
        let bands = ["region first", "region first pale", "region second pale", "region second"];
        draw(&mut plot, plane, codes, &[-1.0, 0.0, 1.0], &bands, &model)?;
    }
    Ok((plot, model.support_indices().len()))
}

/// The names of two classes, and of support vectors.
fn legend(figure: Figure, names: &[&str]) -> Figure {
    let figure = names
        .iter()
        .enumerate()
        .fold(figure, |figure, (code, name)| figure.means(Shape::ALL[code], &format!("mark {}", COLOURS[code]), name));
    figure.means(Shape::Circle, "mark held", "support vector")
}

/// Fits without what takes time and is not drawn.
fn quick(kernel: KernelName, c: Cost) -> Svm {
    Svm { kernel, c, probabilities: false, leave_one_out: quince::margin::LeaveOneOut::Never, ..Svm::default() }
}

/// A hard margin between four points, and a soft one between irises.
pub(super) fn margin() -> Result<Figure> {
    let four = Plane::plain(vec![(5.0, 1.0), (5.0, 2.0), (7.0, 2.0), (7.0, 3.0)]);
    let sides = Target::classes(Classes::of(["left", "right"]), vec![0, 0, 1, 1])?;
    let hard = Plot::half("hard margin", Axis::linear("x", 4.0, 8.0), Axis::linear("y", 0.0, 4.0));
    let (hard, _) = between(hard, &four, &sides, &quick(KernelName::Linear, Cost::Infinite))?;
    let two: Vec<&str> = IRIS.lines().filter(|line| !line.contains("setosa")).collect();
    let irises = Table::from_csv(&two.join("\n"))?.labelled("species", None)?;
    let plane = Plane::of(&irises.table, "petal_length", "petal_width")?;
    let soft = Plot::half(
        "soft margin, c = 1",
        Axis::linear("petal length (cm)", 2.8, 7.1),
        Axis::linear("petal width (cm)", 0.8, 2.7),
    );
    let (soft, support) = between(soft, &plane, &irises.target, &quick(KernelName::Linear, Cost::Finite(1.0)))?;
    let caption = format!(
        "The widest margin between two classes: the line between them, and the two edges at which the score is −1 and +1. On the \
         left no row may be within it, and two of the four points hold it where it is. On the right, two species of iris overlap, \
         and rows within the margin or on the wrong side are paid for. {support} of the {} flowers are support vectors; without \
         the others, the border would be the same.",
        plane.points.len()
    );
    let both = ["left; versicolor", "right; virginica"];
    Ok(legend(Figure::pair(hard, soft, caption), &both))
}

/// Penguins by their bills: male and female, by a line and by a curve.
pub(super) fn kernels() -> Result<Figure> {
    let penguins = Table::from_csv(PENGUINS)?.labelled("sex", None)?;
    let plane = Plane::of(&penguins.table, "bill_length_mm", "bill_depth_mm")?;
    let plot = |title: &str, kernel: KernelName| {
        let axes = (Axis::linear("bill length (mm)", 31.0, 61.0), Axis::linear("bill depth (mm)", 12.6, 22.0));
        between(Plot::half(title, axes.0, axes.1), &plane, &penguins.target, &quick(kernel, Cost::Finite(1.0)))
    };
    let (line, _) = plot("kernel = linear", KernelName::Linear)?;
    let (curve, _) = plot("kernel = rbf", KernelName::Rbf)?;
    let caption = format!(
        "Is it a female or a male? {} penguins of three species, by their bills, with c = 1. In every species males have the \
         larger bills, but a single straight line does not fit all three. With the RBF kernel the border goes between the \
         sexes of each.",
        plane.points.len()
    );
    Ok(legend(Figure::pair(line, curve, caption), &["female", "male"]))
}

/// Where fruit is, by a wide kernel and by a narrow one.
pub(super) fn novelty() -> Result<Figure> {
    let plane = Plane::of(&Table::from_csv(FRUIT)?, "height", "color_score")?;
    let rows = plane.features(&plane.points);
    let nothing = Target::none(plane.points.len());
    let plot = |title: &str, gamma: f64| -> Result<Plot> {
        let axes = (Axis::linear("height (cm)", 3.5, 11.0), Axis::linear("colour score", 0.5, 0.98));
        let mut plot = Plot::half(title, axes.0, axes.1);
        let one_class = OneClassSvm { gamma: quince::margin::Gamma::Fixed(gamma), ..OneClassSvm::default() };
        let (model, _) = one_class.fit_examples(&Examples::new(rows.features(), &nothing, None)?, &Run::new())?;
        draw(&mut plot, &plane, &vec![0; plane.points.len()], &[0.0], &["region none", "region first"], &model)?;
        Ok(plot)
    };
    let caption = "Where 59 fruits are, by height and colour, with nu = 0.1. Outside of the coloured region the score is below \
                   zero: a fruit there is novel. A narrow kernel follows the rows closely; one that is too narrow learns them by \
                   heart.";
    let figure = Figure::pair(plot("gamma = 0.5", 0.5)?, plot("gamma = 4", 4.0)?, caption);
    Ok(figure.means(Shape::Circle, "mark first", "fruit").means(Shape::Circle, "mark held", "support vector"))
}

/// What a row costs, by how far it is on the right side.
pub(super) fn losses() -> Result<Figure> {
    let mut plot = Plot::new(Axis::linear("y · score", -2.0, 2.0), Axis::linear("cost of the row", -0.2, 9.0));
    let curves = [
        (Loss::Hinge, "hinge", "first", (-1.96, 3.3)),
        (Loss::SquaredHinge, "squared-hinge", "second", (-1.72, 7.7)),
        (Loss::Perceptron, "perceptron", "first dashed", (-1.96, 0.8)),
        (Loss::Log, "log", "third", (1.3, 0.5)),
        (Loss::ModifiedHuber, "modified-huber (dashed)", "second dashed", (-1.42, 6.2)),
    ];
    for (loss, name, class, place) in curves {
        let margins = (0..=80).map(|k| -2.0 + 0.05 * f64::from(k));
        plot.line(margins.map(|margin| (margin, loss.of(1.0, margin))), &format!("line {class}"));
        plot.words(place, (0.0, 0.0), "start", name, class.split(' ').next().unwrap_or(class));
    }
    let caption = "The five losses. To the left of 0 a row is on the wrong side; between 0 and 1 it is on the right side, but \
                   within the margin. From −1 on, modified-huber is the squared hinge.";
    Ok(Figure::of(plot, caption))
}
