//! A small plot as SVG. Colours come from the style sheet, so that a picture is readable on light and on dark.

use crate::render::escape;
use quince::numbers::number_text;
use std::fmt::Write;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 52.0;

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
    x: Axis,
    y: Axis,
    marks: String,
}

impl Plot {
    pub(super) fn new(x: Axis, y: Axis) -> Plot {
        Plot { x, y, marks: String::new() }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let across = LEFT + self.x.share(x) * (WIDTH - LEFT - RIGHT);
        let down = HEIGHT - BOTTOM - self.y.share(y) * (HEIGHT - TOP - BOTTOM);
        (across, down)
    }

    /// A line through points; `class` chooses its colour and dash.
    pub(super) fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, class: &str) {
        let places: Vec<String> =
            points.into_iter().map(|(x, y)| self.place(x, y)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.marks, "<polyline class=\"{class}\" points=\"{}\"/>", places.join(" "));
    }

    pub(super) fn dot(&mut self, x: f64, y: f64, class: &str) {
        let (x, y) = self.place(x, y);
        let _ = writeln!(self.marks, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>");
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

    /// The picture; `title` is read aloud to those who cannot see it.
    pub(super) fn svg(&self, title: &str) -> String {
        let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n", escape(title));
        let (left, right, top, bottom) = (LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM);
        for tick in self.x.ticks() {
            let x = self.place(tick, self.y.low).0;
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
                 <text class=\"tick\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                tick_text(tick)
            );
        }
        for tick in self.y.ticks() {
            let y = self.place(self.x.low, tick).1;
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>\
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
            HEIGHT - 10.0,
            escape(&self.x.label),
            escape(&self.y.label)
        );
        svg + &self.marks + "</svg>"
    }
}

fn tick_text(tick: f64) -> String {
    number_text(tick).replace('-', "\u{2212}")
}
