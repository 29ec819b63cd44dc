//! A small plot as SVG. Colours come from the style sheet, so that a picture is readable on light and on dark.

use crate::render::escape;
use quince::numbers::number_text;
use std::fmt::Write;

/// The size of a plot, and the room around what is drawn.
struct Frame {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// A plot that stands alone.
const WHOLE: Frame = Frame { width: 520.0, height: 340.0, left: 58.0, right: 18.0, top: 16.0, bottom: 52.0 };
/// A plot with another beside it.
const HALF: Frame = Frame { width: 360.0, height: 318.0, left: 54.0, right: 8.0, top: 32.0, bottom: 50.0 };
/// The side of the small squares that areas are made of.
const GRAIN: f64 = 0.5;

/// One direction of a plot.
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Equal steps are equal ratios.
    pub(super) logarithmic: bool,
}

impl Axis {
    pub(super) fn linear(label: &str, low: f64, high: f64) -> Axis {
        Axis { label: label.into(), low, high, logarithmic: false }
    }

    /// An axis that holds all these values, with a little room.
    pub(super) fn around(label: &str, values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let room = 0.06 * (high - low);
        Axis::linear(label, low - room, high + room)
    }

    pub(super) fn logarithmic(label: &str, low: f64, high: f64) -> Axis {
        Axis { logarithmic: true, ..Axis::linear(label, low, high) }
    }

    /// Where a value lies between the ends: from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// The middles of `count` equal steps from the low end to the high one.
    fn middles(&self, count: usize) -> Vec<f64> {
        let share = |step: usize| (step as f64 + 0.5) / count as f64;
        (0..count).map(|step| self.low + share(step) * (self.high - self.low)).collect()
    }

    /// Round numbers within the axis: powers of ten, or steps of 1, 2 or 5 that make about six.
    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
            return (first..=last).map(|power| 10f64.powi(power)).collect();
        }
        let rough = (self.high - self.low) / 6.0;
        let size = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|round| round * size).into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|k| (k as f64 * step * 1e9).round() / 1e9).collect()
    }
}

/// Axes and what is drawn between them.
pub(super) struct Plot {
    frame: Frame,
    title: String,
    x: Axis,
    y: Axis,
    /// What lies below the grid, and what lies on it.
    areas: String,
    marks: String,
}

impl Plot {
    pub(super) fn new(x: Axis, y: Axis) -> Plot {
        Plot { frame: WHOLE, title: String::new(), x, y, areas: String::new(), marks: String::new() }
    }

    /// One of two plots side by side.
    pub(super) fn half(title: &str, x: Axis, y: Axis) -> Plot {
        Plot { frame: HALF, title: title.into(), ..Plot::new(x, y) }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let Frame { width, height, left, right, top, bottom } = self.frame;
        let across = left + self.x.share(x) * (width - left - right);
        let down = height - bottom - self.y.share(y) * (height - top - bottom);
        (across, down)
    }

    /// The corners of what can be drawn on, one after another.
    pub(super) fn corners(&self) -> [(f64, f64); 4] {
        let (x, y) = (&self.x, &self.y);
        [(x.low, y.low), (x.high, y.low), (x.high, y.high), (x.low, y.high)]
    }

    /// The middles of the small squares that cover the plot, row after row from the top.
    pub(super) fn squares(&self) -> Vec<(f64, f64)> {
        let (columns, rows) = self.grain();
        let (across, down) = (self.x.middles(columns), self.y.middles(rows));
        down.iter().rev().flat_map(|&y| across.iter().map(move |&x| (x, y))).collect()
    }

    fn grain(&self) -> (usize, usize) {
        let Frame { width, height, left, right, top, bottom } = self.frame;
        (((width - left - right) / GRAIN) as usize, ((height - top - bottom) / GRAIN) as usize)
    }

