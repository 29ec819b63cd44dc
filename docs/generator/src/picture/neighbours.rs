//! Pictures of nearest neighbours, on fruit.

use super::plane::{Plane, cells};
use super::plot::{Axis, Plot, Shape};
use super::{Figure, short};
use quince::encode::{Encoder, MissingValues};
use quince::learn::{Count, Examples, Fitted, Learner, TargetView};
use quince::neighbours::{Knn, Votes};
use quince::table::Labelled;
use quince::{Result, Run, Table};

pub(super) const FRUIT: &str = include_str!("../../../../examples/data/fruit.csv");

/// Colours of apple, lemon, mandarin and orange.
const COLOURS: [&str; 4] = ["third", "fourth", "first", "second"];

/// The fruit by name, with the measurements alone to tell it from.
fn fruit() -> Result<Labelled> {
    Table::from_csv(FRUIT)?.without(&["fruit_label", "fruit_subtype"]).labelled("fruit_name", None)
}

/// The columns of the pictures of regions.
const ACROSS: &str = "height";
const UP: &str = "color_score";

/// How many neighbours the smoother of the two pictures asks.
const MANY: usize = 7;

/// What one neighbour says, with the cell of every row, and what many say.
pub(super) fn regions() -> Result<Figure> {
    let labelled = fruit()?;
    let plane = Plane::of(&labelled.table, ACROSS, UP)?;
    let TargetView::Classes { classes, codes } = labelled.target.view() else {
        return Ok(Figure::of(empty("nothing"), ""));
    };
    let mut one = empty("k = 1");
    let window = one.corners().map(|corner| plane.standard(corner));
    let sites: Vec<[f64; 2]> = plane.points.iter().map(|&point| plane.standard(point)).collect();
    for (cell, &code) in cells(&sites, &window).into_iter().zip(codes) {
        let class = format!("region edged {}", COLOURS[code as usize]);
        one.area(cell.into_iter().map(|corner| plane.original(corner)), &class);
    }
    let mut many = empty(&format!("k = {MANY}"));
    let rows = plane.features(&plane.points);
    let knn = Knn { k: Count::Fixed(MANY), ..Knn::default() };
    let (model, _) = knn.fit_examples(&Examples::new(rows.features(), &labelled.target, None)?, &Run::new())?;
    let squares = plane.features(&many.squares());
    let said = model.predict(&squares.features(), &Run::new())?;
    many.areas(&said.labels(), &COLOURS.map(|colour| format!("region {colour}")).each_ref().map(String::as_str));
    for plot in [&mut one, &mut many] {
        for (&(x, y), &code) in plane.points.iter().zip(codes) {
            plot.mark(x, y, Shape::ALL[code as usize], &format!("mark {}", COLOURS[code as usize]));
        }
    }
    let caption = format!(
        "What would be predicted at each place, from the height and colour of 59 fruits. With one neighbour every fruit rules \
         the cell of all places that are nearest to it (thin lines), and a single odd one makes an island. With {MANY}, odd \
         ones are outvoted and borders become smoother. Apples are red above and green below: two islands of one class."
    );
    let figure = Figure::pair(one, many, caption);
    let named = classes.names().iter().enumerate();
    Ok(named
        .fold(figure, |figure, (code, name)| figure.means(Shape::ALL[code], &format!("mark {}", COLOURS[code]), name)))
}

fn empty(title: &str) -> Plot {
    Plot::half(title, Axis::linear("height (cm)", 3.5, 11.0), Axis::linear("colour score", 0.52, 0.96))
}

/// The leave-one-out loss for every number of neighbours, for both kinds of votes.
pub(super) fn losses() -> Result<Figure> {
    let labelled = fruit()?;
    let encoder = Encoder::learn(&labelled.table, &Run::new())?;
    let rows = encoder.encode(&labelled.table, MissingValues::Kept, &Run::new())?;
    let examples = Examples::new(rows.features(), &labelled.target, None)?;
    let curve = |votes: Votes| Knn { votes, ..Knn::default() }.losses_by_k(&examples, &Run::new());
    let curves =
        [("all votes alike", "first", curve(Votes::Uniform)?), ("by distance", "second", curve(Votes::Distance)?)];
    let most = curves[0].2.len();
    let highest = curves.iter().flat_map(|curve| curve.2.iter().copied()).fold(0.0, f64::max);
    let mut plot = Plot::new(
        Axis::linear("number of neighbours k", 0.0, most as f64 + 1.0),
        Axis::linear("leave-one-out log loss", 0.0, 1.06 * highest),
    );
    let mut least = Vec::new();
    for (name, class, losses) in &curves {
        let points = || losses.iter().enumerate().map(|(i, &loss)| ((i + 1) as f64, loss));
        plot.line(points(), &format!("line {class}"));
        let (k, loss) = points().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        plot.dot(k, loss, "dot");
        least.push((k, loss));
        let at = most as f64 * 0.7;
        let (dy, anchor) = if *class == "first" { (-10.0, "end") } else { (22.0, "start") };
        plot.words((at, losses[at as usize - 1]), (0.0, dy), anchor, name, class);
    }
    let caption = format!(
        "Which fruit, from mass, width, height and colour: the exact leave-one-out log loss of 1 to {most} neighbours, all \
         from one search. The least is {} at k = {}; with votes by distance it is {} at k = {}. One neighbour is too sure of \
         itself; too many reach into other fruit.",
        short(least[0].1),
        least[0].0,
        short(least[1].1),
        least[1].0,
    );
    Ok(Figure::of(plot, caption))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_are_what_one_neighbour_says() {
        let labelled = fruit().unwrap();
        let plane = Plane::of(&labelled.table, ACROSS, UP).unwrap();
        let TargetView::Classes { codes, .. } = labelled.target.view() else { panic!() };
        let sites: Vec<[f64; 2]> = plane.points.iter().map(|&point| plane.standard(point)).collect();
        let window = empty("").corners().map(|corner| plane.standard(corner));
        let rows = plane.features(&plane.points);
        let knn = Knn { k: Count::Fixed(1), ..Knn::default() };
        let (model, _) =
            knn.fit_examples(&Examples::new(rows.features(), &labelled.target, None).unwrap(), &Run::new()).unwrap();
        for (cell, &code) in cells(&sites, &window).iter().zip(codes).filter(|(cell, _)| !cell.is_empty()) {
            let middle = [0, 1].map(|j| cell.iter().map(|corner| corner[j]).sum::<f64>() / cell.len() as f64);
            let said = model.predict(&quince::Matrix::from_rows(&[middle]).features(), &Run::new()).unwrap();
            assert_eq!(said.labels(), [code]);
        }
    }
}
