//! Where drawing comes to lie on the page.

use super::object::Object;

/// Where the horizontal unit, the vertical unit and the origin come to lie.
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

/// The identity where there are not the six numbers of a matrix.
pub(super) fn matrix_of(operands: &[Object]) -> Matrix {
    if operands.len() != 6 {
        return IDENTITY;
    }
    let mut values = operands.iter().map(Object::as_number);
    let mut pair = || [values.next().unwrap_or(0.0), values.next().unwrap_or(0.0)];
    [pair(), pair(), pair()]
}