    /// Colours the small squares: each has the number of a class.
    pub(super) fn areas(&mut self, numbers: &[u32], classes: &[&str]) {
        let (columns, _) = self.grain();
        for (number, class) in classes.iter().enumerate() {
            let mut path = String::new();
            for (row, line) in numbers.chunks(columns).enumerate() {
                let mut column = 0;
                while column < columns {
                    let same = line[column..].iter().take_while(|&&n| n == line[column]).count();
                    if line[column] == number as u32 {
                        let (x, y) = (self.frame.left + GRAIN * column as f64, self.frame.top + GRAIN * row as f64);
                        let _ = write!(path, "M{x} {y}h{}v{GRAIN}h-{0}z", GRAIN * same as f64);
                    }
                    column += same;
                }
            }
            let _ = writeln!(self.areas, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// Colours the small squares by the band in which their score is, with a thin line where two of them meet: bands of two
    /// levels are below the first, between them, and above the second.
    pub(super) fn bands(&mut self, scores: &[f64], levels: &[f64], classes: &[&str]) {
        let (columns, _) = self.grain();
        let band = |score: &f64| levels.iter().filter(|level| *score > **level).count() as u32;
        let bands: Vec<u32> = scores.iter().map(band).collect();
        let number = |i: usize| {
            let right = if i % columns + 2 < columns { i + 2 } else { i };
            let others = [right, i + 2 * columns].into_iter().filter_map(|other| bands.get(other));
            if others.into_iter().all(|other| *other == bands[i]) { bands[i] } else { classes.len() as u32 }
        };
        let numbers: Vec<u32> = (0..bands.len()).map(number).collect();
        self.areas(&numbers, &[classes, &["ink"]].concat());
    }

    /// A polygon below everything else.
    pub(super) fn area(&mut self, corners: impl IntoIterator<Item = (f64, f64)>, class: &str) {
        let places = self.places(corners);
        let _ = writeln!(self.areas, "<polygon class=\"{class}\" points=\"{places}\"/>");
    }

    fn places(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let places = points.into_iter().map(|(x, y)| self.place(x, y)).map(|(x, y)| format!("{x:.1},{y:.1}"));
        places.collect::<Vec<_>>().join(" ")
    }

    /// A line through points; `class` chooses its colour and dash.
    pub(super) fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, class: &str) {
        let places = self.places(points);
        let _ = writeln!(self.marks, "<polyline class=\"{class}\" points=\"{places}\"/>");
    }

    pub(super) fn dot(&mut self, x: f64, y: f64, class: &str) {
        let (x, y) = self.place(x, y);
        let _ = writeln!(self.marks, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>");
    }

    /// A small mark for one of many rows.
    pub(super) fn mark(&mut self, x: f64, y: f64, shape: Shape, class: &str) {
        let (x, y) = self.place(x, y);
        let _ = writeln!(self.marks, "{}", shape.svg(x, y, class));
    }

    /// Words at a point, moved by some of the picture's own units; `anchor` is start, middle or end.
    pub(super) fn words(&mut self, (x, y): (f64, f64), (dx, dy): (f64, f64), anchor: &str, words: &str, class: &str) {
        let (x, y) = self.place(x, y);
        let _ = writeln!(
            self.marks,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x + dx,
            y + dy,
            escape(words)
        );
    }

    /// The picture; `words` are read aloud to those who cannot see it.
    pub(super) fn svg(&self, words: &str) -> String {
        let Frame { width, height, .. } = self.frame;
        let words = if self.title.is_empty() { words.to_string() } else { format!("{}. {words}", self.title) };
        let mut svg =
            format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n", escape(&words));
        let (left, right) = (self.frame.left, width - self.frame.right);
        let (top, bottom) = (self.frame.top, height - self.frame.bottom);
        svg.push_str(&self.areas);
        // Over areas, lines of the grid would look like borders: there only their ends are drawn.
        let (grid_top, grid_right) = if self.areas.is_empty() { (top, right) } else { (bottom + 4.0, left - 4.0) };
        for tick in self.x.ticks() {
            let x = self.place(tick, self.y.low).0;
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{grid_top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
                 <text class=\"tick\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                tick_text(tick)
            );
        }
        for tick in self.y.ticks() {
            let y = self.place(self.x.low, tick).1;
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{left}\" y1=\"{y:.1}\" x2=\"{grid_right}\" y2=\"{y:.1}\"/>\
                 <text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 7.0,
                y + 4.5,
                tick_text(tick)
            );
        }
        let (middle_x, middle_y) = (0.5 * (left + right), 0.5 * (top + bottom));
        let _ = writeln!(
            svg,
            "<text class=\"axis\" x=\"{middle_x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"axis\" transform=\"translate(14 {middle_y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            height - 10.0,
            escape(&self.x.label),
            escape(&self.y.label)
        );
        if !self.title.is_empty() {
            let _ = writeln!(
                svg,
                "<text class=\"title\" x=\"{middle_x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                top - 13.0,
                escape(&self.title)
            );
        }
        svg + &self.marks + "</svg>"
    }
}

/// The shapes of marks, so that colour is never all that tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
}

impl Shape {
    pub(super) const ALL: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

    /// The shape about a point.
    pub(super) fn svg(self, x: f64, y: f64, class: &str) -> String {
        let corners: &[(f64, f64)] = match self {
            Shape::Circle => return format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.2\"/>"),
            Shape::Square => &[(-3.7, -3.7), (3.7, -3.7), (3.7, 3.7), (-3.7, 3.7)],
            Shape::Triangle => &[(0.0, -5.2), (4.9, 3.6), (-4.9, 3.6)],
            Shape::Diamond => &[(0.0, -5.6), (5.0, 0.0), (0.0, 5.6), (-5.0, 0.0)],
        };
        let corners: Vec<String> = corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
        format!("<polygon class=\"{class}\" points=\"{}\"/>", corners.join(" "))
    }
}

fn tick_text(tick: f64) -> String {
    number_text(tick).replace('-', "\u{2212}")
}
