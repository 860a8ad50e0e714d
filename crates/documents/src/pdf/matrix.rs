//! Matrices that map coordinates of drawing operators to positions on the page.

use super::layout::{Area, Point};
use super::object::Object;

/// The images of the horizontal unit vector, the vertical unit vector and the origin.
pub(super) type Matrix = [[f64; 2]; 3];
pub(super) const IDENTITY: Matrix = shift(0.0, 0.0);

pub(super) const fn shift(x: f64, y: f64) -> Matrix {
    [[1.0, 0.0], [0.0, 1.0], [x, y]]
}

/// The matrix that applies `first`, then `second`.
pub(super) fn multiply(first: Matrix, second: Matrix) -> Matrix {
    let [[across_x, across_y], [up_x, up_y], [origin_x, origin_y]] = second;
    let [across, up, [x, y]] =
        first.map(|[x, y]| [x * across_x + y * up_x, x * across_y + y * up_y]);
    [across, up, [x + origin_x, y + origin_y]]
}

/// The matrix of six numbers; the identity if there are not six.
pub(super) fn matrix_of(operands: &[Object]) -> Matrix {
    if operands.len() != 6 {
        return IDENTITY;
    }
    let mut values = operands.iter().map(Object::as_number);
    let mut pair = || [values.next().unwrap_or(0.0), values.next().unwrap_or(0.0)];
    [pair(), pair(), pair()]
}

/// The rectangle of four numbers, which are two opposite corners. `None` if it is empty.
pub(super) fn area_of(corners: &[Object]) -> Option<Area> {
    let [x, y, other_x, other_y] = corners else { return None };
    let [x, y, other_x, other_y] = [x, y, other_x, other_y].map(Object::as_number);
    let low = [x.min(other_x), y.min(other_y)];
    let high = [x.max(other_x), y.max(other_y)];
    (high[0] > low[0] && high[1] > low[1]).then_some(Area { low, high })
}

/// The point, mapped by a matrix.
pub(super) fn moved([x, y]: Point, by: Matrix) -> Point {
    let [_, _, origin] = multiply(shift(x, y), by);
    origin
}

/// The smallest upright rectangle around another one that was mapped by a matrix.
pub(super) fn moved_area(Area { low, high }: Area, by: Matrix) -> Area {
    let corners = [low, high, [low[0], high[1]], [high[0], low[1]]].map(|it| moved(it, by));
    let bound = |part: usize, choose: fn(f64, f64) -> f64| {
        let values = corners.iter().filter_map(|it| it.get(part).copied());
        values.reduce(choose).unwrap_or(0.0)
    };
    Area {
        low: [bound(0, f64::min), bound(1, f64::min)],
        high: [bound(0, f64::max), bound(1, f64::max)],
    }
}

/// The matrix that moves and scales one rectangle onto another.
pub(super) fn onto(from: Area, to: Area) -> Matrix {
    let factor = |part: usize| {
        let length =
            |area: &Area| area.high.get(part).unwrap_or(&0.0) - area.low.get(part).unwrap_or(&0.0);
        let (from, to) = (length(&from), length(&to));
        if from > 0.0 { to / from } else { 1.0 }
    };
    let (across, up) = (factor(0), factor(1));
    let origin = [to.low[0] - from.low[0] * across, to.low[1] - from.low[1] * up];
    [[across, 0.0], [0.0, up], origin]
}
