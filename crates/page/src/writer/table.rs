//! Tables are written as a grid if their cells are single lines or they have a head, and as blocks if they
//! are only used for layout.

use super::{
    PageStyle,
    lines::{Gap, LineWriter},
};

/// The maximum number of empty cells that are inserted to keep columns aligned.
const MAX_FILLED_CELLS: usize = 10_000;
/// The maximum number of columns in which `rowspan` is tracked.
const MAX_HELD_COLUMNS: usize = 1_000;
/// The longest multi-line cell that is written as one line.
const MAX_JOINED_BYTES: usize = 1_000;

/// The number of columns and rows that a cell spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellSpan {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// A table that is being read.
#[derive(Debug)]
pub(super) struct OpenTable {
    /// The text around the table.
    around: LineWriter,
    /// While a cell is read: the text of the table outside its cells, such as the caption.
    outside: Option<LineWriter>,
    rows: Vec<Vec<String>>,
    /// The size of the finished cells in bytes.
    cell_bytes: usize,
    /// The span of the cell that is being read.
    place: CellSpan,
    /// For each column, the number of following rows that a cell of an earlier row spans.
    held: Vec<usize>,
    /// The number of inserted empty cells.
    filled: usize,
    /// The number of cells in the source of the current row, and the maximum of any row.
    cells_in_row: usize,
    most_cells: usize,
    has_head: bool,
}

impl OpenTable {
    /// Begins a table. `lines` is empty afterwards and receives the table's text.
    pub(super) fn begin(lines: &mut LineWriter) -> Self {
        Self {
            around: std::mem::take(lines),
            outside: None,
            rows: Vec::new(),
            cell_bytes: 0,
            place: CellSpan { columns: 1, rows: 1 },
            held: Vec::new(),
            filled: 0,
            cells_in_row: 0,
            most_cells: 0,
            has_head: false,
        }
    }

    /// The size in bytes of the text around the table and of the finished parts of the table.
    pub(super) fn size(&self) -> usize {
        let outside = self.outside.as_ref().map_or(0, LineWriter::size);
        self.around.size() + outside + self.cell_bytes
    }

    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        // Fills the end of the previous row, which cells of earlier rows may span.
        while self.held.len() > self.rows.last().map_or(usize::MAX, Vec::len) {
            self.fill();
        }
        self.held.truncate(self.held.iter().rposition(|it| *it > 0).map_or(0, |it| it + 1));
        self.rows.push(Vec::new());
        self.cells_in_row = 0;
    }

    /// Begins a cell. `lines` receives its text.
    pub(super) fn begin_cell(&mut self, place: CellSpan, is_head: bool, lines: &mut LineWriter) {
        if self.outside.is_none() {
            self.outside = Some(std::mem::take(lines));
            self.place = place;
            self.has_head |= is_head;
        }
    }

    /// Ends a cell.
    pub(super) fn end_cell(&mut self, lines: &mut LineWriter) {
        let Some(outside) = self.outside.take() else { return };
        let cell = std::mem::replace(lines, outside).finish();
        self.cell_bytes += cell.len();
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        while self.held.get(self.column()).is_some_and(|it| *it > 0) {
            self.fill();
        }
        self.hold();
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
        for _ in 1..self.place.columns.min(MAX_HELD_COLUMNS) {
            if self.filled >= MAX_FILLED_CELLS {
                break;
            }
            self.filled += 1;
            self.hold();
            if let Some(row) = self.rows.last_mut() {
                row.push(String::new());
            }
        }
        self.cells_in_row += 1;
        self.most_cells = self.most_cells.max(self.cells_in_row);
    }

    /// The column of the next cell.
    fn column(&self) -> usize {
        self.rows.last().map_or(0, Vec::len)
    }

    /// Inserts an empty cell where a cell of an earlier row spans this row.
    fn fill(&mut self) {
        self.filled += 1;
        if self.filled > MAX_FILLED_CELLS {
            // Too many cells to keep the columns aligned.
            self.held.clear();
            return;
        }
        let column = self.column();
        if let Some(held) = self.held.get_mut(column) {
            *held = held.saturating_sub(1);
        }
        if let Some(row) = self.rows.last_mut() {
            row.push(String::new());
        }
    }

    /// Records that the cell in the next column spans rows below.
    fn hold(&mut self) {
        let column = self.column();
        let below = self.place.rows - 1;
        if below > 0 && column < MAX_HELD_COLUMNS && self.filled < MAX_FILLED_CELLS {
            if self.held.len() <= column {
                self.held.resize(column + 1, 0);
            }
            if let Some(held) = self.held.get_mut(column) {
                *held = below;
            }
        }
    }

    /// Ends the table: restores the surrounding text in `lines` and writes the table to it.
    pub(super) fn end(mut self, style: PageStyle, lines: &mut LineWriter) {
        self.end_cell(lines);
        let outside = std::mem::replace(lines, self.around).finish();
        if !outside.is_empty() {
            lines.gap(Gap::Paragraph);
            lines.put_lines(outside.split('\n'));
        }
        lines.gap(Gap::Paragraph);
        self.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let has_head = self.has_head;
        let is_in_line = |cell: &String| !cell.contains('\n') || (has_head && may_be_joined(cell));
        let is_grid = self.most_cells > 1 && self.rows.iter().flatten().all(is_in_line);
        if is_grid {
            let between = if style == PageStyle::Markdown { "<br>" } else { " " };
            for cell in self.rows.iter_mut().flatten().filter(|cell| cell.contains('\n')) {
                let lines = cell.lines().map(str::trim).filter(|line| !line.is_empty());
                *cell = lines.collect::<Vec<_>>().join(between);
            }
            write_grid(&self.rows, columns, style, lines);
        } else {
            for cell in self.rows.iter().flatten().filter(|cell| !cell.is_empty()) {
                let gap = if cell.contains('\n') { Gap::Paragraph } else { Gap::Line };
                lines.gap(gap);
                lines.put_lines(cell.split('\n'));
                lines.gap(gap);
            }
        }
        lines.gap(Gap::Paragraph);
    }
}

/// Whether the lines of a cell can be joined to one line. Lines of code and of tables cannot.
fn may_be_joined(cell: &str) -> bool {
    cell.len() <= MAX_JOINED_BYTES && !cell.contains("```") && !cell.contains("--- |")
}

fn write_grid(rows: &[Vec<String>], columns: usize, style: PageStyle, lines: &mut LineWriter) {
    let missing: usize = rows.iter().map(|row| columns - row.len()).sum();
    let width = |row: &[String]| if missing <= MAX_FILLED_CELLS { columns } else { row.len() };
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().map(String::as_str).chain(std::iter::repeat("")).take(width(row));
        lines.gap(Gap::Line);
        match style {
            PageStyle::Text => {
                let line = cells.collect::<Vec<_>>().join(" | ");
                lines.put(line.trim_end());
            }
            PageStyle::Markdown => {
                let cells: Vec<_> = cells.map(|it| it.replace('|', "\\|")).collect();
                lines.put(&format!("| {} |", cells.join(" | ")));
                if number == 0 {
                    lines.gap(Gap::Line);
                    lines.put(&format!("|{}", " --- |".repeat(width(row))));
                }
            }
        }
    }
}
